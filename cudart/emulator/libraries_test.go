//go:build linux && (amd64 || arm64)

package emulator

import (
	"testing"

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
