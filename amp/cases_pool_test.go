package amp

// poolFunc is the form of the pools with a window.
type poolFunc func(s *Scope, x *Tensor, kernel int, opts ...WindowOption) *Tensor

// poolCase calls a pool; the elements of x are distinct by more than the step of differences.
func poolCase(name string, f poolFunc, kernel int, opts []WindowOption, shape ...int) opCase {
	return opCase{name: name, inputs: []input{in(-2, 2, shape...)}, flat: true, terms: 30, call: func(s *Scope, x []*Tensor) *Tensor { return f(s, x[0], kernel, opts...) }}
}

func adaptiveCase(f func(s *Scope, x *Tensor, size ...int) *Tensor, size []int, shape ...int) opCase {
	return opCase{inputs: []input{in(-2, 2, shape...)}, flat: true, terms: 30, call: func(s *Scope, x []*Tensor) *Tensor { return f(s, x[0], size...) }}
}

// oneSize gives the one-dimensional pools the form of the others.
func oneSize(f func(s *Scope, x *Tensor, size int) *Tensor) func(s *Scope, x *Tensor, size ...int) *Tensor {
	return func(s *Scope, x *Tensor, size ...int) *Tensor { return f(s, x, size[0]) }
}

func init() {
	index := func() *Tensor { return fixed([]int64{3, 0, 3, -1, 1, 2}, 1, 2, 3) }
	flat := func(c opCase) opCase { c.flat = true; return c }
	addCases(map[string][]opCase{
		"max_pool1d": {poolCase("", MaxPool1d, 2, options(Stride(1), Padding(1), Dilation(2)), 2, 2, 5)},
		"max_pool2d": {
			poolCase("plain", MaxPool2d, 2, nil, 1, 2, 4, 5),
			poolCase("overlap", MaxPool2d, 3, options(Stride(2), Padding(1), CeilMode()), 1, 1, 4, 4),
			poolCase("unbatched", MaxPool2d, 1, options(Kernel(1, 2)), 2, 2, 4),
		},
		"max_pool3d":          {poolCase("", MaxPool3d, 2, nil, 1, 1, 2, 4, 3)},
		"avg_pool1d":          {poolCase("", AvgPool1d, 3, options(Stride(1), Padding(1)), 2, 2, 4)},
		"avg_pool3d":          {poolCase("", AvgPool3d, 2, options(Stride(1, 2, 1)), 1, 1, 2, 4, 3)},
		"adaptive_avg_pool1d": {adaptiveCase(oneSize(AdaptiveAvgPool1d), []int{3}, 1, 2, 5)},
		"adaptive_avg_pool2d": {adaptiveCase(AdaptiveAvgPool2d, []int{2, 3}, 1, 2, 3, 4), adaptiveCase(AdaptiveAvgPool2d, []int{1}, 2, 2, 3)},
		"adaptive_avg_pool3d": {adaptiveCase(AdaptiveAvgPool3d, []int{2}, 1, 1, 2, 3, 1)},
		"adaptive_max_pool1d": {adaptiveCase(oneSize(AdaptiveMaxPool1d), []int{3}, 1, 2, 5)},
		"adaptive_max_pool2d": {adaptiveCase(AdaptiveMaxPool2d, []int{2, 3}, 1, 2, 3, 4)},
		"adaptive_max_pool3d": {adaptiveCase(AdaptiveMaxPool3d, []int{2}, 1, 1, 2, 3, 1)},
		"max_unpool2d": {
			flat(unaryCase(func(s *Scope, x *Tensor) *Tensor {
				return MaxUnpool2d(s, x, fixed([]int64{5, 2, 8, 11, 0, 7}, 1, 2, 1, 3), 2, Kernel(2, 2), Stride(2, 2))
			}, in(-2, 2, 1, 2, 1, 3))),
			flat(opCase{name: "size and twice", inputs: []input{in(-2, 2, 2, 2, 2)}, call: func(s *Scope, x []*Tensor) *Tensor {
				return MaxUnpool2d(s, x[0], fixed([]int64{3, 3, 0, 14, 14, 14, 1, 2}, 2, 2, 2), 2, Padding(1), Stride(3), OutputSize(3, 5))
			}}),
			flat(opCase{name: "1d", inputs: []input{in(-2, 2, 2, 1, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
				return MaxUnpool1d(s, x[0], fixed([]int64{1, 2, 4, 0, 3, 5}, 2, 1, 3), 2)
			}}),
		},
		"max_unpool3d": {flat(unaryCase(func(s *Scope, x *Tensor) *Tensor {
			return MaxUnpool3d(s, x, fixed([]int64{3, 9, 14, 8}, 1, 2, 1, 1, 2), 2)
		}, in(-2, 2, 1, 2, 1, 1, 2)))},
		"max_pool_values": {{inputs: []input{in(-2, 2, 1, 2, 2, 2)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor {
			return s.apply(opPoolValues, Attrs{}, Contiguous(s, x[0]), index())
		}}},
		"max_pool_backward": {{inputs: []input{in(-2, 2, 1, 2, 3)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor {
			return s.apply(opPoolScatter, Attrs{Shape: []int{1, 2, 2, 2}}, Contiguous(s, x[0]), index())
		}}},
		"avg_pool2d": {
			poolCase("plain", AvgPool2d, 2, nil, 1, 2, 4, 5),
			poolCase("padding", AvgPool2d, 3, options(Stride(2), Padding(1), CeilMode()), 1, 1, 4, 4),
			poolCase("without padding", AvgPool2d, 3, options(Stride(2), Padding(1), ExcludePadding()), 1, 1, 4, 4),
			poolCase("divisor", AvgPool2d, 2, options(Divisor(3)), 2, 4, 4),
		},
		"avg_pool_backward": {{inputs: []input{in(-2, 2, 1, 2, 2, 2)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor {
			w := poolWindow("avg_pool2d", 2, 2, nil, nil)
			return s.apply(opAvgPoolBackward, Attrs{Window: &w.Window, Dims: []int{1, 2, 4, 5}}, Contiguous(s, x[0]))
		}}, {name: "adaptive", inputs: []input{in(-2, 2, 1, 2, 2)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor {
			return s.apply(opAvgPoolBackward, Attrs{Shape: []int{2}, Dims: []int{1, 2, 5}}, Contiguous(s, x[0]))
		}}},
	})
}
