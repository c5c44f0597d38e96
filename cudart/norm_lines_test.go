package cudart_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// manyLines is a residual block whose norm has lines of n numbers, under autocast or not; it returns the gradients of x, weight and bias.
func manyLines(on string, dt amp.DType, norm string, lines, n int) (out [3][]float64) {
	s := amp.NewScope(amp.On(on), amp.Seed(5))
	defer s.Close()
	draw := func(i int, shape ...int) *amp.Tensor { return drawn(s, dt, i, 1, shape...) }
	in := []*amp.Tensor{draw(0, lines, n), draw(1, n), draw(2, n)}
	h := amp.MulScalar(s, in[0], 1.5)
	y := amp.LayerNorm(s, h, in[1], in[2], 1e-5)
	if norm == "rms_norm" {
		y = amp.RMSNorm(s, h, in[1], 1e-5)
		in = in[:2]
	}
	y = amp.Add(s, h, y)
	dy := amp.Detach(s, draw(3, lines, n))
	for i, g := range amp.Grad(s, []*amp.Tensor{y}, in, amp.GradOutputs(dy)) {
		out[i] = g.Float64s()
	}
	return out
}

// TestNormsOfManyLines: blocks, and warps, take many lines each, as those of large networks do.
func TestNormsOfManyLines(t *testing.T) {
	device := gpu(t)
	defer cudart.SetWholeProcessors(1)()
	for dt, eps := range map[amp.DType]float64{amp.Float32: 0x1p-20, amp.Float64: 0x1p-46} {
		for _, n := range []int{8, 100, 132, 768, 1024, 2048} {
			for _, norm := range []string{"layer_norm", "rms_norm"} {
				t.Run(fmt.Sprintf("%v %s of %d", dt, norm, n), func(t *testing.T) {
					lines := 30000/n + 37
					want, before := manyLines("cpu", dt, norm, lines, n), cudart.Fallbacks()
					got := manyLines(device, dt, norm, lines, n)
					if !maps.Equal(before, cudart.Fallbacks()) {
						t.Errorf("on the host ran %v", cudart.Fallbacks())
					}
					compareLists(t, want[:], got[:], eps)
				})
			}
		}
	}
}
