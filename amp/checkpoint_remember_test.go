package amp

import (
	"errors"
	"slices"
	"testing"
)

// A turning layer multiplies by a state that each of its runs doubles.
type turning struct{ state *Tensor }

func (l *turning) run(s *Scope, in ...*Tensor) *Tensor {
	by := s.Remember(l, func(s *Scope) []*Tensor {
		now := Clone(s, l.state)
		CopyInPlace(s, l.state, MulScalar(s, l.state, 2))
		return []*Tensor{now}
	})
	return Mul(s, in[0], by[0])
}

// TestRemember: a part that runs again computes with the state of its first run, call by call, in parts within parts and twice; without
// Checkpoint nothing is remembered.
func TestRemember(t *testing.T) {
	plainly := func(s *Scope, f func(*Scope, ...*Tensor) *Tensor, in ...*Tensor) *Tensor { return f(s, in...) }
	run := func(outer, inner func(s *Scope, f func(*Scope, ...*Tensor) *Tensor, in ...*Tensor) *Tensor) []float64 {
		s := NewScope()
		defer s.Close()
		a, b := &turning{From([]float64{1})}, &turning{From([]float64{10})}
		x := From([]float64{3}).RequireGrad()
		part := func(s *Scope, in ...*Tensor) *Tensor {
			return Add(s, inner(s, a.run, b.run(s, in...)), Square(s, a.run(s, in...)))
		}
		y := Add(s, outer(s, part, x), outer(s, part, x))
		y.Backward(RetainGraph())
		y.Backward()
		return []float64{y.Item(), x.Grad().Item(), a.state.Item(), b.state.Item()}
	}
	want := run(plainly, plainly)
	if want[2] != 16 || want[3] != 40 {
		t.Fatalf("a and b have run so often that they are at %v", want)
	}
	for name, got := range map[string][]float64{"outer": run(Checkpoint, plainly), "inner": run(plainly, Checkpoint), "both": run(Checkpoint, Checkpoint)} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, plain %v", name, got, want)
		}
	}
	s := NewScope()
	defer s.Close()
	l, calls := &turning{From([]float64{1})}, 0
	y := Checkpoint(s, func(s *Scope, in ...*Tensor) *Tensor {
		if calls++; calls == 1 {
			return MulScalar(s, in[0], 2)
		}
		return l.run(s, in...)
	}, From([]float64{1}).RequireGrad())
	if err := Maybe(func() { y.Backward() }); !errors.Is(err, ErrGrad) {
		t.Errorf("a second run that asks more often: %v", err)
	}
}
