package cpu

import (
	"math"
	"testing"
)

// TestEvenPlaces: on every variant each number is at its place with the bits that one conversion gives, and what lies between is untouched.
func TestEvenPlaces(t *testing.T) {
	defer SetMode(Current())
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-40, -3e-8, 65520, 1.00048828125, 0, float32(math.Copysign(0, -1)), math.MaxFloat32}
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for _, rows := range []int{0, 1, 3} {
			for n := range 70 {
				for start := range 3 {
					lds, ldd := n+start, 2*n+3*start
					src := make([]float32, start+(rows+1)*lds+n)[start:]
					for i := range src {
						src[i] = float32(i%97)*0.37 - 11
						if i%5 == 0 {
							src[i] = special[i/5%len(special)]
						}
					}
					src = src[:max(0, (rows-1)*lds+n)]
					testEvenPlaces(t, NoHalf, rows, n, src, lds, ldd, start, 1.5, func(f float32) float32 { return f }, math.Float32bits)
					same := func(h uint16) uint32 { return uint32(h) }
					testEvenPlaces(t, F16, rows, n, src, lds, ldd, start, 0x1234, F32ToF16, same)
					testEvenPlaces(t, BF16, rows, n, src, lds, ldd, start, 0x1234, F32ToBF16, same)
				}
			}
		}
	}
}

func testEvenPlaces[E float32 | uint16](t *testing.T, f Format, rows, n int, src []float32, lds, ldd, start int, before E, round func(float32) E, bits func(E) uint32) {
	t.Helper()
	dst, want := make([]E, start+(rows+1)*ldd+4), make([]E, start+(rows+1)*ldd+4)
	for i := range dst {
		dst[i], want[i] = before, before
	}
	for r := range rows {
		for i := range n {
			want[start+r*ldd+2*i] = round(src[r*lds+i])
		}
	}
	EvenPlaces(f, rows, n, src, lds, dst[start:], ldd)
	for i := range dst {
		if bits(dst[i]) != bits(want[i]) {
			t.Fatalf("%v, format %d, %d rows of %d, start %d: element %d is %x, want %x", variant(), f, rows, n, start, i, bits(dst[i]), bits(want[i]))
		}
	}
}
