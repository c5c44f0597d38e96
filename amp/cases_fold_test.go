package amp

func init() {
	blocks := Blocks{Kernel: []int{2, 3}, Stride: []int{2, 1}, Padding: []int{1, 0}, Dilation: []int{1, 2}}
	addCases(map[string][]opCase{
		"unfold":          {linearCase("", func(s *Scope, x *Tensor) *Tensor { return Unfold(s, x, blocks) }, 1, 2, 2, 6)},
		"fold":            {linearCase("", func(s *Scope, x *Tensor) *Tensor { return Fold(s, x, []int{2, 6}, blocks) }, 1, 12, 4)},
		"pixel_shuffle":   {linearCase("", func(s *Scope, x *Tensor) *Tensor { return PixelShuffle(s, x, 2) }, 1, 8, 2, 1)},
		"pixel_unshuffle": {linearCase("", func(s *Scope, x *Tensor) *Tensor { return PixelUnshuffle(s, x, 2) }, 1, 2, 2, 4)},
		"logcumsumexp": {
			unaryCase(func(s *Scope, x *Tensor) *Tensor { return LogCumSumExp(s, x, 1) }, in(-2, 2, 2, 4)),
			{name: "first", inputs: []input{in(-2, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return LogCumSumExp(s, x[0], 0) }},
		},
		"quantile": {
			linearCase("", func(s *Scope, x *Tensor) *Tensor { return Quantile(s, x, []float64{0.25, 0.9, 1}, -1) }, 2, 4),
			linearCase("first", func(s *Scope, x *Tensor) *Tensor { return Quantile(s, x, []float64{0.4}, 0) }, 3, 2),
		},
		"masked_select": {linearCase("", func(s *Scope, x *Tensor) *Tensor {
			return MaskedSelect(s, x, fixed([]bool{true, false, true}))
		}, 2, 3)},
	})
}
