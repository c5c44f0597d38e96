package cudart_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestManyDimensions: the kernels take eight dimensions. Tensors of more are computed on the host, with the CPU's results, gradients and
// changes in place, and are counted; a captured step, which cannot leave the device, says so.
func TestManyDimensions(t *testing.T) {
	device := gpu(t)
	shape := []int{2, 1, 3, 2, 1, 2, 1, 2, 2}
	for name, f := range map[string]func(s *amp.Scope, x, y *amp.Tensor) *amp.Tensor{
		"exp":       func(s *amp.Scope, x, _ *amp.Tensor) *amp.Tensor { return amp.Exp(s, x) },
		"broadcast": func(s *amp.Scope, x, y *amp.Tensor) *amp.Tensor { return amp.Mul(s, x, y) },
		"permute": func(s *amp.Scope, x, _ *amp.Tensor) *amp.Tensor {
			return amp.Contiguous(s, amp.Permute(s, x, 8, 7, 6, 5, 4, 3, 2, 1, 0))
		},
		"sum":     func(s *amp.Scope, x, _ *amp.Tensor) *amp.Tensor { return amp.Sum(s, amp.Mul(s, x, x), 0, 3, 8) },
		"softmax": func(s *amp.Scope, x, _ *amp.Tensor) *amp.Tensor { return amp.Softmax(s, x, 2) },
		"matmul":  func(s *amp.Scope, x, y *amp.Tensor) *amp.Tensor { return amp.MatMul(s, x, amp.Transpose(s, x, -1, -2)) },
		"in place": func(s *amp.Scope, x, y *amp.Tensor) *amp.Tensor {
			z := amp.Exp(s, x)
			amp.AddInPlace(s.NoGrad(), z, y)
			return amp.Mul(s, x, amp.Detach(s, z))
		},
	} {
		run := func(on string) []float64 {
			s := amp.NewScope(amp.On(on))
			defer s.Close()
			x := placed(s, amp.Float32, numbers(96), shape...).RequireGrad()
			y := placed(s, amp.Float32, numbers(4), 2, 2)
			z := f(s, x, y)
			amp.Sum(s, amp.Mul(s, z, z)).Backward()
			return slices.Concat(z.Float64s(), x.Grad().Float64s())
		}
		want, got := run("cpu"), run(device)
		if i := farApart(want, got, 1e-6, 1e-5); i >= 0 {
			t.Errorf("%s: number %d is %v, on the CPU %v", name, i, got[i], want[i])
		}
	}
	s := amp.NewScope(amp.On(device)).NoGrad()
	defer s.Close()
	x := placed(s, amp.Float32, numbers(96), shape...)
	before := cudart.Fallbacks()["exp"]
	amp.Exp(s, x)
	if n := cudart.Fallbacks()["exp"] - before; n != 1 {
		t.Errorf("counted %d times", n)
	}
	err := amp.Maybe(func() { s.Capture(func(s *amp.Scope) { amp.Exp(s, x) }) })
	if !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "exp has no kernel") {
		t.Errorf("in a captured step: %v", err)
	}
}
