package cudart_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestAttentionNeedsSharedMemory: where a block gets less shared memory than even attention's low tiles of many features need, as in float64
// on sm_75, the kernels take over that keep parts of rows; nothing is computed on the host.
func TestAttentionNeedsSharedMemory(t *testing.T) {
	device := gpu(t)
	run := func(on string, dt amp.DType) []float64 {
		s := amp.NewScope(amp.On(on), amp.Seed(3))
		defer s.Close()
		var in [3]*amp.Tensor
		for i := range in {
			in[i] = placed(s, dt, numbers(3*128), 3, 128).RequireGrad()
		}
		y := amp.ScaledDotProductAttention(s, in[0], in[1], in[2], nil, amp.Attention{})
		amp.Sum(s, amp.Mul(s, y, y)).Backward()
		return slices.Concat(y.Float64s(), in[0].Grad().Float64s(), in[2].Grad().Float64s())
	}
	rows := []string{"scaled_dot_product_attention", "attention_backward"}
	count := func() (n [2]int) {
		for i, row := range rows {
			n[i] = cudart.Fallbacks()[row]
		}
		return n
	}
	check := func(dt amp.DType) {
		t.Helper()
		want, before := run("cpu", dt), count()
		got := run(device, dt)
		if i := farApart(want, got, 1e-5, 1e-5); i >= 0 {
			t.Errorf("%v: number %d is %v, on the CPU %v", dt, i, got[i], want[i])
		}
		if now := count(); now != before {
			t.Errorf("%v: %v ran on the host %v times, before %v", dt, rows, now, before)
		}
	}
	check(amp.Float32)
	check(amp.Float64)
	defer cudart.SetShared(device, 64<<10)() // of sm_75
	check(amp.Float32)                       // 74,496 bytes would be needed for the usual tiles
	check(amp.Float64)                       // 70,400 for the low ones
}
