package amp

import (
	"math"
	"testing"
)

// twos returns float16 numbers m·2^e.
func twos(s *Scope, me ...[2]int) *Tensor {
	v := make([]float32, len(me))
	for i, p := range me {
		v[i] = float32(math.Ldexp(float64(p[0]), p[1]))
	}
	return To(s, From(v, len(v)).To(s), Float16)
}

// fates are the counts of an event that a test knows beforehand.
type fates struct {
	op, of                                                           string
	wanted, zeros, gone, subnormals, infs, nans, spread, born, arrow int
}

func fatesOf(e GradientEvent) fates {
	return fates{e.Op, e.Of, e.Wanted, e.Zeros, e.Gone, e.Subnormals, e.Infs, e.NaNs, e.Spread, e.Born, e.From}
}

// TestGradientTraceChain: in a chain of products of powers of two in float16 every gradient's fate is known. That of x·w is w·dy, and
// nothing is rounded but what float16 has no number for: 2^-25 and less go to zero, the smallest subnormal is 2^-24, and 2^16 is infinite.
func TestGradientTraceChain(t *testing.T) {
	s := NewScope(On("cpu"), Record(Decisions))
	defer s.Close()
	x := From([]float32{1, 1, 1, -1, 1, 1, 1, 1, 1, 1}, 10).To(s).RequireGrad().SetName("x")
	one := [2]int{1, 0}
	//                    2^-24     2^-25      2^-40    ReLU  2^16     2^15     3·2^-25    lost at mid inf at mid inf at mid, then ·0
	last := twos(s, [2]int{1, -14}, [2]int{1, -14}, [2]int{1, -20}, one, [2]int{1, 15}, [2]int{1, 15}, [2]int{3, -14}, [2]int{1, -14}, [2]int{1, 15}, [2]int{1, 15})
	mid := twos(s, one, one, one, one, one, one, one, [2]int{1, -14}, [2]int{1, 2}, [2]int{1, 1})
	first := twos(s, [2]int{1, -10}, [2]int{1, -11}, [2]int{1, -20}, one, [2]int{1, 1}, one, [2]int{1, -11}, one, one, [2]int{0, 0})
	h := Mul(s, Mul(s, AddScalar(s, ReLU(s, To(s, x, Float16)), 0), first), mid)
	var tr GradientTrace
	Sum(s, Mul(s, h, last)).Backward(TraceGradients(&tr))
	want := []fates{
		{"sum", "x", 10, 0, 0, 0, 0, 0, 0, 0, -1},
		{"mul", "a", 10, 0, 0, 0, 0, 0, 0, 0, 0},
		{"mul", "a", 10, 1, 0, 0, 2, 0, 0, 0, 1},       // by mid
		{"mul", "a", 9, 2, 1, 1, 1, 0, 2, 0, 2},        // by first: ·0 wants zero, and infinity times it is NaN by what arrived
		{"add_scalar", "x", 9, 0, 3, 1, 0, 0, 3, 0, 3}, // passes on what it gets
		{"relu", "x", 8, 0, 3, 1, 0, 0, 3, 0, 4},       // masks the negative one: no loss
		{"cast", "x", 8, 0, 3, 0, 0, 0, 3, 0, 5},
	}
	if len(tr.Events) != len(want) {
		t.Fatalf("%d events: %+v", len(tr.Events), tr.Events)
	}
	for i, e := range tr.Events {
		if got := fatesOf(e); got != want[i] || e.N != 10 || e.File != "gradient_trace_test.go" || e.Line == 0 || e.Err != "" {
			t.Errorf("event %d: %+v, want %+v; %+v", i, got, want[i], e)
		}
	}
	if e := tr.Events[3]; e.Amin != math.Ldexp(1, -40) || e.Amax != math.Ldexp(1, 17) || e.DType != Float16 {
		t.Errorf("from %v to %v in %v", e.Amin, e.Amax, e.DType)
	}
	if e := tr.Events[6]; e.For != "relu" || e.DType != Float32 {
		t.Errorf("the cast is for %q, to %v", e.For, e.DType)
	}
	// The binades count what they do not exceed: 2^-25 lies in that from 2^-26 on.
	at := func(e GradientEvent, exponent int) int { return e.Counts[exponent-e.Low] }
	if e := tr.Events[3]; at(e, -26) != 1 || at(e, -25) != 1 || at(e, -24) != 1 || at(e, -41) != 1 || at(e, 16) != 1 {
		t.Errorf("from 2^%d: %v", e.Low, e.Counts)
	}
	if len(tr.Leaves) != 1 || tr.Scale != 1 || tr.Step != -1 {
		t.Fatalf("%+v", tr)
	}
	if l := tr.Leaves[0]; l.Name != "x" || l.N != 10 || l.Wanted != 8 || l.Zeros != 3 || l.Bad != 3 || l.Born != 0 || l.From != 6 || !(l.Error > 0 && l.Error < 1e-6) {
		t.Errorf("%+v", l)
	}
	for i, v := range Values[float32](x.Grad()) {
		if lost := v == 0; lost != (i == 1 || i == 2 || i == 3 || i == 7) {
			t.Errorf("gradient %d is %v", i, v)
		}
	}
}
