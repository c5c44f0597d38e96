package amp

import (
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TestConvBorders is about patches whose zeros beyond the source are left over from a patch before: cut into many boxes, whole and partial, with
// groups, strides and other convolutions in between, the bits are those of plain Go, whatever the number of threads.
func TestConvBorders(t *testing.T) {
	computesOnCPU(t)
	was := cpu.Current()
	defer cpu.SetMode(was)
	defer cpu.SetThreads(0)
	for _, c := range []struct{ n, groups, in, out, h, w, kernel, stride, pad int }{
		{5, 1, 11, 13, 37, 32, 3, 1, 1},
		{3, 2, 5, 9, 45, 35, 3, 1, 2},
		{3, 1, 7, 9, 51, 33, 5, 2, 2},
		{2, 9, 1, 1, 41, 48, 3, 1, 1},
		{1, 1, 3, 17, 67, 61, 7, 2, 3},
		{4, 1, 70, 6, 31, 32, 3, 1, 1},
	} {
		var want []uint32
		for _, v := range cpu.Variants() {
			cpu.SetMode(cpu.Mode{Variant: v, Reproducible: true})
			for threads := 1; threads <= 3; threads++ {
				cpu.SetThreads(threads)
				s := NewScope(On("cpu"), Seed(11))
				x := Randn(s, Float32, 0, 1, c.n, c.groups*c.in, c.h, c.w).RequireGrad()
				w := Randn(s, Float32, 0, 1, c.groups*c.out, c.in, c.kernel, c.kernel).RequireGrad()
				y := Conv2d(s, x, w, nil, Padding(c.pad), Stride(c.stride), Groups(c.groups))
				y.Backward(GradOutputs(Randn(s, Float32, 0, 1, y.shape...)))
				var got []uint32
				for _, out := range []*Tensor{y, x.Grad()} {
					for _, f := range out.Float64s() {
						got = append(got, math.Float32bits(float32(f)))
					}
				}
				s.Close()
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v on %v with %d threads differs from %v", c, v, threads, cpu.Variants()[0])
				}
			}
		}
	}
}
