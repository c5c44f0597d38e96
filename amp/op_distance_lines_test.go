package amp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestPairLines compares cdist and its gradients with those of float64, which come from other loops: rows and features that end within a pass
// and a block, batches that repeat, views, halves, rows in one place, NaN.
func TestPairLines(t *testing.T) {
	root := NewScope()
	defer root.Close()
	for _, c := range []struct{ a, b []int }{
		{[]int{1, 1}, []int{16, 1}}, {[]int{3, 2}, []int{37, 2}}, {[]int{5, 7}, []int{515, 7}}, {[]int{2, 300}, []int{33, 300}}, {[]int{7, 258}, []int{1030, 258}},
		{[]int{2, 3, 4}, []int{1, 20, 4}}, {[]int{3, 5}, []int{2, 17, 5}}, {[]int{2, 1, 3, 6}, []int{3, 21, 6}},
		{[]int{1, 33}, []int{70, 33}}, {[]int{40, 130}, []int{3, 130}}, {[]int{2, 2, 100}, []int{1, 30, 100}}, // directly
	} {
		for _, p := range []float64{1, 2} {
			for _, dt := range []DType{Float32, Float16, BFloat16} {
				t.Run(fmt.Sprint(c.a, c.b, p, dt), func(t *testing.T) {
					s := root.Child()
					defer s.Close()
					left, right := drawnValues(1, length(c.a)), drawnValues(2, length(c.b))
					copy(right, left[:c.a[len(c.a)-1]]) // two rows in one place
					a, b := To(s, From(left, c.a...), dt), To(s, From(right, c.b...), dt)
					b = Transpose(s, Contiguous(s, Transpose(s, b, -1, -2)), -1, -2)
					grads := func(dt DType) (y, da, db *Tensor) {
						a, b := To(s, a, dt), To(s, b, dt)
						if dt == a.dt { // not of the dtype that is tested
							a, b = Clone(s, a), Clone(s, b)
						}
						a.RequireGrad()
						b.RequireGrad()
						y = Cdist(s, a, b, p)
						Sum(s, Mul(s, y, wave(s, dt, y.shape))).Backward()
						return y, a.Grad(), b.Grad()
					}
					y, da, db := grads(dt)
					wy, wa, wb := grads(Float64)
					e := map[DType]float64{Float32: 0x1p-22, Float16: 0x1p-11, BFloat16: 0x1p-8}[dt]
					for _, pair := range []struct {
						name      string
						got, want *Tensor
						terms     int
					}{{"y", y, wy, 1}, {"da", da, wa, y.shape[len(y.shape)-1]}, {"db", db, wb, y.shape[len(y.shape)-2]}} {
						got := pair.got.Float64s()
						for i, w := range pair.want.Float64s() {
							if bound := 4*e*(math.Abs(w)+1) + 8*float64(pair.terms)*0x1p-24; !(math.Abs(got[i]-w) <= bound) {
								t.Fatalf("%s element %d: %.9g, want %.9g", pair.name, i, got[i], w)
							}
						}
					}
				})
			}
		}
	}
}

// drawnValues are n numbers near 0.
func drawnValues(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	out := make([]float64, n)
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out
}

// wave is a tensor of numbers of both signs that are the same in every dtype.
func wave(s *Scope, dt DType, shape []int) *Tensor {
	values := make([]float64, length(shape))
	for i := range values {
		values[i] = float64(i%7-3) / 4
	}
	return To(s, From(values, shape...), dt)
}

// TestPairLinesOfNaN: a NaN is in the distances of its row alone.
func TestPairLinesOfNaN(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b := Full(s, Float32, 1, 3, 5), Full(s, Float32, 2, 20, 5)
	Assign(Narrow(s, Narrow(s, a, 0, 1, 1), 1, 3, 1), Full(s, Float32, math.NaN(), 1, 1))
	for _, p := range []float64{1, 2} {
		for i, v := range Cdist(s, a, b, p).Float64s() {
			if want := i/20 == 1; math.IsNaN(v) != want {
				t.Errorf("order %v, row %d: %v", p, i/20, v)
			}
		}
	}
}
