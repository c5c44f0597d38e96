package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestRunningStatistics moves running statistics of several dtypes, of more channels than a block has threads, and counts batches, as the CPU does.
func TestRunningStatistics(t *testing.T) {
	device := gpu(t)
	const channels = 300
	for _, c := range []struct{ x, mean, variance amp.DType }{
		{amp.Float16, amp.Float32, amp.Float32}, {amp.Float32, amp.Float32, amp.Float64}, {amp.Float64, amp.Float64, amp.Float64}, {amp.BFloat16, amp.Float16, amp.BFloat16},
	} {
		run := func(on string) [3][]float64 {
			s := amp.NewScope(amp.On(on), amp.Seed(6))
			defer s.Close()
			st := amp.BatchNormState{RunningMean: amp.Full(s, c.mean, 0.5, channels), RunningVar: amp.Full(s, c.variance, 2, channels), Batches: amp.Full(s, amp.Int64, 40), Momentum: 0.25, Eps: 1e-5}
			for range 3 {
				amp.BatchNorm(s, amp.To(s, amp.Randn(s, amp.Float32, 1, 3, 4, channels, 2), c.x), nil, nil, st)
			}
			return [3][]float64{st.RunningMean.Float64s(), st.RunningVar.Float64s(), st.Batches.Float64s()}
		}
		before := cudart.Fallbacks()["running_stats_"]
		want, got := run("cpu"), run(device)
		if cudart.Fallbacks()["running_stats_"] != before {
			t.Errorf("%v: on the host", c)
		}
		for k, bound := range [3]float64{1e-6, 1e-6, 0} {
			if half := [2]amp.DType{c.mean, c.variance}; k < 2 && half[k].IsHalf() {
				bound = 0x1p-7
			}
			if i := farApart(want[k], got[k], bound, bound); i >= 0 || len(want[k]) != len(got[k]) {
				t.Errorf("%v, list %d: element %d is %v, on the CPU %v", c, k, i, got[k][max(i, 0)], want[k][max(i, 0)])
			}
		}
		if got[2][0] != 43 {
			t.Errorf("%v: %v batches", c, got[2][0])
		}
	}
}
