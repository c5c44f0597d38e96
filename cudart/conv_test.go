package cudart_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A convCase is a convolution, or a transposed one.
type convCase struct {
	transposed bool
	x, w       []int
	opts       []amp.WindowOption
	groups     int // 0 is 1
}

func windows(opts ...amp.WindowOption) []amp.WindowOption { return opts }

// equal compares the convolution in dt and its gradients with exact sums, bit for bit.
func (c convCase) equal(t *testing.T, device string, r *rand.Rand, dt amp.DType) {
	t.Helper()
	outs := c.w[0]
	if c.transposed {
		outs = c.w[1] * max(c.groups, 1)
	}
	type conv = func(*amp.Scope, *amp.Tensor, *amp.Tensor, *amp.Tensor, ...amp.WindowOption) *amp.Tensor
	f := []conv{amp.Conv1d, amp.Conv2d, amp.Conv3d}[len(c.x)-3]
	if c.transposed {
		f = []conv{amp.ConvTranspose1d, amp.ConvTranspose2d, amp.ConvTranspose3d}[len(c.x)-3]
	}
	var dy []float64
	x, w, bias := wholes(r, volume(c.x)), wholes(r, volume(c.w)), wholes(r, outs)
	run := func(on string, dt amp.DType) (results [][]float64) {
		s := amp.NewScope(amp.On(on))
		defer s.Close()
		leaf := func(v []float64, shape ...int) *amp.Tensor { return placed(s, dt, v, shape...).RequireGrad() }
		in := []*amp.Tensor{leaf(x, c.x...), leaf(w, c.w...), leaf(bias, outs)}
		y := f(s, in[0], in[1], in[2], append(c.opts, amp.Groups(max(c.groups, 1)))...)
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
}

// convCases have channels that fill pieces of 16 bytes and do not, groups, strides, dilations, paddings before and behind, planes of any size and
// split sums.
var convCases = []convCase{
	{x: []int{3, 16, 8, 8}, w: []int{24, 16, 3, 3}, opts: windows(amp.Padding(1))},
	{x: []int{2, 32, 9, 11}, w: []int{72, 32, 3, 3}, opts: windows(amp.Padding(1), amp.Stride(2))},
	{x: []int{5, 3, 12, 12}, w: []int{16, 3, 3, 3}, opts: windows(amp.Padding(1))},
	{x: []int{2, 40, 6, 7}, w: []int{130, 20, 3, 2}, opts: windows(amp.Dilation(2, 1), amp.Padding(2, 0)), groups: 2},
	{x: []int{4, 24, 8, 8}, w: []int{32, 24, 1, 1}, opts: windows(amp.Stride(2))},
	{x: []int{3, 17, 7, 5}, w: []int{18, 17, 4, 2}, opts: windows(amp.SamePadding())},
	{x: []int{2, 64, 4, 4}, w: []int{80, 64, 3, 3}, opts: windows(amp.Padding(1))},
	{x: []int{2, 16, 5, 6}, w: []int{16, 16, 2, 2}, opts: windows(amp.Padding(3), amp.Stride(3, 2))},
	{x: []int{3, 16, 41}, w: []int{16, 16, 5}, opts: windows(amp.Padding(2))},
	{x: []int{2, 16, 3, 4, 5}, w: []int{16, 16, 2, 3, 2}, opts: windows(amp.Padding(1, 0, 1), amp.Stride(1, 2, 1))},
	{x: []int{2, 19, 13}, w: []int{67, 19, 3}, opts: windows(amp.Stride(3), amp.Padding(1), amp.Dilation(2))},
	{x: []int{1, 34, 9, 9}, w: []int{38, 17, 3, 3}, opts: windows(amp.Stride(2), amp.Padding(1), amp.Dilation(2)), groups: 2},
}

// strideCases have phases of every kind: with more taps and fewer, without any, without positions, more of them than a launch takes, with positions
// behind the elements of x and before them, with split sums.
var strideCases = []convCase{
	{transposed: true, x: []int{2, 24, 5, 6}, w: []int{24, 20, 3, 3}, opts: windows(amp.Stride(2), amp.Padding(1), amp.OutputPadding(1))},
	{transposed: true, x: []int{2, 32, 4, 5}, w: []int{32, 17, 4, 4}, opts: windows(amp.Stride(2), amp.Padding(1)), groups: 2},
	{transposed: true, x: []int{1, 16, 7, 7}, w: []int{16, 70, 2, 2}, opts: windows(amp.Stride(2))},
	{transposed: true, x: []int{3, 16, 5, 5}, w: []int{16, 16, 1, 1}, opts: windows(amp.Stride(2))},
	{transposed: true, x: []int{2, 17, 4, 3}, w: []int{17, 18, 5, 4}, opts: windows(amp.Stride(3), amp.Padding(2, 1))},
	{transposed: true, x: []int{2, 16, 5, 4}, w: []int{16, 16, 3, 3}, opts: windows(amp.Stride(2, 3), amp.Dilation(2, 3), amp.Padding(1, 2))},
	{transposed: true, x: []int{2, 16, 4, 4}, w: []int{16, 16, 3, 2}, opts: windows(amp.Stride(4, 6), amp.Dilation(6, 4), amp.OutputPadding(3, 2))},
	{transposed: true, x: []int{2, 16, 9}, w: []int{16, 24, 3}, opts: windows(amp.Stride(4), amp.Padding(6))},
	{transposed: true, x: []int{1, 160, 3, 3}, w: []int{160, 16, 4, 4}, opts: windows(amp.Stride(2), amp.Padding(1))},
	{transposed: true, x: []int{1, 16, 3, 2, 3}, w: []int{16, 16, 3, 3, 2}, opts: windows(amp.Stride(2, 2, 3), amp.Padding(1, 1, 0))},
	{transposed: true, x: []int{1, 20, 2, 3, 3}, w: []int{20, 16, 3, 2, 3}, opts: windows(amp.Stride(3, 1, 3), amp.OutputPadding(1, 0, 2))},
	{transposed: true, x: []int{2, 16, 6, 6}, w: []int{16, 24, 3, 3}, opts: windows(amp.Padding(2), amp.Dilation(2))},
	{x: []int{1, 16, 12, 13}, w: []int{16, 16, 2, 3}, opts: windows(amp.Stride(5, 4), amp.Padding(1))},
	{x: []int{2, 16, 1, 7}, w: []int{16, 16, 1, 3}, opts: windows(amp.Stride(3))},
}

// TestConvolutionsOnTensorCores compares convolutions of halves, in blocks of both forms.
func TestConvolutionsOnTensorCores(t *testing.T) {
	device := tensorCores(t)
	defer cudart.UseCuDNN(cudart.UseCuDNN(false))
	watch := &launchWatch{seen: map[[2]uint32]int{}}
	defer cudart.WrapDriver(device, func(drv driver.Driver) driver.Driver { watch.Driver = drv; return watch })()
	r := rand.New(rand.NewPCG(3, 4))
	for i, c := range convCases {
		for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
			t.Run(fmt.Sprintf("%d %v", i, dt), func(t *testing.T) { c.equal(t, device, r, dt) })
		}
	}
	square, flat := watch.seen[[2]uint32{128, 4 * 16384}], watch.seen[[2]uint32{128, 4 * 20480}]
	if square < 10 || flat < 30 {
		t.Errorf("threads and shared memory of the launches: %v", watch.seen)
	}
}

