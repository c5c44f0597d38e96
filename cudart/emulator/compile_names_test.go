//go:build linux && (amd64 || arm64)

package emulator

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// TestCompiledKernelsAreTheirImages: kernels are found by the names that the linker knows, and their launches are limited by what the source
// says.
func TestCompiledKernelsAreTheirImages(t *testing.T) {
	d := opened(t)
	b := newBench(t, d, "")
	n, err := driver.OpenNVRTC(filepath.Join(filepath.Dir(suiteLibrary), "libnvrtc.so.13"))
	b.check(err)
	code, err := n.Compile(driver.Source{Text: "extern \"C\" __global__ void __launch_bounds__(2 * 32, 1) plain(int *x) { __shared__ int s[1000]; s[threadIdx.x] = 1; x[threadIdx.x] = s[threadIdx.x]; }\n", Arch: 80}, nil)
	b.check(err)
	m, _, err := d.LoadModule(code.Image, driver.JIT{})
	b.check(err)
	f, err := d.Function(m, "plain")
	b.check(err)
	threads, err := d.FunctionAttribute(f, driver.FuncMaxThreads)
	b.check(err)
	shared, err := d.FunctionAttribute(f, driver.FuncSharedBytes)
	b.check(err)
	if threads != 64 || shared != 4000 {
		t.Errorf("%d threads and %d bytes, want 64 and 4000", threads, shared)
	}
	a := driver.GetArgs("").Ptr(upload(b, iota32(100)))
	if err := d.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 0, b.stream, a); err != nil {
		t.Error(err)
	}
	if err := d.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{65, 1, 1}, 0, b.stream, a); err == nil {
		t.Error("65 threads of 64 were launched")
	}
	code, err = n.Compile(driver.Source{Text: "__global__ void mangled(int *x) { x[0] = 1; }\n", Arch: 80}, nil)
	b.check(err)
	m, _, err = d.LoadModule(code.Image, driver.JIT{})
	b.check(err)
	if _, err := d.Function(m, "mangled"); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("a kernel of C++ was found by the name in the source: %v", err)
	}
	f, err = d.Function(m, "_Z7mangledPi")
	b.check(err)
	b.check(d.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, b.stream, a), d.SyncStream(b.stream))
}
