//go:build linux && (amd64 || arm64)

package emulator

import (
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/driver/drivertest"
)

// TestLibraries runs the suites that NVIDIA's own libraries have to pass on the emulator's stand-ins.
func TestLibraries(t *testing.T) {
	d := opened(t)
	t.Run("cuBLAS", func(t *testing.T) { drivertest.RunBLAS(t, d, Beside(suiteLibrary, "libcublas.so.13")) })
	t.Run("cuBLASLt", func(t *testing.T) { drivertest.RunBLASLt(t, d, Beside(suiteLibrary, "libcublasLt.so.13")) })
	t.Run("cuDNN", func(t *testing.T) { drivertest.RunDNN(t, d, Beside(suiteLibrary, "libcudnn.so.9")) })
	t.Run("cuDNN's descriptors", func(t *testing.T) { drivertest.RunDNNDescriptors(t, Beside(suiteLibrary, "libcudnn.so.9"), true) })
	t.Run("NVRTC", func(t *testing.T) { drivertest.RunNVRTC(t, d, Beside(suiteLibrary, "libnvrtc.so.13")) })
}

// TestLibrariesUnderCapture: handles of libraries that are needed first while this thread captures: they allocate, which breaks a
// capture that is not relaxed for them.
func TestLibrariesUnderCapture(t *testing.T) {
	d := opened(t)
	b := newBench(t, d, "")
	p := upload(b, make([]float32, 16))
	for name, open := range map[string]func() error{
		"cuBLAS": func() error { _, err := driver.NewBLAS(d, Beside(suiteLibrary, "libcublas.so.13")); return err },
		"cuBLASLt": func() error {
			_, err := driver.NewBLASLt(d, Beside(suiteLibrary, "libcublasLt.so.13"), 0, 0)
			return err
		},
		"cuDNN": func() error { _, err := driver.NewDNN(d, Beside(suiteLibrary, "libcudnn.so.9")); return err },
	} {
		b.check(d.BeginCapture(b.stream))
		b.check(d.Memset32(p, 1, 16, b.stream))
		if err := open(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		g, err := d.EndCapture(b.stream)
		if err != nil {
			t.Errorf("the capture around %s: %v", name, err)
			continue
		}
		b.check(d.DestroyGraph(g))
	}
}
