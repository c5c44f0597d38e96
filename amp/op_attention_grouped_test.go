package amp

import (
	"fmt"
	"math"
	"testing"
)

// TestGroupedHeads compares heads that share keys and values with the same heads each with a copy of them, in float64: results and
// gradients, with few queries and many, at sizes that are multiples of nothing. Scores, exponentials and sums of float32 and halves round
// within 2^-16 together (halves' weights have 16 bits), and a result and a gradient once more to its dtype: as vectors they are within
// 4·(2^-16 + u) of it.
func TestGroupedHeads(t *testing.T) { sameOnAnyThreads(t, checkGroupedHeads) }

func checkGroupedHeads() string {
	hash := uint64(0)
	unit := map[DType]float64{Float64: 0x1p-53, Float32: 0x1p-24, Float16: 0x1p-11, BFloat16: 0x1p-8}
	for i, c := range [][5]int{{1, 2, 1, 301, 40}, {3, 1, 3, 67, 5}, {2, 3, 8, 130, 33}, {1, 5, 17, 37, 80}, {2, 2, 70, 259, 24}} { // heads of k, group, T, S, d
		for _, dt := range []DType{Float64, Float32, Float16, BFloat16} {
			root := NewScope(Seed(uint64(40 + i)))
			draw := func(heads, n int) (x, exact *Tensor) {
				x = To(root, Randn(root, Float32, 0, 1, 2, heads, n, c[4]), dt)
				return Detach(root, x).RequireGrad(), Detach(root, To(root, x, Float64)).RequireGrad()
			}
			q, q64 := draw(c[0]*c[1], c[2])
			k, k64 := draw(c[0], c[3])
			v, v64 := draw(c[0], c[3])
			dy, dy64 := draw(c[0]*c[1], c[2])
			copies := func(x *Tensor) *Tensor {
				x = Expand(root, Reshape(root, x, 2, c[0], 1, c[3], c[4]), 2, c[0], c[1], c[3], c[4])
				return Reshape(root, x, 2, c[0]*c[1], c[3], c[4])
			}
			y := ScaledDotProductAttention(root, q, k, v, nil, Attention{Grouped: true})
			want := ScaledDotProductAttention(root, q64, copies(k64), copies(v64), nil, Attention{})
			got := append([]*Tensor{y}, Grad(root, []*Tensor{y}, []*Tensor{q, k, v}, GradOutputs(Detach(root, dy)))...)
			exact := append([]*Tensor{want}, Grad(root, []*Tensor{want}, []*Tensor{q64, k64, v64}, GradOutputs(Detach(root, dy64)))...)
			for n, g := range got {
				x := g.Float64s()
				if d := apartBy(x, exact[n].Float64s()); !(d <= 4*(0x1p-16+unit[dt])) {
					panic(fmt.Sprintf("%v %v: result %d is %.3g away", c, dt, n, d))
				}
				for _, e := range x {
					hash = hash*31 + math.Float64bits(e)
				}
			}
			root.Close()
		}
	}
	return fmt.Sprint(hash)
}
