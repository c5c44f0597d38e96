package cudart

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestDividers: the multiplication is the division, for all that the kernels divide.
func TestDividers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200_000 {
		by := 1 + i
		if i > 3000 {
			by = 1 + int(r.Uint32()>>(1+r.UintN(31)))
		}
		d := dividerOf(by)
		for _, n := range []uint32{0, uint32(by) - 1, uint32(by), r.Uint32() >> 1, r.Uint32() >> 1 / uint32(by) * uint32(by), r.Uint32() >> r.UintN(31) >> 1, 1<<31 - 1} {
			if n >= 1<<31 {
				continue
			}
			got := n
			if d.by != 1 {
				got = uint32(uint64(n)*uint64(d.times)>>32) >> d.shift
			}
			if want := n / uint32(by); got != want {
				t.Fatalf("%d / %d is %d, want %d", n, by, got, want)
			}
		}
	}
}

// TestPhases: the phases of a transposed convolution hold every position once, and every tap of a position with the element of x that it meets.
func TestPhases(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		p := &convArgs{mode: convTranspose}
		for d := range 3 {
			p.kernel[d], p.dilation[d], p.stride[d], p.padding[d], p.grid[d] = 1, 1, 1, 0, 1
		}
		kernel, dilation, stride, padding, grid := 1+r.IntN(7), 1+r.IntN(6), 1+r.IntN(6), r.IntN(9), 1+r.IntN(12)
		p.kernel[1], p.dilation[1], p.stride[1], p.padding[1], p.grid[1] = int32(kernel), int32(dilation), int32(stride), int32(padding), int32(grid)
		on := p.meets(1, 4)
		positions, met := make([]int, grid), map[[3]int]bool{}
		for f := range p.phases {
			d := f[1]
			if d.taps > p.room() {
				t.Fatalf("%+v has more taps than there is room for", d)
			}
			for i := range d.count {
				o := d.first + i*stride
				positions[o]++
				for k := range d.taps { // in the order of packed filters
					tap, q := d.tap+(d.taps-1-k)*p.period(1), d.at+i*int(on.step[1])+k*int(on.tap[1])
					if at := q + int(on.before[1]); at < 0 || at >= int(on.size[1]) {
						t.Fatalf("%+v, stride %d, padding %d, %d positions: element %d lies outside of the copy", d, stride, padding, grid, q)
					}
					met[[3]int{o, tap, q}] = true
				}
			}
		}
		var want int
		for o := range grid {
			for tap := range kernel {
				if u := o + padding - tap*dilation; u%stride == 0 {
					want++
					if !met[[3]int{o, tap, u / stride}] {
						t.Fatalf("kernel %d, dilation %d, stride %d, padding %d: position %d does not meet tap %d", kernel, dilation, stride, padding, o, tap)
					}
				}
			}
			if positions[o] != 1 {
				t.Fatalf("kernel %d, dilation %d, stride %d, padding %d: position %d is in %d phases", kernel, dilation, stride, padding, o, positions[o])
			}
		}
		if want != len(met) {
			t.Fatalf("kernel %d, dilation %d, stride %d, padding %d: %d pairs, want %d", kernel, dilation, stride, padding, len(met), want)
		}
	}
}

// TestConvolutionKernels: which kernels compute a convolution and its gradients without cuDNN.
func TestConvolutionKernels(t *testing.T) {
	defer SetDNNFrom(-1)()
	for _, c := range []struct {
		name  string
		dt    amp.DType
		x, w  []int
		opts  []amp.WindowOption
		lists string
	}{
		{"few channels", amp.Float32, []int{64, 64, 32, 32}, []int{64, 64, 3, 3}, []amp.WindowOption{amp.Padding(1)},
			"images_w32 weights_w32 pieces_flat_f32 images_w32 weights_w32 pieces_flat_f32 images_w32 images_w32 pieces_weight_flat_f32 pieces_weight_sum_f32"},
		{"stride", amp.Float32, []int{64, 128, 32, 32}, []int{256, 128, 3, 3}, []amp.WindowOption{amp.Padding(1), amp.Stride(2)},
			"images_w32 weights_w32 pieces_f32 images_w32 weights_w32 pieces_f32 images_w32 images_w32 pieces_weight_f32 pieces_weight_sum_f32"},
		{"small", amp.Float32, []int{2, 16, 8, 8}, []int{24, 16, 3, 3}, nil,
			"images_w32 weights_w32 pieces_small_f32 images_w32 weights_w32 pieces_small_f32 images_w32 images_w32 pieces_weight_small_f32"},
		{"phases of several launches", amp.Float16, []int{16, 64, 33, 33}, []int{128, 64, 3, 3}, []amp.WindowOption{amp.Stride(3)},
			"images_w16 weights_w16 cores_f16 cores_sum_f16 images_w16 weights_w16 cores_flat_f16 cores_flat_f16 images_w16 images_w16 cores_weight_f16 cores_weight_sum_f16"},
		{"depthwise", amp.Float32, []int{2, 16, 8, 8}, []int{16, 1, 3, 3}, []amp.WindowOption{amp.Groups(16)}, "f32 f32 f32"},
		{"float64", amp.Float64, []int{2, 16, 8, 8}, []int{24, 16, 3, 3}, nil, "f64 f64 f64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _, s := onRecorder(t)
			x, w := amp.Full(s, c.dt, 0, c.x...).RequireGrad(), amp.Full(s, c.dt, 0, c.w...).RequireGrad()
			y := amp.Conv2d(s, x, w, nil, c.opts...)
			amp.Sum(s, y).Backward()
			var list []string
			for _, l := range r.list {
				if rest, ok := strings.CutPrefix(l.kernel, "conv_"); ok {
					list = append(list, strings.TrimPrefix(rest, "pack_"))
				}
			}
			if got := strings.Join(list, " "); got != c.lists {
				t.Errorf("%s\nwant %s", got, c.lists)
			}
		})
	}
}
