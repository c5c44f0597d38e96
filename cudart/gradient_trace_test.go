package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestGradientTraceReadsBack: a trace of a pass on the device is that of the CPU: of products of powers of two in float16, where both give
// the same numbers.
func TestGradientTraceReadsBack(t *testing.T) {
	trace := func(device string) (tr amp.GradientTrace) {
		s := amp.NewScope(amp.On(device))
		defer s.Close()
		x := amp.From([]float32{1, 1, -1, 1}, 4).To(s).RequireGrad().SetName("x")
		small := amp.FromFloat64s(amp.Float16, []float64{0x1p-14, 0x1p-10, 1, 0x1p15}, 4).To(s)
		y := amp.Mul(s, amp.Mul(s, amp.ReLU(s, amp.To(s, x, amp.Float16)), small), small)
		amp.NewGradScaler(amp.InitScale(1)).Scale(s, amp.Sum(s, amp.To(s, y, amp.Float32))).Backward(amp.TraceGradients(&tr))
		return tr
	}
	want, got := trace("cpu"), trace(gpu(t))
	if len(want.Events) != len(got.Events) || len(got.Leaves) != 1 {
		t.Fatalf("%d events and %d", len(want.Events), len(got.Events))
	}
	lost := 0
	for i, w := range want.Events {
		g := got.Events[i]
		if g.Op != w.Op || g.Wanted != w.Wanted || g.Zeros != w.Zeros || g.Gone != w.Gone || g.Infs != w.Infs || g.Spread != w.Spread || g.Amax != w.Amax || g.Err != "" {
			t.Errorf("%+v\nwant %+v", g, w)
		}
		lost += g.Here()
	}
	if lost != 2 {
		t.Errorf("%d lost, want 2^-28 and 2^30", lost)
	}
}
