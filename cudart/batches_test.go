package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestManyBatches: more matrices than a launch takes, here seven for 65,535, in one dimension and in several, with operands that are
// broadcast, are multiplied on the device, as on the CPU.
func TestManyBatches(t *testing.T) {
	device := gpu(t)
	defer cudart.FewBatches(7)()
	type product func(s *amp.Scope) *amp.Tensor
	fill := func(s *amp.Scope, shape ...int) *amp.Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return placed(s, amp.Float32, numbers(n), shape...)
	}
	for name, f := range map[string]product{
		"bmm": func(s *amp.Scope) *amp.Tensor { return amp.BMM(s, fill(s, 23, 3, 2), fill(s, 23, 2, 5)) },
		"two dimensions": func(s *amp.Scope) *amp.Tensor {
			return amp.MatMul(s, fill(s, 3, 17, 3, 2), fill(s, 17, 2, 5))
		},
		"one row of batches": func(s *amp.Scope) *amp.Tensor {
			return amp.MatMul(s, fill(s, 1, 11, 3, 2), fill(s, 2, 1, 2, 5))
		},
		"three dimensions": func(s *amp.Scope) *amp.Tensor {
			return amp.MatMul(s, fill(s, 5, 1, 3, 3, 2), amp.Transpose(s, fill(s, 5, 2, 3, 5, 2), -1, -2))
		},
		"baddbmm": func(s *amp.Scope) *amp.Tensor {
			return amp.Baddbmm(s, fill(s, 8, 1, 5), fill(s, 8, 3, 2), fill(s, 8, 2, 5), 0.5, 2)
		},
		"a matrix for all": func(s *amp.Scope) *amp.Tensor {
			return amp.Baddbmm(s, fill(s, 1, 3, 1), fill(s, 9, 3, 2), fill(s, 9, 2, 5), 0.5, 2)
		},
	} {
		run := func(on string) []float64 {
			s := amp.NewScope(amp.On(on)).NoGrad()
			defer s.Close()
			return f(s).Float64s()
		}
		before := cudart.Fallbacks()
		want, got := run("cpu"), run(device)
		if i := farApart(want, got, 1e-6, 1e-6); i >= 0 || len(want) != len(got) {
			t.Errorf("%s: number %d of %d is %v, on the CPU %v", name, i, len(got), got[max(i, 0)], want[max(i, 0)])
		}
		for op, n := range cudart.Fallbacks() {
			if n != before[op] {
				t.Errorf("%s: %s ran on the host", name, op)
			}
		}
	}
}
