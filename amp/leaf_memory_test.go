package amp

import (
	"errors"
	"testing"
)

// TestGradientGoesWithItsLeaf: the gradient of data that a step owns goes with it; that of a parameter stays until the parameter goes.
func TestGradientGoesWithItsLeaf(t *testing.T) {
	root := NewScope(Seed(1))
	defer root.Close()
	weight := Randn(root, Float32, 0, 1, 64).RequireGrad()
	now := func() int64 { return MemStats()[home()].Bytes }
	before := now()
	leaves := map[string]func(s *Scope) *Tensor{
		"drawn":    func(s *Scope) *Tensor { return Randn(s, Float32, 0, 1, 64).RequireGrad() },
		"own":      func(s *Scope) *Tensor { return s.Own(From(make([]float32, 64)).To(s)).RequireGrad() },
		"detached": func(s *Scope) *Tensor { return Detach(s, Neg(s, weight)).RequireGrad() },
		"freed":    func(s *Scope) *Tensor { return Zeros(root, Float32, 64).RequireGrad() },
	}
	for name, leaf := range leaves {
		var last, gradient *Tensor
		for s := range root.Steps(4) {
			x := leaf(s)
			Sum(s, Square(s, x)).Backward()
			Sum(s, Mul(s, x, x)).Backward() // adds to it
			if x.Grad() == nil {
				t.Fatalf("%s: no gradient", name)
			}
			if name == "freed" {
				x.Free()
			}
			last, gradient = x, x.Grad()
		}
		if name == "own" && home() != "cpu" {
			continue // From leaves its tensor of the host to nobody
		}
		if got := now(); got != before {
			t.Errorf("%s: %d bytes after four steps, %d before", name, got, before)
		}
		if err := Maybe(func() { gradient.Float64s() }); !errors.Is(err, ErrClosed) || last.Grad() != gradient {
			t.Errorf("%s: the gradient of a leaf that is gone: %v", name, err)
		}
	}
	for s := range root.Steps(2) {
		Sum(s, Square(s, weight)).Backward()
	}
	if got := now(); got != before+256 || weight.Grad().Len() != 64 {
		t.Errorf("%d bytes with a parameter's gradient, %d without", got, before)
	}
	weight.Free()
	if got := now(); got != before-256 {
		t.Errorf("%d bytes when the parameter is gone, want %d", got, before-256)
	}
}

// TestLeafFreedBeforeBackward: a leaf whose elements no gradient needs may go early; later passes still find it.
func TestLeafFreedBeforeBackward(t *testing.T) {
	root := NewScope()
	defer root.Close()
	for s := range root.Steps(1) {
		x := Ones(s, Float32, 4).RequireGrad()
		y := Sum(s, MulScalar(s, x, 3))
		y.Backward(RetainGraph())
		x.Free()
		y.Backward()
		if g := x.Grad().Float64s(); g[0] != 3 {
			t.Error(g)
		}
	}
}
