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

// TestSquaresOfHalves: those of the same numbers widened, bit by bit, on every variant, for any length, place and number.
func TestSquaresOfHalves(t *testing.T) {
	defer SetMode(Current())
	r := rand.New(rand.NewPCG(3, 5))
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for n := range 200 {
			if n > 190 {
				n *= 41
			}
			for _, f16 := range []bool{false, true} {
				half, wide := make([]uint16, n+3)[n%3:][:n], make([]float32, n)
				for i := range half {
					if half[i] = uint16(r.Uint32()); n%5 > 0 && half[i]&0x7c00 == 0x7c00 { // else infinities and NaN too
						half[i] &^= 0x4000
					}
					wide[i] = BF16ToF32(half[i])
					if f16 {
						wide[i] = F16ToF32(half[i])
					}
				}
				var got, want Squares
				want.Add(wide)
				if f16 {
					got.AddF16(half)
				} else {
					got.AddBF16(half)
				}
				if g, w := got.Sum(), want.Sum(); math.Float64bits(g) != math.Float64bits(w) && !(g != g && w != w) {
					t.Fatalf("%v: %d halves, f16 %v: %v, want %v", v, n, f16, g, w)
				}
			}
		}
	}
}
