//go:build linux && (amd64 || arm64)

package emulator

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestLaunchLimits: a launch that is not possible is refused before the driver sees it, with the kernel, the number, the most there is and one
// thing to do.
func TestLaunchLimits(t *testing.T) {
	useEmulator(t)
	root := amp.NewScope(amp.On("cuda:0"))
	defer root.Close()
	p, err := cudart.Compile(`extern "C" __global__ void fill(float *x, float by, int n) { if (threadIdx.x < n) x[threadIdx.x] = by; }
extern "C" __global__ void __launch_bounds__(64) narrow(float *x) { x[threadIdx.x] = 1; }
extern "C" __global__ void both(float *x) { __shared__ float a[10000]; extern __shared__ float b[]; a[threadIdx.x] = 1; b[threadIdx.x] = 2; x[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }`)
	if err != nil {
		t.Fatal(err)
	}
	x := amp.Zeros(root, amp.Float32, 64)
	kernel := func(name string) *cudart.Kernel {
		k, err := p.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	fill, narrow := kernel("fill"), kernel("narrow")
	one := cudart.Dim{X: 1}
	for _, c := range []struct {
		config cudart.Config
		want   []string
	}{
		{cudart.Config{Grid: one, Block: cudart.Dim{X: 2048}}, []string{"Block.X is 2048", "1024 is the most", "take smaller blocks"}},
		{cudart.Config{Grid: one, Block: cudart.Dim{Z: 65}}, []string{"Block.Z is 65", "64 is the most"}},
		{cudart.Config{Grid: one, Block: cudart.Dim{X: 32, Y: 33}}, []string{"32×33×1 has 1056 threads", "1024 are the most"}},
		{cudart.Config{Grid: cudart.Dim{X: 1, Y: 70000}, Block: one}, []string{"Grid.Y is 70000", "65535 is the most", "Grid.X"}},
		{cudart.Config{Grid: cudart.Dim{X: math.MaxInt32 + 1}, Block: one}, []string{"Grid.X is 2147483648"}},
		{cudart.Config{Grid: cudart.Dim{X: -1}, Block: one}, []string{"Grid.X is -1"}},
		{cudart.Config{Grid: one, Block: cudart.Dim{Y: -5}}, []string{"Block.Y is -5"}},
		{cudart.Config{Grid: one, Block: one, Shared: 1 << 20}, []string{"1048576 bytes are Shared", "a block has "}},
		{cudart.Config{Grid: one, Block: one, Shared: -1}, []string{"-1 bytes are Shared"}},
	} {
		refused(t, fill.Launch(c.config, x, 1, 64), append(c.want, "kernel fill: ")...)
	}
	refused(t, narrow.Launch(cudart.Config{Block: cudart.Dim{X: 65}}, x), "kernel narrow", "65 threads", "64 are the most")
	// What needs permission is counted with the kernel's own shared memory, 40,000 bytes here.
	for _, shared := range []int{4 << 10, 20 << 10, 60 << 10} {
		if err := kernel("both").Launch(cudart.Config{Block: cudart.Dim{X: 32}, Shared: shared}, x); err != nil || amp.Values[float32](x)[31] != 3 {
			t.Errorf("%d bytes beside the kernel's own: %v", shared, err)
		}
	}
	freed := amp.Zeros(root, amp.Float32, 64)
	freed.Free()
	refused(t, fill.Launch(cudart.For(1), freed, 1, 64), "kernel fill: argument 1", "used after Close")
	refused(t, fill.Launch(cudart.For(1), (*amp.Tensor)(nil), 1, 64), "kernel fill: argument 1", "the tensor is nil")
	if err := errors.Join(fill.Launch(cudart.Config{Block: cudart.Dim{X: 64}}, x, 3, 64), narrow.Launch(cudart.Config{Block: cudart.Dim{X: 8}}, x)); err != nil {
		t.Fatal(err)
	}
	if got := amp.Sum(root, x).Item(); got != 56*3+8 {
		t.Errorf("after what is possible the sum is %v", got)
	}
}

func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("nothing was refused; want %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v; want %q", err, w)
		}
	}
}
