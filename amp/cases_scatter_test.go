package amp

func init() {
	index := func() *Tensor { return fixed([]int64{2, 0, 2, 1, 1, 1}, 3, 2) }
	list := func() *Tensor { return fixed([]int64{2, 0, 2}) }
	flat := func(c opCase) opCase { c.flat = true; return c }
	addCases(map[string][]opCase{
		"scatter": {
			flat(binaryCase("", func(s *Scope, x, src *Tensor) *Tensor { return Scatter(s, x, 0, index(), src) }, in(-2, 2, 3, 3), in(-2, 2, 3, 2))),
			flat(binaryCase("part", func(s *Scope, x, src *Tensor) *Tensor { return Scatter(s, x, -1, index(), src) }, in(-2, 2, 4, 3), in(-2, 2, 4, 3))),
		},
		"scatter_value": {linearCase("", func(s *Scope, x *Tensor) *Tensor { return ScatterValue(s, x, 0, index(), 1.5) }, 3, 3)},
		"scatter_add": {
			flat(binaryCase("", func(s *Scope, x, src *Tensor) *Tensor { return ScatterAdd(s, x, 0, index(), src) }, in(-2, 2, 3, 3), in(-2, 2, 3, 2))),
			flat(binaryCase("part", func(s *Scope, x, src *Tensor) *Tensor { return ScatterAdd(s, x, 1, index(), src) }, in(-2, 2, 4, 3), in(-2, 2, 4, 3))),
		},
		"index_add": {
			flat(binaryCase("", func(s *Scope, x, src *Tensor) *Tensor { return IndexAdd(s, x, 0, list(), src, 1) }, in(-2, 2, 3, 2), in(-2, 2, 3, 2))),
			flat(binaryCase("alpha", func(s *Scope, x, src *Tensor) *Tensor { return IndexAdd(s, x, -1, list(), src, 0.5) }, in(-2, 2, 2, 4), in(-2, 2, 2, 3))),
		},
		"index_copy": {flat(binaryCase("", func(s *Scope, x, src *Tensor) *Tensor { return IndexCopy(s, x, 1, list(), src) }, in(-2, 2, 2, 4), in(-2, 2, 2, 3)))},
		"index_fill": {linearCase("", func(s *Scope, x *Tensor) *Tensor { return IndexFill(s, x, 0, list(), 1.5) }, 4, 2)},
		"index": {
			linearCase("", func(s *Scope, x *Tensor) *Tensor {
				return Index(s, x, fixed([]int64{1, 0, -1}), fixed([]int64{2, 2, 2}))
			}, 3, 4, 2),
			linearCase("broadcast", func(s *Scope, x *Tensor) *Tensor {
				return Index(s, x, fixed([]int64{1, 0}, 2, 1), fixed([]int64{3, 0, 1}))
			}, 2, 4),
		},
		"index_put": {
			flat(binaryCase("add", func(s *Scope, x, v *Tensor) *Tensor {
				return IndexPut(s, x, []*Tensor{fixed([]int64{1, 0, 1}), fixed([]int64{2, 2, 2})}, v, true)
			}, in(-2, 2, 2, 3, 2), in(-2, 2, 3, 2))),
			flat(binaryCase("write", func(s *Scope, x, v *Tensor) *Tensor {
				return IndexPut(s, x, []*Tensor{fixed([]int64{1, -2, 1})}, v, false)
			}, in(-2, 2, 2, 3), in(-2, 2, 3))),
		},
		"take_along_dim": {linearCase("", func(s *Scope, x *Tensor) *Tensor { return TakeAlongDim(s, x, fixed([]int64{2, 0}, 1, 2), 1) }, 2, 3)},
	})
}
