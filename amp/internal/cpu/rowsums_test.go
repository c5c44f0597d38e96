package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSumRows: the bits of a pass and the sum of its lanes in Go on every variant, for rows of any length, place, distance and number.
func TestSumRows(t *testing.T) {
	defer SetMode(Current())
	r := rand.New(rand.NewPCG(5, 6))
	specials := []float32{1e-45, 3e38, -3e38, float32(math.Inf(-1)), float32(math.Inf(1)), float32(math.NaN()), 0, float32(math.Copysign(0, -1))}
	lengths := []int{2047, 2048, 2049, 2080, 4096, 5001}
	for n := range 140 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		for _, gap := range []int{0, 1, 7, 4000} {
			rows := 1 + r.IntN(4)
			x := make([]float32, rows*(n+gap)+3)[n%3:][:rows*(n+gap)-gap]
			for i := range x {
				x[i] = float32(r.NormFloat64())
				if gap == 1 && r.IntN(max(n, 1)) == 0 {
					x[i] = specials[r.IntN(len(specials))]
				}
				if gap == 7 {
					x[i] = float32(math.Copysign(0, -1))
				}
			}
			SetMode(Mode{Variant: Generic})
			want := make([]float64, rows)
			for i := range want {
				var line Line
				line.F32[0] = x[i*(n+gap):][:n]
				LineSum.Run(n, &line)
				want[i] = line.Acc[0].Sum()
			}
			for _, v := range Variants() {
				SetMode(Mode{Variant: v})
				got := make([]float64, rows)
				new(Line).SumRows(got, x, n, n+gap)
				for i, w := range want {
					if math.Float64bits(got[i]) != math.Float64bits(w) && !(got[i] != got[i] && w != w) {
						t.Fatalf("%v: row %d of %d numbers, %d between: %v, in Go %v", v, i, n, gap, got[i], w)
					}
				}
			}
		}
	}
}
