package cudart_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestAttentionNeedsSharedMemory: where a block gets less shared memory than attention's tiles of many features need, as on sm_75 and, in
// float64, on sm_86, it is computed on the host, both ways.
func TestAttentionNeedsSharedMemory(t *testing.T) {
	device := gpu(t)
	run := func(on string) []float64 {
		s := amp.NewScope(amp.On(on), amp.Seed(3))
		defer s.Close()
		var in [3]*amp.Tensor
		for i := range in {
			in[i] = placed(s, amp.Float32, numbers(3*128), 3, 128).RequireGrad()
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
	want, before := run("cpu"), count()
	got := run(device)
	if i := farApart(want, got, 1e-5, 1e-5); i >= 0 {
		t.Errorf("number %d is %v, on the CPU %v", i, got[i], want[i])
	}
	if now := count(); now != before {
		t.Errorf("%v ran on the host %v times, before %v", rows, now, before)
	}
	defer cudart.SetShared(device, 64<<10)() // of sm_75; 74,496 bytes are needed
	got = run(device)
	if i := farApart(want, got, 1e-5, 1e-5); i >= 0 {
		t.Errorf("on the host number %d is %v, on the CPU %v", i, got[i], want[i])
	}
	if now := count(); now != [2]int{before[0] + 1, before[1] + 1} {
		t.Errorf("%v ran on the host %v times, before %v", rows, now, before)
	}
}
