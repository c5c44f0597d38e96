package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestConvertRows: rows are converted as single numbers are, and what lies between them stays.
func TestConvertRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	specials := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), math.Float32frombits(0x7fffffff), math.Float32frombits(0xff800001),
		1e-45, -1e-40, 65519.996, 65520, 3.4e38, math.Float32frombits(0x3f808000), math.Float32frombits(0x3f818000), math.Float32frombits(0x3f807fff), 5.9604645e-8, 2.9802322e-8}
	was := Current()
	defer SetMode(was)
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48} {
			for _, rows := range []int{0, 1, 2, 5} {
				for _, f16 := range []bool{false, true} {
					narrow, widen := F32ToBF16, BF16ToF32
					if f16 {
						narrow, widen = F32ToF16, F16ToF32
					}
					lds, ldd, at := n+3, n+rng.IntN(4), rng.IntN(4)
					src := make([]float32, at+rows*lds)
					for i := range src {
						if src[i] = float32(rng.NormFloat64()) * 100; rng.IntN(3) == 0 {
							src[i] = specials[rng.IntN(len(specials))]
						}
					}
					got, want := make([]uint16, at+rows*ldd), make([]uint16, at+rows*ldd)
					for y := range rows {
						for i := range n {
							want[at+y*ldd+i] = narrow(src[at+y*lds+i])
						}
					}
					narrowRows(got[at:], ldd, src[at:], lds, rows, n, f16)
					name := fmt.Sprintf("%v, %d rows of %d, float16 %v", v, rows, n, f16)
					if !slices.Equal(got, want) {
						t.Fatalf("%s narrowed: %x, want %x", name, got, want)
					}
					half := make([]uint16, len(src))
					for i := range half {
						half[i] = uint16(rng.Uint32())
					}
					wide, ref := make([]float32, len(want)), make([]float32, len(want))
					for y := range rows {
						for i := range n {
							ref[at+y*ldd+i] = widen(half[at+y*lds+i])
						}
					}
					widenRows(wide[at:], ldd, half[at:], lds, rows, n, f16)
					if !slices.EqualFunc(wide, ref, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
						t.Fatalf("%s widened: %x, want %x", name, wide, ref)
					}
				}
			}
		}
	}
}
