//go:build linux && (amd64 || arm64)

package emulator

import (
	"errors"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestCapturedKernelsKeepTheirTensors: a replay refuses a kernel of one's own whose tensors were freed, those that it only reads, too.
func TestCapturedKernelsKeepTheirTensors(t *testing.T) {
	useEmulator(t)
	k := compiled(t, `extern "C" __global__ void add(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += x[i]; }`, "add")
	for _, freed := range []int{0, 1} {
		root := amp.NewScope(amp.On("cuda:0"))
		x, y := amp.Ones(root, amp.Float32, 500), amp.Zeros(root, amp.Float32, 500)
		g := root.Capture(func(s *amp.Scope) {
			if err := k.Launch(cudart.For(500), x, y, 500); err != nil {
				t.Fatal(err)
			}
		})
		g.Replay()
		if y.Float64s()[499] != 2 {
			t.Errorf("after the first run and a replay: %v", y)
		}
		[]*amp.Tensor{x, y}[freed].Free()
		other := amp.Full(root, amp.Float32, 5, 500)
		if err := amp.Maybe(g.Replay); !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "was freed") || other.Float64s()[0] != 5 {
			t.Errorf("argument %d freed: %v, %v", freed+1, err, other)
		}
		g.Close()
		root.Close()
	}
}

// TestOpOfOnesOwnKernels is what Launch's documentation says of gradients: an op of two kernels, step by step and captured.
func TestOpOfOnesOwnKernels(t *testing.T) {
	useEmulator(t)
	const source = `extern "C" __global__ void cube(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i] * x[i]; }
extern "C" __global__ void cube_grad(const float *x, const float *dy, float *dx, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) dx[i] = 3 * x[i] * x[i] * dy[i]; }`
	forward, backward := compiled(t, source, "cube"), compiled(t, source, "cube_grad")
	launch := func(k *cudart.Kernel, s *amp.Scope, n int, args ...*amp.Tensor) *amp.Tensor {
		out := amp.Zeros(s, amp.Float32, args[0].Shape()...)
		var all []any
		for _, a := range append(args, out) {
			all = append(all, amp.Contiguous(s, a))
		}
		if err := k.Launch(cudart.For(n), append(all, n)...); err != nil {
			t.Fatal(err)
		}
		return out
	}
	cube := amp.Register(amp.Custom{Name: "cube_of_kernels", Args: []string{"x"}, Class: amp.FP32,
		Forward: func(c *amp.Context, in []*amp.Tensor) *amp.Tensor {
			c.Save(in[0])
			return launch(forward, c.S, in[0].Len(), in[0])
		},
		Backward: func(c *amp.Context, dy *amp.Tensor) []*amp.Tensor {
			return []*amp.Tensor{launch(backward, c.S, dy.Len(), c.Saved(0), dy)}
		}})
	root := amp.NewScope(amp.On("cuda:0"), amp.Seed(1))
	defer root.Close()
	w := amp.Rand(root, amp.Float32, 0, 1, 4, 3).RequireGrad()
	ones := amp.Ones(root, amp.Float32, 3, 2)
	step := func(f func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor) func(s *amp.Scope) {
		return func(s *amp.Scope) {
			w.ZeroGrad()
			half := s.Autocast(amp.Float16)
			amp.Sum(half, f(half, amp.Transpose(half, amp.MatMul(half, w, ones), 0, 1))).Backward()
		}
	}
	step(func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor { return amp.PowScalar(s, in[0], 3) })(root)
	want := w.Grad().Float64s()
	step(cube)(root)
	check := func(how string) {
		for i, v := range w.Grad().Float64s() {
			if d := v - want[i]; d > 0.01*want[i] || d < -0.01*want[i] {
				t.Errorf("%s: element %d is %v, pow's %v", how, i, v, want[i])
			}
		}
	}
	check("a step")
	g := root.Capture(step(cube))
	defer g.Close()
	g.Replay()
	check("replayed")
}
