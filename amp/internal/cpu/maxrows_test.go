package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestExtremeRows: the bits of the passes in Go, row by row, on every variant, for rows of any number, length, place and distance, with zeros
// of both signs, infinities and several NaN.
func TestExtremeRows(t *testing.T) {
	defer SetMode(Current())
	r := rand.New(rand.NewPCG(7, 8))
	specials := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(-1)), float32(math.Inf(1)),
		math.Float32frombits(0x7fc00001), math.Float32frombits(0xffc00002), math.Float32frombits(0x7f800003)}
	for n := range 140 {
		rows, gap, zeros := r.IntN(15), []int{0, 1, 7}[n%3], r.IntN(3)
		x := make([]float32, rows*(n+gap)+3)[n%3:]
		for i := range x {
			x[i] = float32(r.IntN(3)-1) * float32(r.IntN(3))
			if zeros > 0 && r.IntN(9) == 0 {
				x[i] = specials[r.IntN(len(specials))]
			}
		}
		for largest, k := range []*LineKernel{&LineMinimum, &LineMaximum} {
			start := make([]float32, n)
			for i := range start {
				start[i] = x[r.IntN(len(x))]
			}
			SetMode(Mode{Variant: Generic})
			want := slices.Clone(start)
			for i := range rows {
				var line Line
				line.F32[0], line.F32[1], line.F32[2] = want, x[i*(n+gap):], want
				k.Run(n, &line)
			}
			for _, v := range Variants() {
				SetMode(Mode{Variant: v})
				got := slices.Clone(start)
				if largest == 1 {
					new(Line).MaximumRows(got, x, rows, n+gap)
				} else {
					new(Line).MinimumRows(got, x, rows, n+gap)
				}
				for i, w := range want {
					if math.Float32bits(got[i]) != math.Float32bits(w) {
						t.Fatalf("%v: column %d of %d, %d rows, %d between: %v, in Go %v", v, i, n, rows, gap, got[i], w)
					}
				}
			}
		}
	}
}
