package amp

import (
	"math"
	"slices"
	"testing"
)

// notFirstOrder are rows whose gradient is not the derivative by each operand alone, with the reason.
var notFirstOrder = map[string]string{
	"ctc_loss":            "its gradient is that of logits, through the log_softmax that made its operand, as PyTorch's is",
	"ctc_nll":             "its part",
	"ctc_loss_curvature":  "a derivative of ctc_loss's gradient",
	"batch_norm_backward": "the sums that it reads come from a row without a gradient",
}

// TestRoundingOfEveryOp traces each case of each row, in every dtype: the trace changes no number, every op runs in float64, and what the
// ops' own rounding does to the loss adds up to the distance of the loss from that of the reference.
func TestRoundingOfEveryOp(t *testing.T) {
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		for _, dt := range []DType{Float16, BFloat16, Float32} {
			want := c.alone(dt)
			root := NewScope(Seed(9))
			var y *Tensor
			_, r := TraceRounding(root, func(s *Scope) *Tensor {
				in := c.draws(s, dt, 5)
				y = c.call(s, in)
				if !y.dt.IsFloat() {
					y = To(s, y, dt)
				}
				return project(s, y, 7)
			})
			if got := y.Float64s(); !slices.EqualFunc(got, want.lists[0], same64) {
				t.Errorf("%v: %v, %v without a trace", dt, got, want.lists[0])
			}
			for _, e := range r.Events {
				if e.Err != "" {
					t.Errorf("%v: %s: %s", dt, e.Op, e.Err)
				}
			}
			off := r.Loss - r.Exact
			if notFirstOrder[o.Name] == "" && !(math.Abs(off-r.First) <= 0.05*r.Spread+1e-3*math.Abs(r.First)+1e-12) {
				t.Errorf("%v: loss %g, exact %g: off %g, first order %g, spread %g", dt, r.Loss, r.Exact, off, r.First, r.Spread)
				for _, e := range r.Events {
					t.Logf("%s %v→%v own %g total %g share %g spread %g", e.Op, e.Compute, e.DType, e.Own, e.Total, e.Share, e.Spread)
				}
			}
			root.Close()
		}
	})
}

func same64(a, b float64) bool { return a == b || a != a && b != b }
