package amp

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestIndexSelectSlices compares the gradient of index_select with plain loops in float64, for slices that are no multiple of anything, named
// never, once and often, of gradients that lie in any order.
func TestIndexSelectSlices(t *testing.T) {
	computesOnCPU(t)
	sameOnAnyThreads(t, indexSelectDigest)
}

func indexSelectDigest() string {
	h := sha256.New()
	r := rand.New(rand.NewPCG(9, 3))
	s := NewScope(On("cpu"))
	defer s.Close()
	for _, c := range []struct {
		shape []int
		dim   int
		names int
	}{{[]int{7, 23}, 0, 5}, {[]int{37, 25}, 0, 90}, {[]int{5, 9, 41}, 1, 31}, {[]int{3, 70, 5, 7}, 1, 64}, {[]int{47, 1031}, 0, 73}, {[]int{40, 33}, 1, 70}, {[]int{2, 3, 31}, 0, 0}} {
		list := make([]int64, c.names)
		for i := range list {
			list[i] = int64(r.IntN(c.shape[c.dim]))
			if i%3 == 0 {
				list[i] = min(list[i], 2)
			}
		}
		index := From(list).To(s)
		shape := append([]int{}, c.shape...)
		shape[c.dim] = c.names
		values := make([]float64, length(shape))
		for i := range values {
			values[i] = float64(r.IntN(255)-127) / 16 // exact in any dtype, and sums of them in float64
		}
		inner := length(c.shape[c.dim+1:])
		for _, dt := range []DType{Float32, BFloat16, Float16, Float64} {
			want := make([]float64, length(c.shape))
			for i, v := range values {
				j, k, o := i%inner, i/inner%max(1, c.names), i/inner/max(1, c.names)
				want[(o*c.shape[c.dim]+int(list[k]))*inner+j] += v
			}
			want = rounded(dt, want)
			dy := fromFloat64s(dt, values, shape).To(s)
			turned := Transpose(s, Contiguous(s, Transpose(s, dy, 0, 1)), 0, 1) // the same in another order
			for _, dy := range []*Tensor{dy, turned} {
				x := Zeros(s, dt, c.shape...).RequireGrad()
				IndexSelect(s, x, c.dim, index).Backward(GradOutputs(dy))
				got := x.Grad().Float64s()
				for i, w := range want {
					if got[i] != w {
						panic(fmt.Sprintf("%v %v along %d: element %d is %v, want %v", dt, c.shape, c.dim, i, got[i], w))
					}
				}
				fmt.Fprintln(h, got)
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// rounded returns v as numbers of dt: all at once, as a tensor is a transfer there and back on a device.
func rounded(dt DType, v []float64) []float64 { return FromFloat64s(dt, v).Float64s() }
