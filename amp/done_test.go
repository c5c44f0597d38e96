package amp

import (
	"errors"
	"slices"
	"testing"
)

// inUse returns the bytes of tensors on the device that scopes are on if they name none.
func inUse() int64 { return MemStats()[home()].Bytes }

// TestDone: what no backward reads goes at once, the rest stays, and gradients are what they would have been.
func TestDone(t *testing.T) {
	gradient := func(done bool) []float32 {
		s := NewScope(Seed(1))
		defer s.Close()
		x := Randn(s, Float32, 0, 1, 64, 64).RequireGrad()
		defer x.Free()
		a := AddScalar(s, x, 1) // nobody reads it again
		b := Exp(s, a)          // its own backward reads it
		c := ReLU(s, b)
		y := Sum(s, c)
		if done {
			before := inUse()
			a.Done()
			if got := before - inUse(); got != 64*64*4 {
				t.Errorf("Done of a result nobody reads gave back %d bytes", got)
			}
			before = inUse()
			b.Done()
			b.Done()
			if inUse() != before {
				t.Error("Done gave back what backward reads")
			}
			if err := Maybe(func() { Neg(s, a) }); !errors.Is(err, ErrClosed) {
				t.Errorf("reading it later: %v", err)
			}
		}
		y.Backward()
		defer x.Grad().Free()
		return slices.Clone(Values[float32](x.Grad()))
	}
	if a, b := gradient(false), gradient(true); !slices.Equal(a, b) {
		t.Error("Done changed a gradient")
	}
}

// TestSharedCasts: several products of one activation keep one half copy of it, with the gradients of casts of their own; a change in
// place, another dtype and a scope without a graph cast anew.
func TestSharedCasts(t *testing.T) {
	run := func(shared bool) (grad []float32, held int64) {
		s := NewScope(Seed(2))
		defer s.Close()
		x := Randn(s, Float32, 0, 1, 128, 64).RequireGrad()
		defer x.Free()
		w := Randn(s, Float32, 0, 1, 64, 64)
		h, auto := Exp(s, x), s.Autocast(BFloat16)
		before := inUse()
		var y [3]*Tensor
		for i := range y {
			if !shared {
				h.copied = nil
			}
			y[i] = MatMul(auto, h, w)
		}
		held = inUse() - before
		Sum(s, Add(s, Add(s, y[0], y[1]), y[2])).Backward()
		defer x.Grad().Free()
		return slices.Clone(Values[float32](x.Grad())), held
	}
	one, held := run(true)
	three, heldApart := run(false)
	if copies := int64(128 * 64 * 2); heldApart-held != 2*copies {
		t.Errorf("three products hold %d bytes with one copy of what they share, %d with copies of their own: want a difference of two copies, %d bytes each", held, heldApart, copies)
	}
	if !slices.Equal(one, three) {
		t.Error("sharing a copy changed a gradient")
	}

	s := NewScope(Seed(3))
	defer s.Close()
	w := Randn(s, Float32, 0, 1, 4, 4).RequireGrad()
	defer w.Free()
	x := s.Own(From([]float32{1, 2, 3, 4}, 1, 4))
	auto := s.Autocast(BFloat16)
	MatMul(auto, x, w)
	AddInPlace(s, x, x)
	want := MatMul(s.NoGrad().Autocast(BFloat16), s.Own(From([]float32{2, 4, 6, 8}, 1, 4)), w)
	if got := MatMul(auto, x, w); !slices.Equal(got.Float64s(), want.Float64s()) {
		t.Errorf("after a change in place: %v, want %v", got.Float64s(), want.Float64s())
	}
	if got := MatMul(s.Autocast(Float16), x, w); got.DType() != Float16 {
		t.Errorf("in a float16 scope: %v", got.DType())
	}
}
