package cpu

import (
	"math"
	"testing"
)

// BenchmarkFunctions times the functions on float32 slices, beside package math's.
func BenchmarkFunctions(b *testing.B) {
	x, y := make([]float32, 4096), make([]float32, 4096)
	for i := range x {
		x[i] = float32(i%200)/20 - 4.97
	}
	for _, c := range []struct {
		name string
		f    *Function
		std  func(float64) float64
	}{{"exp", Exp, math.Exp}, {"log1p", Log1p, math.Log1p}, {"tanh", Tanh, math.Tanh}, {"erf", Erf, math.Erf}, {"gelu", Gelu, func(x float64) float64 { return x * 0.5 * math.Erfc(-x/math.Sqrt2) }}} {
		run := func(name string, f func()) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/element")
			})
		}
		run("math", func() {
			for i, v := range x {
				y[i] = float32(c.std(float64(v)))
			}
		})
		was := Current()
		for v := Generic; v <= best(); v++ {
			SetMode(Mode{Variant: v})
			run(v.String(), func() { c.f.F32(y, x) })
		}
		SetMode(was)
	}
}
