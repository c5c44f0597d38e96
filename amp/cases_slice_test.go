package amp

func init() {
	addCases(map[string][]opCase{
		"slice": {
			linearCase("", func(s *Scope, x *Tensor) *Tensor { return Slice(s, x, 1, 1, 6, 2) }, 2, 6),
			linearCase("turned", func(s *Scope, x *Tensor) *Tensor { return Slice(s, Transpose(s, x, 0, 1), 0, -3, 9, 2) }, 2, 5),
		},
		"slice_backward": {linearCase("", func(s *Scope, x *Tensor) *Tensor {
			return s.apply(opSliceBackward, Attrs{Dims: []int{1, 3}, Start: 1, Shape: []int{2, 8}}, x)
		}, 2, 3)},
		"select":    {linearCase("", func(s *Scope, x *Tensor) *Tensor { return Select(s, x, 1, -1) }, 2, 3, 2)},
		"squeeze":   {linearCase("", func(s *Scope, x *Tensor) *Tensor { return Squeeze(s, x) }, 1, 2, 1, 3), linearCase("one", func(s *Scope, x *Tensor) *Tensor { return Squeeze(s, x, -2) }, 1, 2, 1, 3)},
		"unsqueeze": {linearCase("", func(s *Scope, x *Tensor) *Tensor { return Unsqueeze(s, x, -1) }, 2, 3)},
	})
}
