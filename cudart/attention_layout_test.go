package cudart_test

import (
	"fmt"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestAttentionWritesInPlace: attention of heads cut out of one projection is written as they lie, and so are their gradients, by the
// kernels of every dtype: the bits are those of heads without gaps, and nothing is copied.
func TestAttentionWritesInPlace(t *testing.T) {
	device := gpu(t)
	type layout struct{ shape, order []int }
	for name, c := range map[string]layout{
		"projection":   {[]int{2, 37, 3, 2, 32}, []int{2, 0, 3, 1, 4}},
		"head by head": {[]int{2, 37, 2, 3, 64}, []int{3, 0, 2, 1, 4}},
		"wide":         {[]int{1, 70, 3, 1, 120}, []int{2, 0, 3, 1, 4}},
		"odd":          {[]int{2, 20, 3, 3, 10}, []int{2, 0, 3, 1, 4}},
	} {
		for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64} {
			for _, biased := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %v bias %v", name, dt, biased), func(t *testing.T) {
					n := c.shape[c.order[3]]
					run := func(apart bool) (out [4][]float64, w attentionWatch) {
						s := amp.NewScope(amp.On(device), amp.Seed(3))
						defer s.Close()
						draw := func(shape ...int) *amp.Tensor { return amp.To(s, amp.Randn(s, amp.Float32, 0, 1, shape...), dt) }
						x := draw(c.shape...).RequireGrad()
						dy := amp.Select(s, amp.Permute(s, draw(c.shape...), c.order...), 0, 1)
						var bias *amp.Tensor
						if biased {
							bias = draw(n, n).RequireGrad()
						}
						y := amp.Permute(s, amp.MulScalar(s, x, 2), c.order...)
						var part [3]*amp.Tensor
						for i := range part {
							if part[i] = amp.Select(s, y, 0, i); apart {
								part[i] = amp.MulScalar(s, amp.Contiguous(s, part[i]), 1)
							}
						}
						x.Float64s()
						var at *amp.Tensor
						w = watchLaunches(device, func() {
							at = amp.ScaledDotProductAttention(s, part[0], part[1], part[2], bias, amp.Attention{Causal: !biased, Dropout: 0.1})
							at.Backward(amp.GradOutputs(dy))
						})
						out = [4][]float64{at.Float64s(), x.Grad().Float64s()}
						if biased {
							out[2] = bias.Grad().Float64s()
						}
						return out, w
					}
					want, _ := run(true)
					got, w := run(false)
					if !sameBits(want, got) {
						t.Error("other numbers than without gaps")
					}
					most := 4 // with that of the product by 2
					if biased {
						most += 2 // the sum of the bias's gradient
					}
					if w.all > most || name != "odd" && !biased && dt.IsHalf() && cudart.HasTensorCores(device) && w.flash != 3 {
						t.Errorf("%d launches, %d on tensor cores", w.all, w.flash)
					}
				})
			}
		}
	}
}
