package amp

import (
	"fmt"
	"math"
	"testing"
)

// TestPlacesOfLines holds argmax and argmin of narrow dtypes to those of float64, with ties, zeros of both signs, infinities and NaN, along
// every dimension.
func TestPlacesOfLines(t *testing.T) {
	s := NewScope(On("cpu"), Seed(3))
	defer s.Close()
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 2, 2, -2, 0.5}
	for _, n := range []int{1, 2, 15, 16, 17, 31, 33, 64, 100} {
		for kind := range 4 {
			values := make([]float64, 3*n*2)
			for i := range values {
				k := (i*7 + i*i*3) % len(special)
				values[i] = special[k]
				if kind == 1 && values[i] != values[i] || kind == 2 {
					values[i] = float64(i*i%11) - 5
				}
				if kind == 3 {
					values[i] = math.Inf(-1)
				}
			}
			for dim := range 3 {
				wide := FromFloat64s(Float64, values, 3, n, 2).To(s)
				for _, dt := range []DType{Float32, Float16, BFloat16} {
					x := FromFloat64s(dt, values, 3, n, 2).To(s)
					for name, op := range map[string]func(*Scope, *Tensor, int) *Tensor{"argmax": ArgMax, "argmin": ArgMin} {
						if got, want := fmt.Sprint(op(s, x, dim).Float64s()), fmt.Sprint(op(s, wide, dim).Float64s()); got != want {
							t.Errorf("%s of %v, %d numbers of kind %d along %d: %s, want %s", name, dt, n, kind, dim, got, want)
						}
					}
				}
			}
		}
	}
}
