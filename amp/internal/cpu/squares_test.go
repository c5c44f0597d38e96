package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSumSquares: the same bits on every variant, for any length, place and number, and the sum itself.
func TestSumSquares(t *testing.T) {
	defer SetMode(Current())
	r := rand.New(rand.NewPCG(3, 4))
	specials := []float32{1e-45, 3e38, -3e38, float32(math.Inf(-1)), float32(math.NaN()), 0}
	for n := range 200 {
		if n > 190 {
			n *= 41
		}
		for special := range 2 {
			x := make([]float32, n+3)[n%3:][:n]
			sum := 0.0
			for i := range x {
				x[i] = float32(r.NormFloat64())
				if special == 1 && r.IntN(max(n, 1)) < 2 {
					x[i] = specials[r.IntN(len(specials))]
				}
				sum += float64(x[i]) * float64(x[i])
			}
			SetMode(Mode{Variant: Generic})
			want := SumSquares(x)
			if math.Abs(want-sum) > 1e-12*sum || math.IsInf(want, 0) != math.IsInf(sum, 0) {
				t.Fatalf("%d numbers: %v, want %v", n, want, sum)
			}
			for _, v := range Variants() {
				SetMode(Mode{Variant: v})
				if got := SumSquares(x); math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
					t.Fatalf("%v: %d numbers: %v, in Go %v", v, n, got, want)
				}
			}
		}
	}
}
