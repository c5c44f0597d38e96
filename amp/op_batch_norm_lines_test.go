package amp

import (
	"math"
	"testing"
)

// TestBatchNormPasses holds the passes to the kernels of float64, for planes long and short, in blocks and strips that are not full, and
// for a mean that is large beside the deviation.
func TestBatchNormPasses(t *testing.T) {
	for _, dt := range []DType{Float32, BFloat16} {
		for _, shape := range [][]int{{1100, 40}, {70, 1030}, {33, 7, 3, 5}, {5, 3, 9, 8}, {3, 2, 50, 50}} {
			for _, mean := range []float64{0, 300} {
				if dt != Float32 && mean != 0 {
					continue // the inputs themselves have too few digits
				}
				s := NewScope(On("cpu"), Seed(3))
				x := To(s, Randn(s, Float32, mean, 1, shape...), dt)
				w, b, dy := To(s, Randn(s, Float32, 1, 0.1, shape[1]), dt), To(s, Randn(s, Float32, 0, 1, shape[1]), dt), To(s, Randn(s, Float32, 0.2, 1, shape...), dt)
				run := func(dt DType) [4]*Tensor {
					leaves := [3]*Tensor{}
					for i, l := range []*Tensor{x, w, b} {
						leaves[i] = Detach(s, To(s, l, dt)).RequireGrad()
					}
					y := BatchNorm(s, leaves[0], leaves[1], leaves[2], BatchNormState{Eps: 1e-5})
					g := Grad(s, []*Tensor{y}, leaves[:], GradOutputs(To(s, dy, dt)))
					return [4]*Tensor{y, g[0], g[1], g[2]}
				}
				got, want := run(dt), run(Float64)
				for k, name := range []string{"y", "dx", "dweight", "dbias"} {
					a, e := got[k].Float64s(), want[k].Float64s()
					size, worst := 0.0, 0.0
					for i, v := range e {
						size, worst = max(size, math.Abs(v)), max(worst, math.Abs(a[i]-v))
					}
					limit := map[DType]float64{Float32: 2e-6, BFloat16: 0x1p-8}[dt]
					if mean != 0 {
						limit = 5e-4 // the mean itself is kept in float32, and dweight shows Σ dy times its rounding
					}
					if !(worst <= limit*size) {
						t.Errorf("%v %v, mean %v: %s is off by %.2g of %.2g", dt, shape, mean, name, worst, size)
					}
				}
				s.Close()
			}
		}
	}
}
