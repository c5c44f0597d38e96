package amp

import (
	"slices"
	"testing"
)

// TestNothingGetsGradients: an operand without elements gets a gradient without elements, as in torch, in its own dtype; also one of shape [0]
// that is joined with tensors of more dimensions.
func TestNothingGetsGradients(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, dt := range []DType{Float32, Float16} {
		leaf := func(shape ...int) *Tensor { return s.Own(Ones(s, dt, shape...)).RequireGrad() }
		for name, c := range map[string]struct {
			in []*Tensor
			f  func(in ...*Tensor) *Tensor
		}{
			"cat":          {[]*Tensor{leaf(0, 3), leaf(2, 3)}, func(in ...*Tensor) *Tensor { return Cat(s, 0, in...) }},
			"cat, last":    {[]*Tensor{leaf(2, 3), leaf(0, 3)}, func(in ...*Tensor) *Tensor { return Cat(s, 0, in...) }},
			"cat, inner":   {[]*Tensor{leaf(2, 0), leaf(2, 3), leaf(2, 0)}, func(in ...*Tensor) *Tensor { return Cat(s, 1, in...) }},
			"cat, lists":   {[]*Tensor{leaf(0), leaf(2)}, func(in ...*Tensor) *Tensor { return Cat(s, 0, in...) }},
			"cat, of [0]":  {[]*Tensor{leaf(0), leaf(2, 3), leaf(0)}, func(in ...*Tensor) *Tensor { return Cat(s, 1, in...) }},
			"cat, nothing": {[]*Tensor{leaf(0, 3), leaf(0, 3)}, func(in ...*Tensor) *Tensor { return Cat(s, 0, in...) }},
			"stack":        {[]*Tensor{leaf(0, 3), leaf(0, 3)}, func(in ...*Tensor) *Tensor { return Stack(s, 0, in...) }},
			"add":          {[]*Tensor{leaf(0, 3), leaf(3)}, func(in ...*Tensor) *Tensor { return Add(s, in[0], in[1]) }},
			"matmul":       {[]*Tensor{leaf(0, 3), leaf(3, 2)}, func(in ...*Tensor) *Tensor { return MatMul(s, in[0], in[1]) }},
			"einsum":       {[]*Tensor{leaf(2, 0), leaf(0, 3)}, func(in ...*Tensor) *Tensor { return Einsum(s, "ij,jk->ik", in...) }},
			"meshgrid":     {[]*Tensor{leaf(0), leaf(3)}, func(in ...*Tensor) *Tensor { return Meshgrid(s, "ij", in...)[0] }},
			"narrow":       {[]*Tensor{leaf(2, 3)}, func(in ...*Tensor) *Tensor { return Narrow(s, in[0], 1, 1, 0) }},
		} {
			Sum(s, c.f(c.in...)).Backward()
			for i, x := range c.in {
				if name == "meshgrid" && i > 0 {
					continue
				}
				if g := x.Grad(); g == nil || g.dt != dt || !slices.Equal(g.shape, x.shape) {
					t.Errorf("%s, %v: operand %d of shape %v has the gradient %v", name, dt, i, x.shape, g)
				}
			}
		}
	}
}
