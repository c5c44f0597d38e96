package amp

import (
	"slices"
	"testing"
)

// TestCreateGraphGradientsAreApart: a gradient made with CreateGraph is a tensor of its own, as PyTorch's AccumulateGrad clones it: neither
// another leaf's, nor the one that was given, nor a view that repeats elements.
func TestCreateGraphGradientsAreApart(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b := From([]float32{1, 2}).RequireGrad(), From([]float32{3, 4}).RequireGrad()
	dy := From([]float32{5, 6})
	Add(s, a, b).Backward(CreateGraph(), GradOutputs(dy))
	Sum(s, a).Backward()
	// torch 2.15: (a + b).backward(dy, create_graph=True); a.sum().backward(); a.grad, b.grad, dy
	for name, c := range map[string]struct {
		got  *Tensor
		want []float64
	}{"a": {a.Grad(), []float64{6, 7}}, "b": {b.Grad(), []float64{5, 6}}, "dy": {dy, []float64{5, 6}}} {
		if got := c.got.Float64s(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}

	// A sum's gradient is a number that is repeated: x.sum().backward(create_graph=True); x.sum().backward()
	x := From([]float32{1, 2, 3, 4}, 2, 2).RequireGrad()
	Sum(s, x).Backward(CreateGraph())
	Sum(s, x).Backward()
	if got := x.Grad().Float64s(); !slices.Equal(got, []float64{2, 2, 2, 2}) {
		t.Errorf("gradient of two sums: %v", got)
	}

	// The graph of a gradient outlives its accumulation: (x**3).sum().backward(create_graph=True), then x.grad.sum() is differentiated.
	x.ZeroGrad()
	Sum(s, PowScalar(s, x, 3)).Backward(CreateGraph())
	second := Grad(s, []*Tensor{Sum(s, x.Grad())}, []*Tensor{x})[0]
	if got := second.Float64s(); !slices.Equal(got, []float64{6, 12, 18, 24}) {
		t.Errorf("second derivative of x³: %v", got)
	}
}

// TestGradOfOneInputTwice: an input that is asked about twice gets its gradient twice, as in PyTorch.
func TestGradOfOneInputTwice(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{3}).RequireGrad()
	y := Mul(s, x, x)
	// torch 2.15: torch.autograd.grad(y * y, [x, y, x]) with x = 3: 4x³ = 108, 2y = 18
	got := Grad(s, []*Tensor{Mul(s, y, y)}, []*Tensor{x, y, x})
	for i, want := range []float64{108, 18, 108} {
		if got[i].Item() != want {
			t.Errorf("gradient %d: %v, want %v", i, got[i].Item(), want)
		}
	}
}

// TestGradGoesWhereItWasAsked: Grad leaves alone what does not lead to its inputs, as PyTorch's engine does: torch.autograd.grad(y, h), then
// h.backward() and h's part may have been used up or changed before.
func TestGradGoesWhereItWasAsked(t *testing.T) {
	s := NewScope()
	defer s.Close()
	w := From([]float32{2}).RequireGrad()
	calls := 0
	h := Exp(s, w)
	w.RegisterHook(func(g *Tensor) *Tensor { calls++; return nil })
	h.RegisterHook(func(g *Tensor) *Tensor { return MulScalar(s.NoGrad(), g, 10) })
	y := MulScalar(s, h, 3)
	// torch 2.15: with w = 2, h.register_hook(lambda g: g * 10): torch.autograd.grad(h * 3, h) is 30
	if got := Grad(s, []*Tensor{y}, []*Tensor{h})[0].Item(); got != 30 {
		t.Errorf("gradient at h: %v, want 30", got)
	}
	if calls != 0 {
		t.Errorf("%d hooks called of what lies above the tensor that was asked about", calls)
	}
	h.Backward() // was not used up
	if calls != 1 || w.Grad() == nil {
		t.Errorf("backward of the rest: %d hooks called, gradient %v", calls, w.Grad())
	}
	AddInPlace(s.NoGrad(), h, h) // exp's result, which its gradient needs
	if got := Grad(s, []*Tensor{Sum(s, h)}, []*Tensor{h})[0].Item(); got != 10 {
		t.Errorf("gradient past a changed tensor: %v, want 10", got)
	}

	// What is beside the way is not worked out: of a product's two gradients, one.
	r := NewScope(Record(Decisions))
	defer r.Close()
	a, b := Ones(r, Float32, 2, 3).RequireGrad(), Ones(r, Float32, 3, 2).RequireGrad()
	Grad(r, []*Tensor{Sum(r, MatMul(r, a, b))}, []*Tensor{a})
	products := 0
	for _, e := range r.Trace().Events {
		if e.Op == "matmul" {
			products++
		}
	}
	if products != 2 {
		t.Errorf("%d products, want those of the forward and of one gradient", products)
	}
}
