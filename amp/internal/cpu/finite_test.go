package cpu

import (
	"math"
	"testing"
)

// TestUnscale: products bit for bit, and where the first number that is not finite is, at odd lengths and unaligned starts.
func TestUnscale(t *testing.T) {
	defer SetMode(Current())
	values := []float32{1, -2.5, 0, float32(math.Copysign(0, -1)), 1e-42, -math.MaxFloat32, 3e-39, 7}
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for _, k := range []float32{1, 0.5, 1.0 / 65536, 3, 0, float32(math.Inf(1))} {
			for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 300} {
				for _, bad := range []int{-1, 0, 5, 32, 64, 130, 199, 299} {
					for _, what := range []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())} {
						if bad >= n {
							continue
						}
						buf := make([]float32, n+2)
						x := buf[1 : n+1]
						for i := range x {
							x[i] = values[(i+n)%len(values)]
						}
						if bad >= 0 {
							x[bad] = what
							x[n-1] = what
						}
						want := append([]float32(nil), x...)
						first := -1
						for i, y := range want {
							if y-y != 0 {
								first = i
								break
							}
							want[i] = y * k
						}
						if got := Unscale(x, k); got != first {
							t.Fatalf("%v: %d numbers by %v: %d, want %d", v, n, k, got, first)
						}
						for i, y := range x {
							if math.Float32bits(y) != math.Float32bits(want[i]) && !(y != y && want[i] != want[i]) {
								t.Fatalf("%v: %d numbers by %v: number %d is %v, want %v", v, n, k, i, y, want[i])
							}
						}
						if buf[0] != 0 || buf[n+1] != 0 {
							t.Fatalf("%v: %d numbers: written beside them", v, n)
						}
					}
				}
			}
		}
	}
}
