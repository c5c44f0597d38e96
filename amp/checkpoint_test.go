package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// checkpointed trains three layers, each a part of its own, with noise drawn on the way, and returns the loss, all gradients and the
// peak of memory.
func checkpointed(t *testing.T, dt DType, remember bool, opts ...BackwardOption) (loss float64, grads [][]float64, peak int64) {
	t.Helper()
	root := NewScope(Seed(3))
	defer root.Close()
	const n = 64
	x := Randn(root, Float32, 0, 1, 32, n).RequireGrad()
	var weights []*Tensor
	for range 3 {
		weights = append(weights, Randn(root, Float32, 0, 0.1, n, n).RequireGrad())
	}
	layer := func(w *Tensor) func(s *Scope, in ...*Tensor) *Tensor {
		return func(s *Scope, in ...*Tensor) *Tensor {
			h := in[0]
			for range 4 { // the same weight several times, so that its casts are shared
				noise := Randn(s, Float32, 1, 0.1, n)
				h = Mul(s, GELU(s, Linear(s, h, w, nil)), noise)
			}
			return h
		}
	}
	ResetPeakMemory()
	before := MemStats()[home()].Bytes
	step := root.Child()
	s := step
	if dt != NoDType {
		s = step.Autocast(dt)
	}
	h := x
	for _, w := range weights {
		if f := layer(w); remember {
			h = f(s, h)
		} else {
			h = Checkpoint(s, f, h)
		}
	}
	y := Mean(step, Mul(step, h, h))
	y.Backward(opts...)
	peak = MemStats()[home()].Peak - before
	for _, p := range append(weights, x) {
		grads = append(grads, p.Grad().Float64s())
	}
	loss = y.Item()
	step.Close()
	return loss, grads, peak
}

// TestCheckpointIsExact: spec, autograd interplay. The second run has the autocast state and the random numbers of the first, so
// losses and gradients are the same bits, and what it saves is memory.
func TestCheckpointIsExact(t *testing.T) {
	for _, dt := range []DType{NoDType, Float16, BFloat16} {
		for _, opts := range [][]BackwardOption{nil, {RetainGraph()}, {CreateGraph()}} {
			loss, grads, plain := checkpointed(t, dt, true, opts...)
			again, same, less := checkpointed(t, dt, false, opts...)
			if loss != again {
				t.Errorf("%v: loss %v, plain %v", dt, again, loss)
			}
			for i := range grads {
				if !slices.Equal(grads[i], same[i]) {
					t.Errorf("%v: gradient %d differs", dt, i)
				}
			}
			if opts == nil && float64(less) > 0.7*float64(plain) {
				t.Errorf("%v: %d bytes at the peak, %d without checkpoints", dt, less, plain)
			}
		}
	}
}

// TestCheckpointNests: a part within a part, Grad with respect to an inner tensor, the second order, and a second Backward.
func TestCheckpointNests(t *testing.T) {
	run := func(wrap func(s *Scope, f func(*Scope, ...*Tensor) *Tensor, in ...*Tensor) *Tensor) [][]float64 {
		s := NewScope()
		defer s.Close()
		x, w := From([]float64{0.5, -1, 2}).RequireGrad(), From([]float64{1.5, 0.5, -1}).RequireGrad()
		inner := func(s *Scope, in ...*Tensor) *Tensor { return Tanh(s, Mul(s, in[0], w)) }
		outer := func(s *Scope, in ...*Tensor) *Tensor { return Mul(s, wrap(s, inner, in[0]), in[0]) }
		y := Sum(s, wrap(s, outer, x))
		g := Grad(s, []*Tensor{y}, []*Tensor{x, w}, CreateGraph())
		gg := Grad(s, []*Tensor{Sum(s, Mul(s, g[0], g[1]))}, []*Tensor{x, w}, RetainGraph())
		y.Backward(RetainGraph())
		y.Backward()
		return [][]float64{g[0].Float64s(), g[1].Float64s(), gg[0].Float64s(), gg[1].Float64s(), x.Grad().Float64s(), w.Grad().Float64s()}
	}
	plain := run(func(s *Scope, f func(*Scope, ...*Tensor) *Tensor, in ...*Tensor) *Tensor { return f(s, in...) })
	nested := run(Checkpoint)
	for i := range plain {
		for k, want := range plain[i] {
			// The second order adds up its parts in another order: the nodes of the second run are younger.
			tolerance := 0.0
			if i == 2 || i == 3 {
				tolerance = 1e-14 // and tanh's slope cancels
			}
			if got := nested[i][k]; !(math.Abs(got-want) <= tolerance) {
				t.Errorf("%d: %v, plain %v", i, nested[i], plain[i])
			}
		}
	}
}

func TestCheckpointMisuse(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, 2}).RequireGrad()
	calls := 0
	y := Checkpoint(s, func(s *Scope, in ...*Tensor) *Tensor {
		if calls++; calls == 1 {
			return MulScalar(s, in[0], 2)
		}
		return Sum(s, in[0])
	}, x)
	if err := Maybe(func() { Sum(s, y).Backward() }); !errors.Is(err, ErrGrad) {
		t.Error(err)
	}
	same := Checkpoint(s, func(_ *Scope, in ...*Tensor) *Tensor { return in[0] }, x)
	Sum(s, same).Backward()
	if !slices.Equal(x.Grad().Float64s(), []float64{1, 1}) {
		t.Error(x.Grad().Float64s())
	}
	if v := Checkpoint(s.NoGrad(), func(s *Scope, in ...*Tensor) *Tensor { return Neg(s, in[0]) }, x); v.RequiresGrad() {
		t.Error("a graph under NoGrad")
	}
}

// TestCheckpointOfChangedInputs: a part that would be run again with other inputs is refused.
func TestCheckpointOfChangedInputs(t *testing.T) {
	s := NewScope(On("cpu"))
	defer s.Close()
	x, h := From([]float32{1, 2, 3}).To(s).RequireGrad(), From([]float32{1, 2, 3}).To(s)
	for name, change := range map[string]func(){
		"":     func() {},
		"h":    func() { AddInPlace(s, h, x) },
		"x":    func() { CopyInPlace(s.NoGrad(), x, h) },
		"of h": func() { AddInPlace(s, Narrow(s, h, 0, 0, 1), Narrow(s, x, 0, 1, 1)) },
	} {
		y := Checkpoint(s, func(s *Scope, in ...*Tensor) *Tensor { return Sum(s, Mul(s, in[0], Mul(s, in[1], in[2]))) }, x, h, h)
		change()
		func() {
			defer func() {
				if e, _ := recover().(error); errors.Is(e, ErrStale) != (name != "") {
					t.Errorf("changed %q: %v", name, e)
				}
			}()
			y.Backward()
		}()
	}
}
