package amp

func init() {
	pad := func(mode string, pads ...int) func(*Scope, *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor { return Pad(s, x, pads, mode, 1.5) }
	}
	back := func(mode string, shape []int, pads ...int) func(*Scope, *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor {
			return s.apply(opPadBackward, Attrs{Mode: mode, Shape: pads, Dims: shape}, x)
		}
	}
	addCases(map[string][]opCase{
		"constant_pad_nd": {
			linearCase("", pad("constant", 1, 2), 2, 3),
			linearCase("crop", pad("constant", -1, 0, 1, -1, 0, 2), 2, 3, 3),
		},
		"reflection_pad1d":  {linearCase("", pad("reflect", 2, 1), 2, 3), linearCase("crop", pad("reflect", 2, -1), 2, 2, 3)},
		"reflection_pad2d":  {linearCase("", pad("reflect", 2, 1, 1, 1), 2, 2, 3)},
		"reflection_pad3d":  {linearCase("", pad("reflect", 1, 0, 0, 1, 1, 1), 2, 2, 2, 2)},
		"replication_pad1d": {linearCase("", pad("replicate", 2, 3), 2, 2)},
		"replication_pad2d": {linearCase("", pad("replicate", 2, 1, 1, 1), 2, 2, 2)},
		"replication_pad3d": {linearCase("", pad("replicate", 1, 0, 0, 1, 2, 0), 1, 2, 2, 2)},
		"_pad_circular":     {linearCase("", pad("circular", 2, 3), 2, 3), linearCase("plane", pad("circular", 1, 0, 1, 2), 2, 2, 3)},
		"pad_backward": {
			linearCase("reflect", back("reflect", []int{2, 3}, 2, 1), 2, 6),
			linearCase("replicate", back("replicate", []int{1, 2, 2}, 1, 1, 0, 2), 1, 4, 4),
			linearCase("circular", back("circular", []int{2, 3}, 2, -1), 2, 4),
		},
	})
}
