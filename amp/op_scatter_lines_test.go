package amp

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestScatterLines compares the scatter family with loops over the elements of float64, along every dimension, for lines that lie side by side
// in several blocks, an index that is smaller than x and src and one that repeats, and views.
func TestScatterLines(t *testing.T) {
	computesOnCPU(t)
	sameOnAnyThreads(t, scatterDigest)
}

func scatterDigest() string {
	h := sha256.New()
	r := rand.New(rand.NewPCG(3, 9))
	s := NewScope(On("cpu"))
	defer s.Close()
	for _, shape := range [][]int{{7, 3, 300}, {65, 129}, {2, 5, 1}, {3000, 9}, {40}} {
		for d := range shape {
			part, whole := slices.Clone(shape), slices.Clone(shape)
			for k := range part {
				part[k] = max(1, part[k]-r.IntN(3))
				whole[k] = part[k] + r.IntN(2)
			}
			part[d] = 1 + r.IntN(2*shape[d])
			whole[d] = part[d] + 1
			for _, dt := range []DType{Float32, BFloat16, Float16, Float64, Int64} {
				x, src := drawnWhole(r, dt, shape).To(s), drawnWhole(r, dt, whole).To(s)
				index := RandInt(s, 0, int64(shape[d]), part...)
				if last := len(shape) - 1; d < last { // one for all columns
					alike := Narrow(s, index, last, 0, 1)
					checkScattered(s, x, d, Expand(s, alike, part...), src)
				}
				checkScattered(s, x, d, index, src)
				turn := func(x *Tensor) *Tensor {
					return Transpose(s, Contiguous(s, Transpose(s, x, 0, d)), 0, d)
				}
				checkScattered(s, turn(x), d, turn(index), turn(src))
				fmt.Fprintln(h, ScatterAdd(s, x, d, index, src).Float64s())
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// drawnWhole returns small whole numbers, of which sums are exact.
func drawnWhole(r *rand.Rand, dt DType, shape []int) *Tensor {
	v := make([]float64, length(shape))
	for i := range v {
		v[i] = float64(r.IntN(17) - 8)
	}
	return fromFloat64s(dt, v, shape)
}

// checkScattered panics unless the scatter family along d gives what loops do.
func checkScattered(s *Scope, x *Tensor, d int, index, src *Tensor) {
	a, to, from := Contiguous(s, x).Float64s(), Contiguous(s, index).Float64s(), Contiguous(s, src).Float64s()
	for name, c := range map[string]struct {
		y   *Tensor
		put func(old, v float64) float64
	}{
		"scatter":       {Scatter(s, x, d, index, src), func(_, v float64) float64 { return v }},
		"scatter_value": {ScatterValue(s, x, d, index, 3), func(_, _ float64) float64 { return 3 }},
		"scatter_add":   {ScatterAdd(s, x, d, index, src), func(old, v float64) float64 { return old + v }},
	} {
		want := slices.Clone(a)
		for i, p := range to {
			at, place, of, stride, size := i, 0, 0, 1, 1
			for k := len(x.shape) - 1; k >= 0; k-- {
				j := at % index.shape[k]
				at /= index.shape[k]
				of += j * size
				size *= src.shape[k]
				if k == d {
					j = int(p)
				}
				place += j * stride
				stride *= x.shape[k]
			}
			want[place] = c.put(want[place], from[of])
		}
		want = rounded(x.dt, want)
		for i, v := range c.y.Float64s() {
			if w := want[i]; math.Float64bits(v+0) != math.Float64bits(w+0) {
				panic(fmt.Sprintf("%s, %v %v along %d, index %v of strides %v: element %d is %v, want %v", name, x.dt, x.shape, d, index.shape, index.strides, i, v, w))
			}
		}
	}
}
