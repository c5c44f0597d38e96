package amp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TestConvPoints: convolutions whose windows are single elements, of numbers whose sums are exact, give the same bits as products of pairs of
// halves and as what they are without those, on any number of threads.
func TestConvPoints(t *testing.T) {
	forPairs(t)
	defer cpu.SetThreads(0)
	for _, c := range []struct {
		x      []int // of a convolution
		m      int
		groups int
	}{
		{[]int{1, 8, 1, 1}, 8, 1}, {[]int{3, 9, 7, 7}, 13, 1}, {[]int{5, 64, 16, 16}, 40, 1}, {[]int{33, 16, 3, 1}, 8, 1}, {[]int{2, 36, 28, 28}, 24, 2}, {[]int{4, 24, 11}, 66, 3},
		{[]int{2, 20, 3, 5, 4}, 12, 1}, {[]int{70, 300, 7, 7}, 30, 1}, {[]int{3, 16, 56, 56}, 400, 1},
	} {
		run := func(d cpu.Dot, threads int) []float64 {
			cpu.SetDot(d)
			cpu.SetThreads(threads)
			s := NewScope(On("cpu"), Seed(3))
			defer s.Close()
			whole := func(shape ...int) *Tensor { return To(s, RandInt(s, -2, 3, shape...), BFloat16) }
			one := make([]int, len(c.x)-2)
			for i := range one {
				one[i] = 1
			}
			x := whole(c.x...).RequireGrad()
			w, turned := whole(append([]int{c.m, c.x[1] / c.groups}, one...)...).RequireGrad(), whole(append([]int{c.x[1], c.m / c.groups}, one...)...).RequireGrad()
			bias := whole(c.m).RequireGrad()
			y := convs[len(one)-1](s, x, w, bias, Groups(c.groups))
			z := [...]func(s *Scope, x, w, b *Tensor, o ...WindowOption) *Tensor{ConvTranspose1d, ConvTranspose2d, ConvTranspose3d}[len(one)-1](s, x, turned, nil, Groups(c.groups))
			y.Backward(GradOutputs(whole(y.shape...)))
			z.Backward(GradOutputs(whole(z.shape...)))
			return slices.Concat(y.Float64s(), z.Float64s(), x.Grad().Float64s(), w.Grad().Float64s(), turned.Grad().Float64s())
		}
		want := run(cpu.Strict, 1)
		for _, threads := range []int{1, 3} {
			if got := run(cpu.Pairs, threads); !slices.Equal(got, want) {
				t.Error(fmt.Sprint(c), "on", threads, "threads is not what it is without pairs")
			}
		}
	}
}
