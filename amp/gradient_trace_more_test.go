package amp

import (
	"slices"
	"testing"
)

// traced makes one step of a small model with all that a trace walks through, and returns the gradients of its parameters.
func traced(t *testing.T, opts ...BackwardOption) [][]float64 {
	t.Helper()
	s := NewScope(On("cpu"), Seed(7), Record(Decisions))
	defer s.Close()
	leaf := func(name string, shape ...int) *Tensor {
		return Randn(s, Float32, 0, 0.3, shape...).RequireGrad().SetName(name)
	}
	w, b, v, g := leaf("w", 12, 10), leaf("b", 12), leaf("v", 5, 12), leaf("g", 12)
	square := Register(Custom{Name: "square_traced", Args: []string{"x"}, Class: Inherit,
		Forward:  func(c *Context, in []*Tensor) *Tensor { c.Save(in[0]); return Mul(c.S, in[0], in[0]) },
		Backward: func(c *Context, dy *Tensor) []*Tensor { return []*Tensor{MulScalar(c.S, Mul(c.S, c.Saved(0), dy), 2)} }})
	t.Cleanup(func() { forget("square_traced") })
	half := s.Autocast(Float16)
	h := Checkpoint(half, func(s *Scope, in ...*Tensor) *Tensor {
		return GELU(s, Add(s, MatMul(s, in[0], Transpose(s, w, 0, 1)), b))
	}, Randn(s, Float32, 0, 1, 9, 10))
	h = LayerNorm(half, Add(half, Dropout(half, h, 0.25), square(half, h)), g, nil, 1e-5)
	y := MatMul(half, h, Transpose(half, v, 0, 1))
	loss := Mean(s, Mul(s, y, y))
	NewGradScaler(InitScale(64)).Scale(s, loss).Backward(opts...)
	var out [][]float64
	for _, p := range []*Tensor{w, b, v, g} {
		out = append(out, p.Grad().Float64s())
	}
	return append(out, []float64{Rand(s, Float64, 0, 1, 1).Item()})
}

// TestGradientTraceLeavesGradientsAlone: checkpoints, dropout, an op of the program's own, sums of several uses, casts and norms are all
// compared, at the right loss scale, and neither the gradients nor the scope's random numbers know of it.
func TestGradientTraceLeavesGradientsAlone(t *testing.T) {
	var tr GradientTrace
	want, got := traced(t), traced(t, TraceGradients(&tr))
	if !slices.EqualFunc(want, got, slices.Equal[[]float64]) {
		t.Error("the gradients are others with a trace than without")
	}
	if tr.Scale != 64 || len(tr.Leaves) != 4 {
		t.Errorf("scale %v, %d leaves", tr.Scale, len(tr.Leaves))
	}
	ops := map[string]bool{}
	for i, e := range tr.Events {
		ops[e.Op] = true
		if e.Err != "" || e.From >= i || e.Here() > 0 || e.Wanted == 0 {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	for _, op := range []string{"matmul", "gelu", "add", "dropout", "layer_norm", "square_traced", "cast", "mul", "mean", "transpose"} {
		if !ops[op] {
			t.Errorf("no event of %s: %v", op, ops)
		}
	}
	for _, l := range tr.Leaves {
		// A dozen roundings of float16, each of relative error 2^-11 at most, in sums that cancel by a factor of ten at most.
		if l.Zeros+l.Bad > 0 || !(l.Error > 0 && l.Error < 12*10*0x1p-11) {
			t.Errorf("%+v", l)
		}
	}
}

// TestGradientTraceSums: gradients of two uses of a tensor that each fit may overflow in their sum.
func TestGradientTraceSums(t *testing.T) {
	s := NewScope(On("cpu"))
	defer s.Close()
	x := FromFloat64s(Float16, []float64{1, 1, 1}, 3).To(s).RequireGrad().SetName("x")
	c := FromFloat64s(Float16, []float64{40000, 30000, 1}, 3).To(s)
	loss := Sum(s, Add(s, Mul(s, x, c), Mul(s, x, c)))
	var tr GradientTrace
	loss.Backward(TraceGradients(&tr))
	last := tr.Events[len(tr.Events)-1]
	if last.Op != "sum of gradients" || last.Of != "x" || last.Infs != 1 || last.Here() != 1 {
		t.Errorf("%+v", last)
	}
	if l := tr.Leaves[0]; l.Bad != 1 || l.Zeros != 0 || tr.Events[l.From].Op != "sum of gradients" {
		t.Errorf("%+v", l)
	}
}

// TestGradientTraceKnowsRounding: the gradient of what a batch norm takes out again is zero, and in float64 what is left of the rounding of
// its statistics: no loss, though all terms are flushed before.
func TestGradientTraceKnowsRounding(t *testing.T) {
	s := NewScope(On("cpu"), Seed(3))
	defer s.Close()
	x, bias := To(s, Randn(s, Float32, 0, 1, 33, 4), Float16), FromFloat64s(Float16, []float64{0, 0, 0, 0}, 4).To(s).RequireGrad().SetName("bias")
	y := BatchNorm(s, Add(s, x, bias), nil, nil, BatchNormState{Eps: 1e-5})
	weights := To(s, Randn(s, Float32, 0, 1, 33, 4), Float16)
	loss := MulScalar(s, Sum(s, Mul(s, To(s, y, Float32), To(s, weights, Float32))), 0x1p-40)
	var tr GradientTrace
	loss.Backward(TraceGradients(&tr))
	flushed, rounding := 0, false
	for _, e := range tr.Events {
		flushed += e.Zeros
		rounding = rounding || e.Op == "add" && e.Of == "bias"
		if e.Of == "bias" && e.Wanted > 0 {
			t.Errorf("the bias wants gradients: %+v", e)
		}
	}
	if flushed != 33*4 || !rounding {
		t.Errorf("%d flushed: %+v", flushed, tr.Events)
	}
	if l := tr.Leaves[0]; l.Wanted != 0 || l.Zeros != 0 {
		t.Errorf("%+v", l)
	}
}

// TestGradientTraceOfGrad: Grad has a trace too, of the inputs that it was asked for; what cannot be compared says why.
func TestGradientTraceOfGrad(t *testing.T) {
	s := NewScope(On("cpu"))
	defer s.Close()
	odd := Register(Custom{Name: "odd_traced", Args: []string{"x"}, Class: Inherit,
		Forward: func(c *Context, in []*Tensor) *Tensor { return MulScalar(c.S, in[0], 3) },
		Backward: func(c *Context, dy *Tensor) []*Tensor {
			if dy.DType() != Float16 {
				fail("odd_traced", ErrDType, "", "only float16")
			}
			return []*Tensor{MulScalar(c.S, dy, 3)}
		}})
	t.Cleanup(func() { forget("odd_traced") })
	x := FromFloat64s(Float16, []float64{1, 2}, 2).To(s).RequireGrad().SetName("x")
	var tr GradientTrace
	g := Grad(s, []*Tensor{Sum(s, odd(s, x))}, []*Tensor{x}, TraceGradients(&tr))
	if got := g[0].Float64s(); got[0] != 3 || got[1] != 3 {
		t.Error(got)
	}
	if len(tr.Leaves) != 1 || tr.Leaves[0].Wanted != 2 || len(tr.Events) != 2 || tr.Events[1].Err == "" {
		t.Errorf("%+v", tr)
	}
}
