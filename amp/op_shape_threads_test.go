package amp

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// TestShapeThreads is about dropout, resampling, padding, scattering, products and sorting, forward and backward, for sizes that are cut
// into many pieces.
func TestShapeThreads(t *testing.T) { sameOnAnyThreads(t, shapeDigest) }

func shapeDigest() string {
	root := NewScope(Seed(3))
	defer root.Close()
	h := sha256.New()
	x := Randn(root, Float32, 0, 1, 4, 12, 45, 41).RequireGrad()
	grid := Rand(root, Float32, -1.1, 1.1, 4, 40, 30, 2).RequireGrad()
	index := From(func() []int64 {
		v := make([]int64, 45*41)
		for i := range v {
			v[i] = int64(i*i) % 900
		}
		return v
	}())
	flat := func(s *Scope, x *Tensor) *Tensor { return Reshape(s, x, 48, 45*41) }
	for _, f := range []func(s *Scope) *Tensor{
		func(s *Scope) *Tensor { return Dropout(s, x, 0.3) },
		func(s *Scope) *Tensor { return Dropout2d(s, Transpose(s, x, 2, 3), 0.3) },
		func(s *Scope) *Tensor { return Interpolate(s, x, Interpolation{Size: []int{31, 87}, Mode: "bicubic"}) },
		func(s *Scope) *Tensor { return Interpolate(s, x, Interpolation{Scale: []float64{2.3}}) },
		func(s *Scope) *Tensor { return Pad(s, x, []int{5, 40, 3, 2}, "reflect", 0) },
		func(s *Scope) *Tensor { return GridSample(s, x, grid, GridSampling{Padding: "reflection"}) },
		func(s *Scope) *Tensor { return IndexSelect(s, flat(s, x), 1, index) },
		func(s *Scope) *Tensor {
			return ScatterAdd(s, Zeros(root, Float32, 48, 900), 1, Expand(s, index, 48, 45*41), flat(s, x))
		},
		func(s *Scope) *Tensor { return Cumprod(s, x, 1) },
		func(s *Scope) *Tensor { v, _ := Sort(s, flat(s, x), 1, true); return v },
		func(s *Scope) *Tensor { v, _ := Topk(s, flat(s, x), 7, 0, true); return v },
		func(s *Scope) *Tensor { return Amax(s, x, 1, 3) },
		func(s *Scope) *Tensor { return Tril(s, x, 3) },
	} {
		for _, s := range []*Scope{root, root.Autocast(BFloat16)} {
			y := f(s)
			Sum(s, Mul(s, y, y)).Backward()
			fmt.Fprintln(h, y.Float64s(), x.Grad().Float64s())
		}
	}
	fmt.Fprintln(h, grid.Grad().Float64s())
	return fmt.Sprintf("%x", h.Sum(nil))
}
