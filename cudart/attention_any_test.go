package cudart_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// anyRun is attention of rows of d and e features; it returns the result and the gradients of q, k, v and of a mask to add.
func anyRun(on string, dt amp.DType, d, e int, how string) (out [5][]float64) {
	const t, n = 37, 41
	s := amp.NewScope(amp.On(on), amp.Seed(5))
	defer s.Close()
	draw := func(i int, shape ...int) *amp.Tensor { return drawn(s, dt, i, 8, shape...) }
	in := []*amp.Tensor{draw(0, 2, 3, t, d), draw(1, 2, 1, n, d), draw(2, 3, n, e)} // batches that are broadcast, too
	var mask *amp.Tensor
	opts := amp.Attention{}
	switch how {
	case "causal":
		opts.Causal = true
	case "dropped":
		opts.Dropout, opts.Scale = 0.3, -0.25
	case "masked":
		mask = seenKeys(t, n)(s, dt)
	case "biased":
		mask = draw(3, 3, t, n)
		in = append(in, mask)
	}
	y := amp.ScaledDotProductAttention(s, in[0], in[1], in[2], mask, opts)
	dy := amp.Permute(s, draw(4, 2, e, t, 3), 0, 3, 2, 1) // columns that do not lie side by side
	out[0] = y.Float64s()
	for i, g := range amp.Grad(s, []*amp.Tensor{y}, in, amp.GradOutputs(amp.Detach(s, dy))) {
		out[1+i] = g.Float64s()
	}
	return out
}

// TestAttentionOfAnyWidth: rows of more features than a block keeps whole, with every dtype and option, forward and backward, are computed on
// the device. Every width meets every dtype, and every option some of them; with the tag long all meet.
func TestAttentionOfAnyWidth(t *testing.T) {
	attentionOfAnyWidth(t, func(n int) bool { return n%5 == 0 })
}

func attentionOfAnyWidth(t *testing.T, chosen func(n int) bool) {
	device := gpu(t)
	dtypes := []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64}
	eps := map[amp.DType]float64{amp.Float16: 0x1p-10, amp.BFloat16: 0x1p-7, amp.Float32: 0x1p-20, amp.Float64: 0x1p-46}
	for i, w := range [][2]int{{129, 120}, {24, 300}, {260, 128}, {0, 130}, {131, 0}} {
		for j, dt := range dtypes {
			for k, how := range []string{"plain", "causal", "dropped", "masked", "biased"} {
				if !chosen(i + j + k) {
					continue
				}
				t.Run(fmt.Sprintf("%d %d %v %s", w[0], w[1], dt, how), func(t *testing.T) {
					want, before := anyRun("cpu", dt, w[0], w[1], how), cudart.Fallbacks()
					got := anyRun(device, dt, w[0], w[1], how)
					if !maps.Equal(before, cudart.Fallbacks()) {
						t.Errorf("on the host ran %v", cudart.Fallbacks())
					}
					compareLists(t, want[:], got[:], eps[dt])
				})
			}
		}
	}
}
