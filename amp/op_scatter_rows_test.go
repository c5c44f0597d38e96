package amp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestScatterSlices holds scatter, scatter_add and gather of whole rows, by an index that is one list for all elements of a slice, to the bits that they
// have with the same index written out.
func TestScatterSlices(t *testing.T) {
	computesOnCPU(t)
	sameOnAnyThreads(t, func() string {
		s := NewScope(On("cpu"), Seed(5))
		defer s.Close()
		r := rand.New(rand.NewPCG(8, 1))
		digest := ""
		for _, shape := range [][]int{{9, 40}, {3, 7, 4, 31}, {300, 2, 64}} {
			for d := range len(shape) - 1 {
				for _, dt := range []DType{Float32, BFloat16, Float16, Float64, Int64} {
					x, part := drawnNumbers(s, dt, shape), slices.Clone(shape)
					part[d] = 1 + r.IntN(3*shape[d])
					src, list := drawnNumbers(s, dt, part), RandInt(s, 0, int64(shape[d]), part[d])
					thin := make([]int, len(shape))
					for k := range thin {
						thin[k] = 1
					}
					thin[d] = part[d]
					index := Expand(s, Reshape(s, list, thin...), part...)
					out := Contiguous(s, index)
					if length(part) > part[d] && !sliceIndex(index, shape, d) && length(shape[d+1:]) >= shortLine {
						t.Fatalf("%v along %d goes the slow way", part, d)
					}
					for name, f := range map[string]func(i *Tensor) *Tensor{
						"scatter":     func(i *Tensor) *Tensor { return Scatter(s, x, d, i, src) },
						"scatter_add": func(i *Tensor) *Tensor { return ScatterAdd(s, x, d, i, src) },
						"gather":      func(i *Tensor) *Tensor { return Gather(s, x, d, i) },
					} {
						got, want := f(index), f(out)
						if !bytes.Equal(got.st.mem[got.off*dt.Size():][:got.Len()*dt.Size()], want.st.mem[want.off*dt.Size():][:want.Len()*dt.Size()]) {
							t.Fatalf("%s %v %v along %d by %v: other bits than with the index written out", name, dt, shape, d, part)
						}
					}
					digest += fmt.Sprint(ScatterAdd(s, x, d, index, src).Float64s())
				}
			}
		}
		return digest
	})
}

// drawnNumbers returns numbers of a normal distribution, whole ones of integers.
func drawnNumbers(s *Scope, dt DType, shape []int) *Tensor {
	if dt == Int64 {
		return RandInt(s, -9, 9, shape...)
	}
	return To(s, Randn(s, Float32, 0, 1, shape...), dt)
}
