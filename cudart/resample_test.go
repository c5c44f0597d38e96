package cudart_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// A spaceCase is a call that rows of the table's cases are too small for.
type spaceCase struct {
	name   string
	shapes [][]int
	call   func(s *amp.Scope, in []*amp.Tensor) *amp.Tensor
}

func resized(name string, o amp.Interpolation, shape ...int) spaceCase {
	return spaceCase{name, [][]int{shape}, func(s *amp.Scope, in []*amp.Tensor) *amp.Tensor { return amp.Interpolate(s, in[0], o) }}
}

func sampled(name string, o amp.GridSampling, image, grid []int) spaceCase {
	return spaceCase{name, [][]int{image, grid}, func(s *amp.Scope, in []*amp.Tensor) *amp.Tensor {
		return amp.GridSample(s, in[0], in[1], o)
	}}
}

func distances(p float64, a, b []int) spaceCase {
	return spaceCase{fmt.Sprintf("cdist %v", p), [][]int{a, b}, func(s *amp.Scope, in []*amp.Tensor) *amp.Tensor { return amp.Cdist(s, in[0], in[1], p) }}
}

func spaceCases() []spaceCase {
	cases := []spaceCase{
		resized("nearest up", amp.Interpolation{Size: []int{31, 18}}, 2, 3, 13, 17),
		resized("nearest by scale", amp.Interpolation{Scale: []float64{2.3, 0.7}}, 1, 2, 13, 17),
		resized("exact", amp.Interpolation{Size: []int{300}, Mode: "nearest-exact"}, 2, 2, 257),
		resized("linear", amp.Interpolation{Size: []int{700}, Mode: "linear"}, 1, 2, 301),
		resized("bilinear down", amp.Interpolation{Size: []int{5, 40}, Mode: "bilinear"}, 2, 2, 33, 19),
		resized("bilinear corners", amp.Interpolation{Size: []int{37, 1}, Mode: "bilinear", AlignCorners: true}, 1, 2, 11, 9),
		resized("trilinear", amp.Interpolation{Scale: []float64{1.5, 2, 0.5}, Mode: "trilinear"}, 1, 2, 5, 7, 9),
		resized("bicubic", amp.Interpolation{Scale: []float64{2}, Mode: "bicubic"}, 1, 2, 15, 11),
		resized("bilinear smooth", amp.Interpolation{Size: []int{4, 50}, Mode: "bilinear", Antialias: true}, 1, 2, 45, 13),
		resized("bicubic smooth", amp.Interpolation{Size: []int{7, 3}, Mode: "bicubic", Antialias: true}, 1, 2, 40, 40),
		{"channels last", [][]int{{2, 9, 7, 3}}, func(s *amp.Scope, in []*amp.Tensor) *amp.Tensor {
			return amp.Interpolate(s, amp.Permute(s, in[0], 0, 3, 1, 2), amp.Interpolation{Size: []int{12, 15}, Mode: "bilinear"})
		}},
		sampled("sample", amp.GridSampling{}, []int{2, 3, 11, 9}, []int{2, 13, 8, 2}),
		sampled("crowded", amp.GridSampling{Padding: "border"}, []int{1, 2, 2, 3}, []int{1, 40, 30, 2}),
		sampled("reflected", amp.GridSampling{Padding: "reflection", Mode: "bicubic"}, []int{2, 2, 6, 7}, []int{2, 9, 9, 2}),
		sampled("volume", amp.GridSampling{Padding: "reflection", AlignCorners: true}, []int{1, 2, 4, 5, 6}, []int{1, 5, 6, 7, 3}),
		{"cross", [][]int{{7, 3, 5}, {1, 3, 1}}, func(s *amp.Scope, in []*amp.Tensor) *amp.Tensor { return amp.Cross(s, in[0], in[1], 1) }},
	}
	for _, p := range []float64{2, 1, 0, 3, math.Inf(1)} {
		cases = append(cases, distances(p, []int{3, 21, 18}, []int{1, 35, 18}))
	}
	return append(cases, distances(2, []int{2, 3}, []int{1100, 3}), distances(1, []int{3, 2}, []int{100, 2}))
}

// run returns the result and the gradients of a case on a device.
func (c spaceCase) run(device string, dt amp.DType) [][]float64 {
	here := amp.NewScope(amp.On("cpu"), amp.Seed(4))
	defer here.Close()
	s := amp.NewScope(amp.On(device))
	defer s.Close()
	var in []*amp.Tensor
	for _, shape := range c.shapes {
		in = append(in, amp.To(here, amp.Rand(here, amp.Float64, -1.3, 1.3, shape...), dt).To(s).RequireGrad())
	}
	y := c.call(s, in)
	weight := amp.To(here, amp.Rand(here, amp.Float64, 0.5, 1.5, y.Shape()...), dt).To(s)
	amp.Sum(s, amp.Mul(s, y, weight)).Backward()
	out := [][]float64{y.Float64s()}
	for _, x := range in {
		if g := x.Grad(); g != nil {
			out = append(out, g.Float64s())
		}
	}
	return out
}

// TestSpaceOnDevice compares resizing, sampling, distances and cross products with the CPU at sizes of several blocks; a second run gives the
// same bits, and nothing runs on the host.
func TestSpaceOnDevice(t *testing.T) {
	device := gpu(t)
	dtypes := map[amp.DType]float64{amp.Float32: 0x1p-24, amp.Float64: 0x1p-53, amp.Float16: 0x1p-11, amp.BFloat16: 0x1p-8}
	before := cudart.Fallbacks()
	for i, c := range spaceCases() {
		for dt, eps := range dtypes {
			if dt.IsHalf() && i%4 != 0 {
				continue
			}
			t.Run(fmt.Sprint(c.name, " ", dt), func(t *testing.T) {
				want, got, again := c.run("cpu", dt), c.run(device, dt), c.run(device, dt)
				for k := range want {
					if !slices.EqualFunc(got[k], again[k], func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
						t.Errorf("list %d differs from run to run", k)
					}
					largest := 0.0
					for _, v := range want[k] {
						largest = max(largest, math.Abs(v))
					}
					for j, v := range want[k] {
						if !(math.Abs(got[k][j]-v) <= 16*eps*largest) {
							t.Fatalf("list %d element %d is %v, on the CPU %v", k, j, got[k][j], v)
						}
					}
				}
			})
		}
	}
	after := cudart.Fallbacks()
	for _, row := range []string{"grid_sample", "grid_sample_backward", "cdist", "cdist_backward", "cross", "upsample_nearest2d", "upsample_bilinear2d_backward", "_upsample_bicubic2d_aa"} {
		if after[row] != before[row] {
			t.Errorf("%s ran on the host", row)
		}
	}
}
