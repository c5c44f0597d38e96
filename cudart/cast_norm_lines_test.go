package cudart_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestNormGradientsOfAnyWidthReadHalves: as TestNormGradientsReadHalves, of lines that the kernels for whole vectors do not take, being too long
// or leaving numbers over.
func TestNormGradientsOfAnyWidthReadHalves(t *testing.T) {
	device := gpu(t)
	for _, n := range []int{57, 2052} {
		for _, kind := range []string{"layer", "rms"} {
			for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
				t.Run(fmt.Sprintf("%v %s of %d", dt, kind, n), func(t *testing.T) {
					run := func(settled bool) (out [][]float64) {
						s := amp.NewScope(amp.On(device), amp.Seed(4))
						defer s.Close()
						g := normGradients{s: s, settled: settled, h: amp.To(s, amp.Randn(s, amp.Float32, 0, 1, 70, n), dt)}
						x, w := amp.Randn(s, amp.Float32, 1, 2, 70, n).RequireGrad(), amp.Randn(s, amp.Float32, 1, 1, n).RequireGrad()
						b := amp.Randn(s, amp.Float32, 0, 1, n).RequireGrad()
						g.y, g.in = amp.LayerNorm(s, x, w, b, 1e-5), []*amp.Tensor{x, w, b}
						if kind == "rms" {
							g.y, g.in = amp.RMSNorm(s, x, w, 1e-5), []*amp.Tensor{x, w}
						}
						g.h.Float64s()
						for _, y := range g.of(g.wide(g.h)) {
							out = append(out, y.Float64s())
						}
						return out
					}
					want := run(true)
					for i, got := range run(false) {
						if !slices.Equal(got, want[i]) {
							t.Errorf("gradient %d differs from that of the cast", i)
						}
					}
				})
			}
		}
	}
}
