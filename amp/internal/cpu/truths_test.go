package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTruths: 1 for every number but the zeros, and no byte beside them, on every variant, for any length and start.
func TestTruths(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), 0x1p-149, -0x1p-149, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1, -2}
	eachMode(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		for n := range 150 {
			src, dst := make([]float32, n+3)[n%3:][:n], make([]uint8, n+9)
			for i := range src {
				src[i] = special[r.IntN(len(special))]
			}
			for i := range dst {
				dst[i] = 7
			}
			start := n % 5
			Truths(dst[start:start+n], src)
			for i, got := range dst {
				want := uint8(7)
				if k := i - start; k >= 0 && k < n {
					want = 1
					if src[k] == 0 {
						want = 0
					}
				}
				if got != want {
					t.Fatalf("byte %d of %d is %d, want %d", i-start, n, got, want)
				}
			}
		}
	})
}
