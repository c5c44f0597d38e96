package amp

func init() {
	sample := func(name string, o GridSampling, lo, hi float64, image, grid []int) opCase {
		c := binaryCase(name, func(s *Scope, x, g *Tensor) *Tensor { return GridSample(s, x, g, o) }, in(-2, 2, image...), in(lo, hi, grid...))
		c.flat = o.Mode == "nearest"
		return c
	}
	image, grid := []int{1, 2, 3, 4}, []int{1, 2, 2, 2}
	back := func(mode string, orders []int) func(*Scope, *Tensor, *Tensor) *Tensor {
		return func(s *Scope, dy, g *Tensor) *Tensor {
			return s.apply(opGridSampleBackward, Attrs{Mode: mode, Dims: orders, Shape: image}, dy, g)
		}
	}
	addCases(map[string][]opCase{
		"grid_sample": {
			sample("", GridSampling{}, -1.2, 1.2, image, grid),
			sample("border", GridSampling{Padding: "border", AlignCorners: true}, -1.3, 1.3, image, grid),
			sample("reflection", GridSampling{Padding: "reflection"}, -1.7, 1.7, image, grid),
			sample("cubic", GridSampling{Mode: "bicubic"}, -0.9, 0.9, image, grid),
			sample("cubic reflection", GridSampling{Mode: "bicubic", Padding: "reflection", AlignCorners: true}, -1.4, 1.4, image, grid),
			sample("nearest", GridSampling{Mode: "nearest"}, -0.9, 0.9, image, grid),
			sample("volume", GridSampling{AlignCorners: true}, -1.1, 1.1, []int{1, 2, 2, 3, 2}, []int{1, 1, 2, 2, 3}),
		},
		"grid_sample_backward": {
			binaryCase("", back("bilinear zeros", []int{0, 0}), in(-2, 2, 1, 2, 2, 2), in(-0.9, 0.9, grid...)),
			binaryCase("derivative", back("bicubic border", []int{0, 1}), in(-2, 2, 1, 2, 2, 2), in(-0.9, 0.9, grid...)),
		},
		"affine_grid": {unaryCase(func(s *Scope, x *Tensor) *Tensor { return AffineGrid(s, x, []int{2, 1, 2, 3}, false) }, in(-1, 1, 2, 2, 3))},
	})
}
