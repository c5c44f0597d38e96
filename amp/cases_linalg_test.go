package amp

// einsumCase runs an equation on operands of shapes; terms bounds the products that one element sums.
func einsumCase(name, equation string, flat bool, shapes ...[]int) opCase {
	c := opCase{name: name, flat: flat, terms: 16, products: len(shapes) > 2, call: func(s *Scope, x []*Tensor) *Tensor { return Einsum(s, equation, x...) }}
	for _, shape := range shapes {
		c.inputs = append(c.inputs, in(-1, 1, shape...))
	}
	return c
}

func init() {
	vec := func(dim int) func(s *Scope, a, b *Tensor) *Tensor {
		return func(s *Scope, a, b *Tensor) *Tensor { return Vecdot(s, a, b, dim) }
	}
	cross := func(dim int) func(s *Scope, a, b *Tensor) *Tensor {
		return func(s *Scope, a, b *Tensor) *Tensor { return Cross(s, a, b, dim) }
	}
	bilinear := func(s *Scope, x []*Tensor) *Tensor { return Bilinear(s, x[0], x[1], x[2], x[3]) }
	addCases(map[string][]opCase{
		"linalg_vecdot": {
			binaryCase("", vec(-1), in(-1, 1, 2, 3), in(-1, 1, 2, 3)),
			binaryCase("first", vec(0), in(-1, 1, 3, 2), in(-1, 1, 3, 2)),
			binaryCase("broadcast", vec(1), in(-1, 1, 2, 3, 2), in(-1, 1, 3, 1)),
		},
		"vdot": {binaryCase("", Vdot, in(-1, 1, 4), in(-1, 1, 4))},
		"cross": {
			binaryCase("", cross(-1), in(-1, 1, 2, 3), in(-1, 1, 2, 3)),
			binaryCase("middle", cross(1), in(-1, 1, 2, 3, 2), in(-1, 1, 1, 3, 2)),
			binaryCase("broadcast", cross(-1), in(-1, 1, 2, 3), in(-1, 1, 1, 3)),
		},
		"tensordot": {
			{name: "two", terms: 6, inputs: []input{in(-1, 1, 2, 3, 2), in(-1, 1, 3, 2, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return TensordotN(s, x[0], x[1], 2) }},
			{name: "lists", terms: 4, inputs: []input{in(-1, 1, 2, 3, 2), in(-1, 1, 2, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return Tensordot(s, x[0], x[1], []int{0, -1}, []int{1, 0}) }},
			binaryCase("outer", func(s *Scope, a, b *Tensor) *Tensor { return TensordotN(s, a, b, 0) }, in(-1, 1, 2), in(-1, 1, 3)),
			binaryCase("one", func(s *Scope, a, b *Tensor) *Tensor { return TensordotN(s, a, b, 1) }, in(-1, 1, 2, 1), in(-1, 1, 3, 2)),
		},
		"multi_dot": {
			{terms: 12, inputs: []input{in(-1, 1, 2, 3), in(-1, 1, 3, 2), in(-1, 1, 2, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return MultiDot(s, x...) }},
			{name: "vectors", terms: 12, inputs: []input{in(-1, 1, 3), in(-1, 1, 3, 2), in(-1, 1, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return MultiDot(s, x...) }},
		},
		"bilinear": {
			{terms: 8, inputs: []input{in(-1, 1, 2, 3), in(-1, 1, 2, 2), in(-1, 1, 2, 3, 2), in(-1, 1, 2)}, call: bilinear},
			{name: "batch", terms: 8, inputs: []input{in(-1, 1, 2, 2, 3), in(-1, 1, 2, 2, 2), in(-1, 1, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return Bilinear(s, x[0], x[1], x[2], nil) }},
			{name: "vector", terms: 8, inputs: []input{in(-1, 1, 3), in(-1, 1, 2), in(-1, 1, 2, 3, 2), in(-1, 1, 2)}, call: bilinear},
		},
		"outer": {binaryCase("", Outer, in(-1, 1, 3), in(-1, 1, 2))},
		"inner": {binaryCase("", Inner, in(-1, 1, 2, 3), in(-1, 1, 4, 3)), binaryCase("vector", Inner, in(-1, 1, 2, 3), in(-1, 1, 3))},
		"kron":  {binaryCase("", Kron, in(-1, 1, 2, 3), in(-1, 1, 3, 2)), binaryCase("ranks", Kron, in(-1, 1, 2), in(-1, 1, 2, 3))},
		"diagonal": {
			unaryCase(func(s *Scope, x *Tensor) *Tensor { return Diagonal(s, x, 0, 0, 1) }, in(-2, 2, 3, 3)),
			named("above", unaryCase(func(s *Scope, x *Tensor) *Tensor { return Diagonal(s, x, 1, 0, 2) }, in(-2, 2, 3, 2, 4))),
			named("below", unaryCase(func(s *Scope, x *Tensor) *Tensor { return Diagonal(s, x, -2, 1, 0) }, in(-2, 2, 3, 4))),
		},
		"diagonal_backward": {unaryCase(func(s *Scope, x *Tensor) *Tensor {
			return s.apply(opDiagonalBackward, Attrs{Dims: []int{0, 2}, Start: 1, Shape: []int{3, 2, 4}}, x)
		}, in(-2, 2, 2, 3))},
		"trace": {unaryCase(MatrixTrace, in(-2, 2, 3, 4))},
		"einsum": {
			einsumCase("product", "ij,jk->ik", false, []int{2, 3}, []int{3, 2}),
			einsumCase("batch", "bij,bjk->bik", false, []int{2, 2, 3}, []int{2, 3, 2}),
			einsumCase("heads", "bqhd,bkhd->bhqk", false, []int{1, 2, 2, 3}, []int{1, 3, 2, 3}),
			einsumCase("implicit", "ba,bc", false, []int{3, 2}, []int{3, 2}),
			einsumCase("transpose", "ij->ji", true, []int{2, 3}),
			einsumCase("rows", "ij->i", true, []int{2, 3}),
			einsumCase("total", "ij->", true, []int{2, 3}),
			einsumCase("outer", "i,j->ji", false, []int{2}, []int{3}),
			einsumCase("hadamard", "ij,ji->ij", false, []int{2, 3}, []int{3, 2}),
			einsumCase("diagonal", "iij->ji", true, []int{3, 3, 2}),
			einsumCase("trace", "ii", true, []int{3, 3}),
			einsumCase("cube", "iii->i", true, []int{2, 2, 2}),
			einsumCase("ellipsis", "...ij,...jk->...ik", false, []int{2, 2, 3}, []int{3, 2}),
			einsumCase("ellipsis implicit", "i...,i", false, []int{3, 2}, []int{3}),
			einsumCase("ellipsis summed", "...i,i->i", false, []int{2, 3}, []int{3}),
			einsumCase("ellipsis broadcast", "a...,b...->ab...", false, []int{2, 1, 3}, []int{2, 2, 1}),
			einsumCase("three", "ij,jk,kl->il", false, []int{2, 3}, []int{3, 2}, []int{2, 2}),
			einsumCase("bilinear", "bn,anm,bm->ba", false, []int{2, 3}, []int{2, 3, 2}, []int{2, 2}),
			einsumCase("repeated", "i,i,i->i", false, []int{1}, []int{1}, []int{3}),
			einsumCase("lonely", "ij,kl->j", false, []int{2, 3}, []int{2, 2}),
			einsumCase("broadcast sum", "ij,ij->i", false, []int{2, 1}, []int{2, 3}),
		},
	})
}
