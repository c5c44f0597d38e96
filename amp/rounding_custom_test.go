package amp

import (
	"cmp"
	"encoding/json"
	"math"
	"testing"
)

// passedBack is a Backward that gives the gradient of x·k, for ops that use one operand.
func passedBack(k float64) func(c *Context, dy *Tensor) []*Tensor {
	return func(c *Context, dy *Tensor) []*Tensor { return []*Tensor{MulScalar(c.S, dy, k)} }
}

// TestRoundingOfOwnCode: code of the program's own runs again for a trace. Whatever it does, it changes neither loss nor gradient, breaks
// nothing, and where it can be compared, the shares add up.
func TestRoundingOfOwnCode(t *testing.T) {
	around := NewScope() // a scope that Forward should not use
	defer around.Close()
	state := Full(around, Float32, 0)
	for name, c := range map[string]struct {
		own      Custom
		cut      bool    // it does not run in float64
		noShares bool    // nor does its gradient
		around   bool    // it uses a scope around it, which is no use to the reference unless it is the CPU's
		part     float64 // of the loss that it is for; 0 stands for 1
	}{
		"draws": {own: Custom{Forward: func(c *Context, in []*Tensor) *Tensor {
			n := To(c.S, Randn(c.S, Float32, 0, 1, in[0].Shape()...), in[0].DType())
			c.Save(n)
			return Mul(c.S, in[0], n)
		}, Backward: func(c *Context, dy *Tensor) []*Tensor { return []*Tensor{Mul(c.S, dy, c.Saved(0))} }}},
		"panics": {own: Custom{Forward: func(c *Context, in []*Tensor) *Tensor {
			if in[0].DType() == Float64 {
				panic("no float64")
			}
			return MulScalar(c.S, in[0], 2)
		}, Backward: passedBack(2)}, cut: true},
		"panics backward": {own: Custom{Forward: func(c *Context, in []*Tensor) *Tensor { return MulScalar(c.S, in[0], 2) },
			Backward: func(c *Context, dy *Tensor) []*Tensor {
				if dy.DType() == Float64 {
					panic("no float64")
				}
				return []*Tensor{MulScalar(c.S, dy, 2)}
			}}, noShares: true},
		"returns its operand": {own: Custom{Forward: func(c *Context, in []*Tensor) *Tensor { return in[0] }, Backward: passedBack(-1)}, part: 1e-3},
		"another shape": {own: Custom{Forward: func(c *Context, in []*Tensor) *Tensor {
			return Narrow(c.S, in[0], 1, 0, min(in[0].DType().Size(), 4))
		}, Backward: func(c *Context, dy *Tensor) []*Tensor {
			return []*Tensor{Cat(c.S, 1, dy, Zeros(c.S, dy.DType(), 16, 28+2*(4/dy.DType().Size()-1)))}
		}}, cut: true},
		"uses a scope around it": {own: Custom{Forward: func(c *Context, in []*Tensor) *Tensor {
			return Mul(c.S, in[0], AddScalar(around.NoGrad(), MulScalar(around.NoGrad(), Detach(c.S, in[0]), 0), 2))
		}, Backward: passedBack(2)}, around: true},
		"moves a state": {own: Custom{Forward: func(c *Context, in []*Tensor) *Tensor {
			AddInPlace(c.S, state, Full(c.S, Float32, 1))
			return MulScalar(c.S, in[0], 2)
		}, Backward: passedBack(2)}, cut: true},
		"moves a state once": {own: Custom{Forward: func(c *Context, in []*Tensor) *Tensor {
			if !c.S.Recomputing() {
				AddInPlace(c.S, state, Full(c.S, Float32, 1))
			}
			return MulScalar(c.S, in[0], 2)
		}, Backward: passedBack(2)}},
	} {
		t.Run(name, func(t *testing.T) {
			c.own.Name, c.own.Class = "rounding_own", Inherit
			op := register(t, c.own)
			run := func(opts ...Option) (loss float64, grad []float64, r []*RoundingTrace) {
				s := NewScope(append(opts, Seed(4))...)
				defer s.Close()
				around = s
				CopyInPlace(s, state, Full(s, Float32, 0))
				x, w := roundingInputs(s)
				half := s.Autocast(Float16)
				y := Tanh(half, Linear(half, x, w, nil))
				l := Add(s, MulScalar(s, Mean(half, Square(half, op(half, y))), cmp.Or(c.part, 1)), Mean(half, Softplus(half, y)))
				l.Backward()
				return l.Item(), append(w.Grad().Float64s(), state.Item()), s.RoundingTraces()
			}
			loss, grad, _ := run()
			got, gotGrad, rs := run(RecordRounding(0), RecordGradients(0))
			if got != loss || !equal64(gotGrad, grad) || len(rs) != 1 {
				t.Fatalf("loss %v, %v without a trace; gradients and state %v, %v; %d traces", got, loss, gotGrad, grad, len(rs))
			}
			r, failed := rs[0], 0
			for _, e := range r.Events {
				if e.Err != "" {
					failed++
				}
			}
			cut := c.cut || c.around && around.Device() != "cpu"
			if cut != (failed == 1) || c.noShares != (r.Err != "") {
				t.Errorf("%d ops with an error, trace %q", failed, r.Err)
			}
			if off := r.Loss - r.Exact; !c.noShares && !(math.Abs(off-r.First) <= 0.05*r.Spread) {
				t.Errorf("off by %g, %g to first order, spread %g", off, r.First, r.Spread)
			}
		})
	}
}

// TestRoundingOfStatistics: those that batch norm is made of are float64 in the reference, so that a program has one Exact in whatever
// dtype it runs, and their rounding is batch norm's.
func TestRoundingOfStatistics(t *testing.T) {
	exact := map[DType]float64{}
	for _, dt := range []DType{Float32, Float16} {
		s := NewScope(Seed(4))
		x, w := roundingInputs(s)
		_, r := TraceRounding(s, func(s *Scope) *Tensor {
			s = s.Autocast(dt)
			for range 3 {
				x = GELU(s, BatchNorm(s, Linear(s, x, w, nil), nil, nil, BatchNormState{Eps: 1e-5}))
			}
			return Mean(s, Square(s, x))
		})
		exact[dt] = r.Exact
		if off := r.Loss - r.Exact; dt == Float32 && !(math.Abs(off-r.First) <= 1e-3*r.Spread) {
			t.Errorf("off by %g, %g to first order, spread %g", off, r.First, r.Spread)
		}
		s.Close()
	}
	if math.Abs(exact[Float32]-exact[Float16]) > 1e-12 {
		t.Errorf("exact %v", exact)
	}
}

// TestRoundingBeyondNumbers: sums that overflow float64 are plain numbers, which JSON can hold.
func TestRoundingBeyondNumbers(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float64{1, 2})
	_, r := TraceRounding(s, func(s *Scope) *Tensor {
		return Sum(s, Softmax(s, Add(s, x, Full(s, Float64, -1e300, 2)), 0), 0)
	})
	if _, err := json.Marshal(r); err != nil || len(r.Events) != 3 {
		t.Errorf("%v: %+v", err, r)
	}
}
