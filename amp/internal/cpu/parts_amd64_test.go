package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

func init() { twinInParts = twinParts }

// twinParts is the sum of float16 numbers in two parts each: 32 steps of each product of parts in turn.
func twinParts(k int, a, b func(p int) float32) float32 {
	part := func(x func(p int) float32, low int) func(p int) float32 {
		return func(p int) float32 { return halved(x(p))[low] }
	}
	var c float32
	for p := 0; p < k; p += 32 {
		for _, low := range [][2]int{{0, 0}, {1, 0}, {1, 1}, {0, 1}} {
			c = twinTiles(c, p, min(k, p+32), part(a, low[0]), part(b, low[1]))
		}
	}
	return c
}

// halved is HalveF16 in Go.
func halved(x float32) [2]float32 {
	if x == 0 {
		return [2]float32{0, x}
	}
	high := math.Float32frombits((math.Float32bits(x) - 1) &^ 0xffff)
	return [2]float32{high, x - high}
}

// TestPartsOfInfinities: where sums are infinite or NaN does not depend on taking numbers apart.
func TestPartsOfInfinities(t *testing.T) {
	if !TileSteps(BF16) || TileSteps(F16) {
		t.Skip("this processor or mode has no tile registers for bfloat16, or some for float16")
	}
	const n = leastInParts
	r := rand.New(rand.NewPCG(7, 8))
	special := []uint16{0x7c00, 0xfc00, 0x7e00, 0x0000, 0x8000, 0x0001, 0x3c00, 0x4000, 0xbc00, 0x7bff}
	for trial := range 40 {
		a, b := make([]uint16, n*n), make([]uint16, n*n)
		for _, x := range [][]uint16{a, b} {
			for i := range x {
				x[i] = F32ToF16(float32(r.NormFloat64()))
				if r.IntN(40+20*trial) == 0 {
					x[i] = special[r.IntN(len(special))]
				}
			}
		}
		x, y := Matrix[float32]{Row: n, Col: 1, F16: a}, Matrix[float32]{Row: n, Col: 1, F16: b}
		got, want := make([]float32, n*n), make([]float32, n*n)
		GemmTo(n, n, n, x, y, Result[float32]{Elems: got, Row: n})
		was := SetDot(Strict)
		GemmTo(n, n, n, x, y, Result[float32]{Elems: want, Row: n})
		SetDot(was)
		for i, w := range want {
			g, size := got[i], 0.0
			for p := range n {
				size += math.Abs(float64(F16ToF32(a[i/n*n+p])) * float64(F16ToF32(b[p*n+i%n])))
			}
			same := math.IsNaN(float64(w)) && math.IsNaN(float64(g)) || math.IsInf(float64(w), 0) && g == w || math.Abs(float64(g-w)) <= 4e-6*size
			if !same {
				t.Fatalf("trial %d: element %d is %v, want %v", trial, i, g, w)
			}
		}
	}
}
