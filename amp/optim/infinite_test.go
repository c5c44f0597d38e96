package optim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// An infinite weight stays infinite, and its neighbours finite, as with PyTorch: what an optimizer leaves out, such as a decay of 0, is not a
// product with the weight.
func TestInfiniteWeights(t *testing.T) {
	for name, build := range makers {
		for _, dt := range []amp.DType{amp.Float64, amp.Float32, amp.BFloat16, amp.Float16} {
			for _, n := range []int{3, 300} { // one by one, and in vectors
				t.Run(fmt.Sprintf("%s/%v/%d", name, dt, n), func(t *testing.T) {
					root := amp.NewScope()
					defer root.Close()
					values := make([]float64, n)
					values[1] = math.Inf(1)
					w := amp.To(root, amp.FromFloat64s(amp.Float64, values, n), dt).SetName("w").RequireGrad()
					o := build([]*amp.Tensor{w}, optim.LR(0.01))
					if name != "rprop" { // which has no decay
						o.Groups()[0].SetWeightDecay(0)
					}
					for range 3 {
						w.SetGrad(amp.Full(root, dt, 0.5, n))
						o.Step()
					}
					for i, v := range w.Float64s() {
						if inf := math.IsInf(v, 1); inf != (i == 1) || math.IsNaN(v) || i != 1 && !(v < 0) {
							t.Fatalf("element %d is %v", i, v)
						}
					}
				})
			}
		}
	}
}
