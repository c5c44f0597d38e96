package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNarrowF64: as Go rounds, for any length, place and number.
func TestNarrowF64(t *testing.T) {
	defer SetMode(Current())
	r := rand.New(rand.NewPCG(1, 9))
	specials := []float64{0, math.Copysign(0, -1), math.Inf(1), math.NaN(), 1e-45, 7e-46, -1e-320, 3.5e38, math.MaxFloat64, 1 + 0x1p-24}
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for n := range 70 {
			src, buf := make([]float64, n+3)[n%3:][:n], make([]float32, n+2)
			for i := range src {
				if src[i] = r.NormFloat64(); r.IntN(3) == 0 {
					src[i] = specials[r.IntN(len(specials))]
				}
			}
			NarrowF64(buf[1:n+1], src)
			for i, x := range src {
				if got, want := buf[1+i], float32(x); math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
					t.Fatalf("%v: %v became %v", v, x, got)
				}
			}
			if buf[0] != 0 || buf[n+1] != 0 {
				t.Fatalf("%v: %d numbers: written beside them", v, n)
			}
		}
	}
}

// TestUniforms: numbers in bulk are those that single blocks give.
func TestUniforms(t *testing.T) {
	defer SetMode(Current())
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for _, n := range []int{0, 1, 2, 7, 8, 9, 2*normalPairs - 1, 2 * normalPairs, 2*normalPairs + 9} {
			buf := make([]float64, n+2)
			Uniforms(buf[1:n+1], 5, 1<<32-2, -3, 7.1)
			for i, got := range buf[1 : n+1] {
				b := PhiloxBlock(5, 1<<32-2+uint64(i/2))
				if want := -3 + float64(7.1*Uniform(b[i%2*2], b[i%2*2+1])); got != want {
					t.Fatalf("%v: number %d of %d is %v, want %v", v, i, n, got, want)
				}
			}
			if buf[0] != 0 || buf[n+1] != 0 {
				t.Fatalf("%v: %d numbers: written beside them", v, n)
			}
		}
	}
}

// TestWhole: as Go cuts, for any length and place, the ends among them.
func TestWhole(t *testing.T) {
	defer SetMode(Current())
	r := rand.New(rand.NewPCG(4, 9))
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for n := range 70 {
			for _, span := range []int64{1, 3, 1000, 1 << 52, 1<<52 + 1, 1<<53 - 1, 1 << 53} {
				lo := []int64{0, -5, 1 << 62, math.MinInt64}[n%4]
				u, buf := make([]float64, n+3)[n%3:][:n], make([]int64, n+2)
				for i := range u {
					u[i] = []float64{r.Float64(), r.Float64(), 0, 1, 1 - 0x1p-53}[r.IntN(5)]
				}
				Whole(buf[1:n+1], u, lo, span)
				for i, got := range buf[1 : n+1] {
					if want := lo + min(int64(u[i]*float64(span)), span-1); got != want {
						t.Fatalf("%v: %v of %d from %d on is %d, want %d", v, u[i], span, lo, got, want)
					}
				}
				if buf[0] != 0 || buf[n+1] != 0 {
					t.Fatalf("%v: %d numbers: written beside them", v, n)
				}
			}
		}
	}
}
