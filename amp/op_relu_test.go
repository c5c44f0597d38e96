package amp

import (
	"math"
	"testing"
)

// TestReLUEdges: zeros of both signs, infinities, NaN of both signs and subnormals, forward and backward.
func TestReLUEdges(t *testing.T) {
	s := NewScope()
	defer s.Close()
	tiny, negative := math.Float32frombits(1), math.Float32frombits(0xffc00000)
	for _, dt := range []DType{Float32, Float64} {
		x := fromFloat64s(dt, []float64{0, math.Copysign(0, -1), float64(tiny), -float64(tiny), inf, -inf, nan, float64(negative), 3, -3}, []int{10})
		y := ReLU(s, x).Float64s()
		g := s.apply(opReLUBackward, Attrs{}, Full(s, dt, 7, 10), x).Float64s()
		for i, v := range x.Float64s() {
			want, slope := 0.0, 0.0
			if v > 0 {
				want, slope = v, 7
			}
			if v != v {
				want, slope = v, 7
			}
			if distance(y[i], want) != 0 || g[i] != slope {
				t.Errorf("%v: relu(%v) is %v, gradient %v", dt, v, y[i], g[i])
			}
		}
	}
}
