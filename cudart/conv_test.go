package cudart_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// TestConvolutionsOnTensorCores compares convolutions of halves and their gradients with exact sums, bit for bit: channels that fill pieces of
// 16 bytes and do not, groups, strides, dilations, paddings before and behind, planes of any size, split sums, blocks of both forms.
func TestConvolutionsOnTensorCores(t *testing.T) {
	device := gpu(t)
	defer cudart.UseCuDNN(cudart.UseCuDNN(false))
	watch := &launchWatch{seen: map[[2]uint32]int{}}
	defer cudart.WrapDriver(device, func(drv driver.Driver) driver.Driver { watch.Driver = drv; return watch })()
	r := rand.New(rand.NewPCG(3, 4))
	for i, c := range []struct {
		x, w []int
		opts []amp.WindowOption
	}{
		{[]int{3, 16, 8, 8}, []int{24, 16, 3, 3}, []amp.WindowOption{amp.Padding(1)}},
		{[]int{2, 32, 9, 11}, []int{72, 32, 3, 3}, []amp.WindowOption{amp.Padding(1), amp.Stride(2)}},
		{[]int{5, 3, 12, 12}, []int{16, 3, 3, 3}, []amp.WindowOption{amp.Padding(1)}},
		{[]int{2, 40, 6, 7}, []int{130, 20, 3, 2}, []amp.WindowOption{amp.Groups(2), amp.Dilation(2, 1), amp.Padding(2, 0)}},
		{[]int{4, 24, 8, 8}, []int{32, 24, 1, 1}, []amp.WindowOption{amp.Stride(2)}},
		{[]int{3, 17, 7, 5}, []int{18, 17, 4, 2}, []amp.WindowOption{amp.SamePadding()}},
		{[]int{2, 64, 4, 4}, []int{80, 64, 3, 3}, []amp.WindowOption{amp.Padding(1)}},
		{[]int{2, 16, 5, 6}, []int{16, 16, 2, 2}, []amp.WindowOption{amp.Padding(3), amp.Stride(3, 2)}},
		{[]int{3, 16, 41}, []int{16, 16, 5}, []amp.WindowOption{amp.Padding(2)}},
		{[]int{2, 16, 3, 4, 5}, []int{16, 16, 2, 3, 2}, []amp.WindowOption{amp.Padding(1, 0, 1), amp.Stride(1, 2, 1)}},
	} {
		for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
			t.Run(fmt.Sprintf("%d %v", i, dt), func(t *testing.T) {
				x, w, bias := wholes(r, volume(c.x)), wholes(r, volume(c.w)), wholes(r, c.w[0])
				var dy []float64
				run := func(on string, dt amp.DType) (results [][]float64) {
					s := amp.NewScope(amp.On(on))
					defer s.Close()
					leaf := func(v []float64, shape ...int) *amp.Tensor { return placed(s, dt, v, shape...).RequireGrad() }
					in := []*amp.Tensor{leaf(x, c.x...), leaf(w, c.w...), leaf(bias, c.w[0])}
					f := map[int]func(*amp.Scope, *amp.Tensor, *amp.Tensor, *amp.Tensor, ...amp.WindowOption) *amp.Tensor{3: amp.Conv1d, 4: amp.Conv2d, 5: amp.Conv3d}[len(c.x)]
					y := f(s, in[0], in[1], in[2], c.opts...)
					if dy == nil {
						dy = wholes(r, y.Len())
					}
					// The sum in float64: a product of halves would round it, not the gradients.
					amp.Sum(s, amp.To(s, amp.Mul(s, y, placed(s, dt, dy, y.Shape()...)), amp.Float64)).Backward()
					results = append(results, y.Float64s())
					for _, l := range in[:2] {
						results = append(results, l.Grad().Float64s())
					}
					return results
				}
				want, got := run("cpu", amp.Float64), run(device, dt)
				for k, list := range want {
					for i, v := range list {
						if got[k][i] != v {
							t.Fatalf("list %d element %d is %v, want %v", k, i, got[k][i], v)
						}
					}
				}
			})
		}
	}
	square, flat := watch.seen[[2]uint32{128, 4 * 16384}], watch.seen[[2]uint32{128, 4 * 20480}]
	if square < 10 || flat < 30 {
		t.Errorf("threads and shared memory of the launches: %v", watch.seen)
	}
}

// TestConvolutionsInLittleRoom: a device with less shared memory has room for one block, or for fewer stages.
func TestConvolutionsInLittleRoom(t *testing.T) {
	device := gpu(t)
	defer cudart.UseCuDNN(cudart.UseCuDNN(false))
	defer cudart.SetShared(device, 101376)()
	watch := &launchWatch{seen: map[[2]uint32]int{}}
	defer cudart.WrapDriver(device, func(drv driver.Driver) driver.Driver { watch.Driver = drv; return watch })()
	r := rand.New(rand.NewPCG(5, 6))
	for _, m := range []int{16, 80} {
		x, w := wholes(r, 2*16*6*6), wholes(r, m*16*9)
		run := func(on string, dt amp.DType) []float64 {
			s := amp.NewScope(amp.On(on)).NoGrad()
			defer s.Close()
			return amp.Conv2d(s, placed(s, dt, x, 2, 16, 6, 6), placed(s, dt, w, m, 16, 3, 3), nil, amp.Padding(1)).Float64s()
		}
		if i := farApart(run("cpu", amp.Float64), run(device, amp.Float16), 0, 0); i >= 0 {
			t.Errorf("%d channels: element %d differs", m, i)
		}
	}
	if watch.seen[[2]uint32{128, 3 * 16384}] != 1 || watch.seen[[2]uint32{128, 4 * 20480}] != 1 {
		t.Errorf("threads and shared memory of the launches: %v", watch.seen)
	}
}

func volume(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
