package amp

import (
	"slices"
	"testing"
)

// residual is a block of a residual network, and what its backward pass gives: gradients of x, weight and bias, and how many additions it ran.
func residual(dt DType, norm string, width int, opts ...BackwardOption) (grads [3][]float64, additions int) {
	s := NewScope(Seed(4), Record(Decisions))
	defer s.Close()
	leaf := func(seed int, shape ...int) *Tensor {
		v := make([]float64, length(shape))
		for i := range v {
			v[i] = float64((i*7+seed)%23)/8 - 1.3
		}
		return To(s, fromFloat64s(Float64, v, shape), dt).RequireGrad()
	}
	x, w, bias := leaf(1, 3, 5, width), leaf(2, width), leaf(3, width)
	h := MulScalar(s, x, 1.5) // what a block is given is no leaf
	y := LayerNorm(s, h, w, bias, 1e-5)
	if norm == "rms_norm" {
		y = RMSNorm(s, h, w, 1e-5)
	}
	Sum(s, Mul(s, Add(s, h, Tanh(s, y)), h)).Backward(opts...)
	for i, t := range []*Tensor{x, w, bias} {
		if t.grad != nil {
			grads[i] = t.grad.Float64s()
		}
	}
	for _, e := range s.Trace().Events {
		if e.Op == "add" && e.Phase == PhaseBackward {
			additions++
		}
	}
	return grads, additions
}

// TestGradientsOfResidualBlocks: what a norm's input has as gradient from elsewhere is added by the norm's row, with the bits that an
// addition gives, which a graph of the backward pass makes.
func TestGradientsOfResidualBlocks(t *testing.T) {
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		for _, norm := range []string{"layer_norm", "rms_norm"} {
			for _, width := range []int{7, 64} {
				want, apart := residual(dt, norm, width, CreateGraph())
				got, added := residual(dt, norm, width)
				for i := range want {
					if !slices.Equal(want[i], got[i]) {
						t.Errorf("%v %s of %d: gradient %d is %v, want %v", dt, norm, width, i, got[i], want[i])
					}
				}
				if fewer := apart - added; fewer != map[bool]int{true: 0, false: 1}[dt.IsHalf()] {
					t.Errorf("%v %s: %d additions, %d with a graph", dt, norm, added, apart)
				}
			}
		}
	}
}
