package amp

// Ops that move, choose and repeat.
func init() {
	addTorch(map[string]torchCall{
		"masked_fill":  torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return MaskedFill(s, x[0], x[1], a.float("value")) }),
		"tril":         torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Tril(s, x[0], a.int("diagonal")) }),
		"triu":         torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Triu(s, x[0], a.int("diagonal")) }),
		"index_select": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return IndexSelect(s, x[0], a.int("dim"), x[1]) }),
		"one_hot":      torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return OneHot(s, x[0], a.int("num_classes")) }),
		"flip":         torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Flip(s, x[0], a.ints("dims")...) }),
		"roll": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Roll(s, x[0], a.ints("shifts"), a.ints("dims"))
		}),
		"repeat": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Repeat(s, x[0], a.ints("repeats")...) }),
		"repeat_interleave": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return RepeatInterleave(s, x[0], a.int("repeats"), a.int("dim"))
		}),
		"scatter_value": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return ScatterValue(s, x[0], a.int("dim"), x[1], a.float("value"))
		}),
		"index": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Index(s, x[0], x[1:]...) }),
		"trace": torchUnary(MatrixTrace),
	})
}
