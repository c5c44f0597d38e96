package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPowers: powers of float32 numbers are those of float64 rounded, but for one in some thousand that lies next to the middle of two
// neighbors, and have the same bits on every variant, for any length and place, special values among them, in place too.
func TestPowers(t *testing.T) {
	defer SetMode(Current())
	r := rand.New(rand.NewPCG(8, 12))
	inf := float32(math.Inf(1))
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2, -2, 0.5, -0.5, 3, 1e38, -1e38, math.MaxFloat32, 1e-38, 1e-45, -1e-45, inf, -inf, float32(math.NaN()), 1 << 30, 1 + 0x1p-23, 1 - 0x1p-24}
	var xs, ys []float32
	for _, x := range special {
		for _, y := range special {
			xs, ys = append(xs, x), append(ys, y)
		}
	}
	for range 20000 {
		x := float32(math.Exp2(r.NormFloat64() * 20))
		if r.IntN(3) == 0 {
			x = 1 + float32(r.NormFloat64()*1e-5)
		}
		y := float32(r.NormFloat64() * 2)
		switch r.IntN(8) {
		case 0:
			y = float32(100 / math.Log2(float64(x)) * r.NormFloat64()) // up to the ends of float32
		case 1:
			y *= 1e4
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }
	SetMode(Mode{Variant: Generic})
	plain := make([]float32, len(xs))
	Powers(plain, xs, ys)
	for i, got := range plain {
		x, y := float64(xs[i]), float64(ys[i])
		want := math.Pow(x, y)
		if math.Abs(y) > 100 && y-y == 0 && x > 0 && x-x == 0 { // where its squarings add up their errors
			want = math.Exp(y * math.Log(x))
		}
		if rounded := float32(want); !same(got, rounded) {
			next := math.Nextafter32(rounded, inf) - rounded
			if math.IsInf(float64(next), 0) || next != next || !(math.Abs(float64(got)-want) <= float64(next)*(0.5+0x1p-10)) {
				t.Fatalf("%v to the power of %v is %v, want %v", xs[i], ys[i], got, want)
			}
		}
	}
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for at := 0; at < len(xs); {
			n := min(r.IntN(1200), len(xs)-at)
			buf := make([]float32, n+2)
			Powers(buf[1:n+1], xs[at:at+n], ys[at:at+n])
			x, y := append([]float32{}, xs[at:at+n]...), append([]float32{}, ys[at:at+n]...)
			Powers(x, x, ys[at:at+n])
			Powers(y, xs[at:at+n], y)
			for i, got := range buf[1 : n+1] {
				if want := plain[at+i]; !same(got, want) || !same(x[i], want) || !same(y[i], want) {
					t.Fatalf("%v: number %d of %d: %v to the power of %v is %v, %v and %v, in Go %v", v, i, n, xs[at+i], ys[at+i], got, x[i], y[i], want)
				}
			}
			if buf[0] != 0 || buf[n+1] != 0 {
				t.Fatalf("%v: %d numbers: written beside them", v, n)
			}
			at += n
		}
	}
}
