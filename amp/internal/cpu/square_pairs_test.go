package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSquarePairs: the same bits on every variant, for any length, place and number, within little more than 2^-24 of the exact sum.
func TestSquarePairs(t *testing.T) {
	defer SetMode(Current())
	r := rand.New(rand.NewPCG(3, 6))
	for n := range 200 {
		if n > 190 {
			n *= 41
		}
		for scale := range 4 { // usual numbers, whose squares float32 has, large ones, small ones, and any
			for _, f16 := range []bool{false, true} {
				x := make([]uint16, n+3)[n%3:][:n]
				for i := range x {
					switch v := float32(r.NormFloat64()); {
					case scale == 3:
						x[i] = uint16(r.Uint32())
					case f16:
						x[i] = F32ToF16(v)
					default:
						x[i] = F32ToBF16(v * []float32{1, 1e25, 1e-25}[scale])
					}
				}
				of, exact := SumSquaresBF16, (*Squares).AddBF16
				if f16 {
					of, exact = SumSquaresF16, (*Squares).AddF16
				}
				SetMode(Mode{Variant: Generic})
				var sum Squares
				exact(&sum, x)
				truth, want := sum.Sum(), of(x)
				if !(math.Abs(want-truth) <= 0x1.05p-24*truth || want == truth || want != want && truth != truth) {
					t.Fatalf("%d halves, f16 %v: %v, want %v", n, f16, want, truth)
				}
				for _, v := range Variants() {
					SetMode(Mode{Variant: v})
					if got := of(x); math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
						t.Fatalf("%v: %d halves, f16 %v: %v, in Go %v", v, n, f16, got, want)
					}
				}
			}
		}
	}
}
