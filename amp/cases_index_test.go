package amp

// linearCase is a case of a row that is linear in its one float input.
func linearCase(name string, f func(*Scope, *Tensor) *Tensor, shape ...int) opCase {
	c := unaryCase(f, in(-2, 2, shape...))
	c.name, c.flat = name, true
	return c
}

func init() {
	index := func() *Tensor { return fixed([]int64{2, 0, 2, 1}) }
	addCases(map[string][]opCase{
		"masked_fill": {
			linearCase("", func(s *Scope, x *Tensor) *Tensor {
				return MaskedFill(s, x, fixed([]bool{true, false, true, false, false, true}, 2, 3), 1.5)
			}, 2, 3),
			linearCase("wide mask", func(s *Scope, x *Tensor) *Tensor {
				return MaskedFill(s, x, fixed([]bool{true, false, true, false, false, true}, 2, 3), -2)
			}, 2, 1),
			linearCase("narrow mask", func(s *Scope, x *Tensor) *Tensor { return MaskedFill(s, x, fixed([]bool{true, false, true}), 0) }, 2, 2, 3),
		},
		"tril": {
			linearCase("", func(s *Scope, x *Tensor) *Tensor { return Tril(s, x, 0) }, 3, 3),
			linearCase("wide", func(s *Scope, x *Tensor) *Tensor { return Tril(s, x, 1) }, 2, 2, 4),
			linearCase("low", func(s *Scope, x *Tensor) *Tensor { return Tril(s, x, -5) }, 3, 2),
		},
		"triu": {
			linearCase("", func(s *Scope, x *Tensor) *Tensor { return Triu(s, x, 1) }, 3, 3),
			linearCase("tall", func(s *Scope, x *Tensor) *Tensor { return Triu(s, x, -1) }, 2, 4, 2),
		},
		"index_select": {
			linearCase("first", func(s *Scope, x *Tensor) *Tensor { return IndexSelect(s, x, 0, index()) }, 3, 2),
			linearCase("middle", func(s *Scope, x *Tensor) *Tensor { return IndexSelect(s, x, 1, index()) }, 2, 3, 2),
			linearCase("last", func(s *Scope, x *Tensor) *Tensor { return IndexSelect(s, x, -1, index()) }, 2, 3),
		},
		"index_select_backward": {
			linearCase("first", func(s *Scope, x *Tensor) *Tensor {
				return s.apply(opIndexSelectBackward, Attrs{Dims: []int{0}, Shape: []int{3, 2}}, x, index())
			}, 4, 2),
			linearCase("last", func(s *Scope, x *Tensor) *Tensor {
				return s.apply(opIndexSelectBackward, Attrs{Dims: []int{1}, Shape: []int{2, 3}}, x, index())
			}, 2, 4),
		},
		"flip": {
			linearCase("all", func(s *Scope, x *Tensor) *Tensor { return Flip(s, x, 0, 1) }, 2, 3),
			linearCase("middle", func(s *Scope, x *Tensor) *Tensor { return Flip(s, x, 1) }, 2, 3, 2),
		},
		"roll": {
			linearCase("two", func(s *Scope, x *Tensor) *Tensor { return Roll(s, x, []int{1, -2}, []int{0, -1}) }, 2, 3),
			linearCase("flat", func(s *Scope, x *Tensor) *Tensor { return Roll(s, x, []int{2}, nil) }, 2, 3),
		},
		"repeat": {
			linearCase("", func(s *Scope, x *Tensor) *Tensor { return Repeat(s, x, 2, 1, 3) }, 2, 2),
		},
		"repeat_interleave": {
			linearCase("", func(s *Scope, x *Tensor) *Tensor { return RepeatInterleave(s, x, 3, 0) }, 2, 2),
		},
	})
}
