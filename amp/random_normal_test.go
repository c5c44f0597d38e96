package amp

import (
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TestFillNormalIsBoxMuller holds numbers drawn in bulk to the formula, for lengths around the chunk and odd ones.
func TestFillNormalIsBoxMuller(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 2*chunk - 1, 2 * chunk, 2*chunk + 1, 40001} {
		got, u := make([]float64, n), make([]float64, n+1)
		NewStream(9).draw(n, Numbers{Kind: NormalNumbers, A: 3, B: 2}.onHost(Float64), func(at int, values []float64) { copy(got[at:], values) })
		NewStream(9).fill(u[:(n+1)/2*2], func(a, b float64) (float64, float64) { return a, b })
		for i := range got {
			r, angle := math.Sqrt(-2*cpu.Log1p.Of(-u[i&^1])), 2*math.Pi*u[i|1]
			want := 3 + float64(2*float64(r*cpu.Cos.Of(angle)))
			if i%2 == 1 {
				want = 3 + float64(2*float64(r*cpu.Sin.Of(angle)))
			}
			if got[i] != want {
				t.Fatalf("%d numbers: number %d is %v, want %v", n, i, got[i], want)
			}
		}
	}
}
