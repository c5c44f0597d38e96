package cpu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestProduct: the same bits on every variant, for any length and place, and the product itself: of factors near 1, of ones whose partial
// products of every 32nd leave float64 though the product does not, of zeros, infinities and NaN.
func TestProduct(t *testing.T) {
	defer SetMode(Current())
	r := rand.New(rand.NewPCG(7, 4))
	specials := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1e-45, 3e38}
	for n := range 200 {
		if n > 190 {
			n *= 37
		}
		for kind := range 4 {
			x := make([]float32, n+3)[n%3:][:n]
			for i := range x {
				x[i] = float32(math.Exp2(r.NormFloat64() / 4))
				switch {
				case kind == 1 && i%2 == 0 && i+1 < n:
					x[i] *= 0x1p120
				case kind == 1 && i%2 == 1:
					x[i] *= 0x1p-120
				case kind == 2 && r.IntN(n) < 2:
					x[i] = specials[r.IntN(len(specials))]
				case kind == 3: // far beyond float64
					x[i] = 1e-30
				}
			}
			SetMode(Mode{Variant: Generic})
			want := Product(x)
			plain, exact := 1.0, big.NewFloat(1).SetPrec(200)
			for _, v := range x {
				plain *= float64(v)
				if kind < 2 {
					exact.Mul(exact, big.NewFloat(float64(v)))
				}
			}
			if kind < 2 { // n-1 roundings of 2^-53
				truth, _ := exact.Float64()
				if !(math.Abs(want-truth) <= float64(n+1)*0x1p-53*math.Abs(truth)) {
					t.Fatalf("kind %d of %d: %v, want %v", kind, n, want, truth)
				}
			} else if !(math.Abs(want-plain) <= float64(2*n+2)*0x1p-53*math.Abs(plain)) && want != plain && !(want != want && plain != plain) {
				t.Fatalf("kind %d of %d: %v, want %v", kind, n, want, plain)
			}
			for _, v := range Variants() {
				SetMode(Mode{Variant: v})
				if got := Product(x); math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
					t.Fatalf("%v: kind %d of %d: %v, in Go %v", v, kind, n, got, want)
				}
			}
		}
	}
}
