package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSmallProductsToTheBit: products of up to 64 in every direction, from unaligned places with gaps, transposed and reversed, of
// float32 and of widened halves, with NaN, infinities and subnormals, are multiply-adds in the order of k with every kernel that fuses.
func TestSmallProductsToTheBit(t *testing.T) {
	was := Current()
	defer SetMode(was)
	defer SetDot(SetDot(Strict))
	r := rand.New(rand.NewPCG(11, 12))
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0x1p-140, -0x1p-149, 0, float32(math.Copysign(0, -1)), 0x1p-14, 0x1p-20}
	for _, mode := range []Mode{{Generic, true}, {AVX2, false}, {AVX512, false}} {
		if mode.Variant > best() {
			continue
		}
		SetMode(mode)
		for trial := range 300 {
			m, n, k := 1+r.IntN(64), 1+r.IntN(64), 1+r.IntN(64)
			switch trial % 8 {
			case 0:
				n = 1
			case 1:
				m = 1
			case 2:
				k = 1 + r.IntN(3)
			}
			la, lb := halfLayouts(m, k)[r.IntN(7)], halfLayouts(k, n)[r.IntN(7)]
			operand := func(l halfLayout) (x Matrix[float32], seen []float32) {
				x = Matrix[float32]{Off: l.off, Row: l.row, Col: l.col}
				seen, half := make([]float32, l.size), make([]uint16, l.size)
				for i := range seen {
					if seen[i] = float32(r.NormFloat64()); trial%3 == 0 && r.IntN(30) == 0 {
						seen[i] = special[r.IntN(len(special))]
					}
				}
				switch r.IntN(3) {
				case 0:
					x.Elems = seen
				case 1:
					NarrowF16(half, seen)
					WidenF16(seen, half)
					x.F16 = half
				case 2:
					NarrowBF16(half, seen)
					WidenBF16(seen, half)
					x.BF16 = half
				}
				return x, seen
			}
			a, va := operand(la)
			b, vb := operand(lb)
			row := n + r.IntN(3)
			got := make([]float32, 1+m*row)
			GemmTo(m, n, k, a, b, Result[float32]{Off: 1, Row: row, Elems: got})
			for i := range m {
				for j := range n {
					var want float32
					for p := range k {
						want = FMA32(va[la.at(i, p)], vb[lb.at(p, j)], want)
					}
					if g := got[1+i*row+j]; g != want && (g == g || want == want) {
						t.Fatalf("%+v, %d×%d×%d, layouts %v %v: element %d %d is %v, want %v", mode, m, n, k, la, lb, i, j, g, want)
					}
				}
			}
		}
	}
}
