package amp

import (
	"fmt"
	"math"
	"testing"
)

// TestScansAcross: a scan along another dimension than the last has the bits of the same along the last, forward and backward.
func TestScansAcross(t *testing.T) {
	for _, shape := range [][]int{{7, 300}, {2, 5, 24}, {3, 2, 700}, {1, 256}, {40, 3, 9}} {
		for d := range len(shape) - 1 {
			for _, dt := range []DType{Float32, Float16, BFloat16, Float64, Int64} {
				for name, f := range map[string]func(*Scope, *Tensor, int, ...DType) *Tensor{"cumsum": Cumsum, "cumprod": Cumprod} {
					t.Run(fmt.Sprint(name, shape, d, dt), func(t *testing.T) {
						s := NewScope(Seed(3))
						defer s.Close()
						numbers := Randn(s, Float32, 0, 1.2, shape...)
						v := numbers.Float64s()
						v[0] = math.Copysign(0, -1)
						if dt == Int64 {
							for i := range v {
								v[i] = math.Trunc(v[i])
							}
						}
						x, turned := fromFloat64s(dt, v, shape), fromFloat64s(dt, v, shape)
						if dt != Int64 {
							x.RequireGrad()
							turned.RequireGrad()
						}
						y := f(s, x, d)
						z := Transpose(s, f(s, Contiguous(s, Transpose(s, turned, d, -1)), -1), d, -1)
						same(t, "result", y, z)
						if dt == Int64 {
							return
						}
						w := Randn(s, y.DType(), 0, 1, shape...)
						Sum(s, Mul(s, y, w)).Backward()
						Sum(s, Mul(s, z, w)).Backward()
						same(t, "gradient", x.Grad(), turned.Grad())
					})
				}
			}
		}
	}
}

func same(t *testing.T, what string, a, b *Tensor) {
	t.Helper()
	x, y := a.Float64s(), b.Float64s()
	for i := range x {
		if math.Float64bits(x[i]) != math.Float64bits(y[i]) {
			t.Fatalf("%s, element %d: %v along the dimension, %v along the last", what, i, x[i], y[i])
		}
	}
}
