package cpu

import (
	"math"
	"testing"
)

// TestNormal holds every variant to the formula on single numbers, bit for bit, at odd lengths and unaligned starts.
func TestNormal(t *testing.T) {
	defer SetMode(Current())
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for _, n := range []int{0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 2*normalPairs - 1, 2 * normalPairs, 2*normalPairs + 1, 1501} {
			buf := make([]float64, n+2)
			dst := buf[1 : n+1]
			Normal(dst, 12345, 1<<32-3, 3, 2)
			for i, got := range dst {
				b := PhiloxBlock(12345, 1<<32-3+uint64(i/2))
				r := math.Sqrt(-2 * Log1p.Of(-float64(uint64(b[0])<<32|uint64(b[1]))*0x1p-64))
				angle := 2 * math.Pi * (float64(uint64(b[2])<<32|uint64(b[3])) * 0x1p-64)
				want := 3 + float64(2*float64(r*Cos.Of(angle)))
				if i%2 == 1 {
					want = 3 + float64(2*float64(r*Sin.Of(angle)))
				}
				if got != want {
					t.Fatalf("%v: number %d of %d is %v, want %v", v, i, n, got, want)
				}
			}
			if buf[0] != 0 || buf[n+1] != 0 {
				t.Fatalf("%v: %d numbers: written beside them", v, n)
			}
		}
	}
}

// TestUniform: rounded as the 64 bits would be, also where they are halfway between two numbers and where they round up to 1; and in bulk alike.
func TestUniform(t *testing.T) {
	defer SetMode(Current())
	all := []uint64{0, 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<53 + 1, 1<<54 + 2, 1<<54 + 6, 1<<63 + 1<<10, 1<<63 + 3<<10, 1<<64 - 1, 1<<64 - 1<<10, 1<<64 - 1<<10 - 1, 0x123456789abcdef0, 1<<63 - 1, 1 << 33}
	numbers, dst := []uint32{0}, make([]float64, len(all)) // the first one makes the others begin unaligned
	for _, x := range all {
		numbers = append(numbers, uint32(x>>32), uint32(x))
		if got, want := Uniform(uint32(x>>32), uint32(x)), float64(x)*0x1p-64; got != want {
			t.Errorf("%#x: %v, want %v", x, got, want)
		}
	}
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		if done := uniformsVec(dst, numbers[1:], 0, 1); v != Generic && done != len(all) {
			t.Fatalf("%v: %d of %d done", v, done, len(all))
		} else {
			for i, got := range dst[:done] {
				if want := float64(all[i]) * 0x1p-64; got != want {
					t.Errorf("%v: %#x: %v, want %v", v, all[i], got, want)
				}
			}
		}
	}
}

// TestSinCos: both at once are what each is alone, bit for bit, at odd lengths, unaligned starts and in place, NaN and infinities among the angles.
func TestSinCos(t *testing.T) {
	defer SetMode(Current())
	specials := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, -1e-310, 1e-60, math.Pi / 2, math.Pi, 2 * math.Pi, -7, 1 << 20}
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for n := range 70 {
			angle, cos := make([]float64, n), make([]float64, n+2)
			for i := range angle {
				if angle[i] = float64(i*i%97) / 7; (i+n)%5 == 0 {
					angle[i] = specials[(i+n)/5%len(specials)]
				}
			}
			sin := append([]float64{0}, angle...)
			sinCos(sin[1:], cos[1:n+1], sin[1:])
			for i, x := range angle {
				for _, pair := range [][2]float64{{sin[1+i], Sin.Of(x)}, {cos[1+i], Cos.Of(x)}} {
					if got, want := pair[0], pair[1]; math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
						t.Fatalf("%v: of %v at %d of %d: %v, want %v", v, x, i, n, got, want)
					}
				}
			}
			if cos[0] != 0 || cos[n+1] != 0 || sin[0] != 0 {
				t.Fatalf("%v: %d numbers: written beside them", v, n)
			}
		}
	}
}
