package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAdamDivides: the root over the correction has the bits of a division, for averages of squares of any size.
func TestAdamDivides(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 4096
	io := &Line{}
	x, m, v := make([]float32, n), make([]float32, n), make([]float32, n)
	io.F32[0], io.F32[1], io.F32[2], io.F32[3] = x, make([]float32, n), m, v
	for range 60 {
		root := float32(math.Sqrt(1 - math.Pow(0.5+r.Float64()/2, 1+r.Float64()*20)))
		io.Arg = [8]float32{0, 1, 0, 1, 1, root, 1e-8, 1 / root}
		want := make([]float32, n)
		for i := range v {
			x[i], m[i] = 0, -float32(math.Ldexp(1, r.IntN(20)-10))
			switch v[i] = math.Float32frombits(r.Uint32() >> 1); i { // most are finite, some NaN
			case 0:
				v[i] = 0
			case 1:
				v[i] = float32(math.Inf(1))
			case 2:
				v[i] = 1e-45
			}
			size := float32(float32(math.Sqrt(float64(v[i])))/root) + 1e-8
			want[i] = 0 - m[i]/size
		}
		LineAdam.Run(n, io)
		for i := range x {
			if math.Float32bits(x[i]) != math.Float32bits(want[i]) && !(x[i] != x[i] && want[i] != want[i]) {
				t.Fatalf("%v over %v: %v, want %v", v[i], root, x[i], want[i])
			}
		}
	}
}
