package amp

import (
	"errors"
	"math"
	"testing"
)

// TestRecordRounding: each loss of a step that is looked at has a trace, without the scale of a scaler, and other steps have none.
func TestRecordRounding(t *testing.T) {
	for _, c := range []struct {
		every int
		want  int // step of the traces that are left after five steps
	}{{0, 0}, {2, 4}, {3, 3}} {
		root := NewScope(Seed(4), RecordRounding(c.every))
		x, w := roundingInputs(root)
		scaler := NewGradScaler()
		var losses []float64
		for s := range root.Steps(5) {
			half := s.Autocast(Float16)
			for k := range 2 {
				loss := Mean(half, Square(half, Linear(half, MulScalar(half, x, float64(k+1)), w, nil)))
				if s.Step() == c.want {
					losses = append(losses, loss.Item())
				}
				scaler.Scale(s, loss).Backward()
			}
			Mean(s, x) // no loss
			w.ZeroGrad()
		}
		traces := root.RoundingTraces()
		if len(traces) != 2 {
			t.Fatalf("every %d: %d traces", c.every, len(traces))
		}
		for k, r := range traces {
			if r.Step != c.want || r.Loss != losses[k] || !(math.Abs(r.Loss-r.Exact-r.First) <= 0.1*r.Spread) || len(r.Events) != 6 {
				t.Errorf("every %d: step %d, loss %g of %g, exact %g, first %g, %d events", c.every, r.Step, r.Loss, losses[k], r.Exact, r.First, len(r.Events))
			}
		}
		root.Close()
	}
}

// TestRecordRoundingOutsideSteps: the first Backward ends the trace, a loop of steps does so without one.
func TestRecordRoundingOutsideSteps(t *testing.T) {
	s := NewScope(Seed(4), RecordRounding(0))
	defer s.Close()
	x, w := roundingInputs(s)
	for range 2 {
		half := s.Autocast(Float16)
		Mean(half, Square(half, Linear(half, x, w, nil))).Backward()
	}
	if r := s.RoundingTraces(); len(r) != 1 || r[0].Step != -1 || len(r[0].Events) != 5 || r[0].First == 0 {
		t.Errorf("%+v", r)
	}
	u := NewScope(RecordRounding(0))
	defer u.Close()
	Square(u, x)
	for range u.Steps(1) {
	}
	Sum(u, Square(u, w)).Backward()
	if r := u.RoundingTraces(); r != nil || NewScope().RoundingTraces() != nil {
		t.Errorf("%+v", r)
	}
	if err := Maybe(func() { NewScope(RecordRounding(-1)) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}

// TestRecordRoundingIsFreed: what the traces of steps held is freed with the steps, and outside of them there is a bound.
func TestRecordRoundingIsFreed(t *testing.T) {
	root := NewScope(Seed(4), RecordRounding(1))
	defer root.Close()
	x, w := roundingInputs(root)
	bytes := map[int]int64{}
	for s := range root.Steps(4) {
		half := s.Autocast(Float16)
		loss := Mean(half, Square(half, Linear(half, x, w, nil)))
		if s.Step()%2 == 0 {
			loss.Backward()
			w.ZeroGrad()
		}
		bytes[s.Step()] = MemStats()["cpu"].Bytes
	}
	if bytes[2] != bytes[0] || bytes[3] != bytes[1] {
		t.Errorf("bytes in use at the ends of steps: %v", bytes)
	}
	f := root.root.rounding.start(root, root.root.rounding).(*rounding)
	f.held = loose + 1
	f.op(root, &Call{Op: opReLU, Out: x, In: []*Tensor{x}}, []*Tensor{x}, ruleUntouched)
	if !f.done || len(f.events) != 0 {
		t.Errorf("it follows on beyond %d numbers", loose)
	}
}

// TestRecordRoundingOfParts: what a checkpointed part does again for a gradient belongs to no trace.
func TestRecordRoundingOfParts(t *testing.T) {
	root := NewScope(Seed(4), RecordRounding(0))
	defer root.Close()
	x, w := roundingInputs(root)
	for s := range root.Steps(1) {
		for range 2 {
			Mean(s, Checkpoint(s, func(s *Scope, in ...*Tensor) *Tensor { return Square(s, Linear(s, in[0], w, nil)) }, x)).Backward()
		}
	}
	if r := root.RoundingTraces(); len(r) != 2 || len(r[0].Events) != 3 || len(r[1].Events) != 3 {
		t.Errorf("%+v", r)
	}
}

// TestRecordRoundingOfScaledLosses: a scaled loss that goes on being computed with is followed beyond the scale.
func TestRecordRoundingOfScaledLosses(t *testing.T) {
	s := NewScope(Seed(4), RecordRounding(0))
	defer s.Close()
	x, w := roundingInputs(s)
	half := s.Autocast(Float16)
	loss := Mean(half, Square(half, Linear(half, x, w, nil)))
	MulScalar(s, NewGradScaler().Scale(s, loss), 1.0/65536).Backward()
	r := s.RoundingTraces()
	if len(r) != 1 || r[0].Loss != loss.Item() || r[0].Exact == r[0].Loss || !(math.Abs(r[0].Loss-r[0].Exact-r[0].First) <= 0.1*r[0].Spread) {
		t.Errorf("%+v", r)
	}
}

// TestRecordRoundingOfKeptLosses: a loss that was kept beyond its step has no trace, and what its Backward does leaves nothing behind.
func TestRecordRoundingOfKeptLosses(t *testing.T) {
	root := NewScope(Seed(4), RecordRounding(1))
	defer root.Close()
	_, w := roundingInputs(root)
	var loss *Tensor
	for s := range root.Steps(1) {
		loss = s.Keep(Sum(s, w))
	}
	before := MemStats()["cpu"].Bytes
	loss.Backward(CreateGraph())
	if got := MemStats()["cpu"].Bytes - before; root.RoundingTraces() != nil || got > 2*w.Bytes() {
		t.Errorf("%d bytes, traces %v", got, root.RoundingTraces())
	}
}