// TestConvolutionsWithStride compares transposed convolutions, forward and as gradients, by their phases.
func TestConvolutionsWithStride(t *testing.T) {
	device := gpu(t)
	defer cudart.UseCuDNN(cudart.UseCuDNN(false))
	r := rand.New(rand.NewPCG(9, 10))
	for i, c := range strideCases {
		for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32} {
			t.Run(fmt.Sprintf("%d %v", i, dt), func(t *testing.T) { c.equal(t, device, r, dt) })
		}
	}
}

// TestConvolutionsOfFloat32 compares them in blocks of all three forms.
func TestConvolutionsOfFloat32(t *testing.T) {
	device := gpu(t)
	defer cudart.UseCuDNN(cudart.UseCuDNN(false))
	for _, tiles := range []int{1, 128} {
		defer cudart.FewTiles(tiles)()
		r := rand.New(rand.NewPCG(7, 8))
		for i, c := range append(convCases[:len(convCases):len(convCases)], strideCases[:5]...) {
			t.Run(fmt.Sprintf("%d from %d tiles", i, tiles), func(t *testing.T) { c.equal(t, device, r, amp.Float32) })
		}
	}
}

// TestConvolutionsInLittleRoom: a device with less shared memory has room for one block, or for fewer stages.
func TestConvolutionsInLittleRoom(t *testing.T) {
	device := tensorCores(t)
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
