package amp

import "math"

func init() {
	pair := []input{in(-2, 2, 3, 4), in(-2, 2, 3, 4)}
	norms := func(call func(s *Scope, x *Tensor, p float64) *Tensor) []opCase {
		var out []opCase
		for _, p := range []struct {
			name string
			p    float64
			flat bool
		}{{"two", 2, false}, {"one", 1, true}, {"three", 3, false}, {"one and a half", 1.5, false}, {"half", 0.5, false}, {"inf", math.Inf(1), true}, {"least", math.Inf(-1), true}} {
			c := unaryCase(func(s *Scope, x *Tensor) *Tensor { return call(s, x, p.p) }, in(0.2, 2, 2, 3))
			c.name, c.flat = p.name, p.flat
			out = append(out, c)
		}
		return out
	}
	cdist := func(p float64) func(s *Scope, a, b *Tensor) *Tensor {
		return func(s *Scope, a, b *Tensor) *Tensor { return Cdist(s, a, b, p) }
	}
	slope := func(name string, p float64, dy, a, b input) opCase {
		return opCase{name: name, inputs: []input{dy, a, b}, call: func(s *Scope, x []*Tensor) *Tensor {
			return s.apply(opCdistBackward, Attrs{Scalar: p}, x[0], x[1], x[2])
		}}
	}
	left, right := in(-2, 2, 2, 3), in(-2, 2, 4, 3)
	addCases(map[string][]opCase{
		"div_nonzero":        {binaryCase("", divNonzero, in(-2, 2, 2, 3), in(0.5, 2, 3))},
		"abs_pow":            {withNumber(absPow, 2.5, in(-2, -0.2, 2, 3)), named("inverse", withNumber(absPow, -1, in(0.5, 2, 2, 3)))},
		"signed_pow":         {withNumber(signedPow, 2.5, in(-2, -0.2, 2, 3)), named("root", withNumber(signedPow, 0.5, in(0.5, 2, 2, 3)))},
		"maximum":            {straight(binaryCase("", Maximum, in(0, 0.9, 2, 3), in(1, 2, 3))), straight(binaryCase("left", Maximum, in(1, 2, 2, 3), in(0, 0.9, 3)))},
		"minimum":            {straight(binaryCase("", Minimum, in(0, 0.9, 2, 3), in(1, 2, 3))), straight(binaryCase("right", Minimum, in(1, 2, 2, 3), in(0, 0.9, 3)))},
		"lerp":               {{inputs: []input{in(-2, 2, 2, 3), in(-2, 2, 3), in(0, 1, 2, 1)}, call: func(s *Scope, x []*Tensor) *Tensor { return Lerp(s, x[0], x[1], x[2]) }}},
		"lerp_scalar":        {straight(binaryCase("", func(s *Scope, a, b *Tensor) *Tensor { return LerpScalar(s, a, b, 0.3) }, in(-2, 2, 2, 3), in(-2, 2, 3)))},
		"linalg_vector_norm": norms(func(s *Scope, x *Tensor, p float64) *Tensor { return VectorNorm(s, x, p, []int{1}, true) }),
		"norm":               norms(func(s *Scope, x *Tensor, p float64) *Tensor { return NormP(s, x, p) }),
		"frobenius_norm":     {unaryCase(func(s *Scope, x *Tensor) *Tensor { return FrobeniusNorm(s, x, 0) }, in(-2, 2, 2, 3))},
		"linalg_matrix_norm": {
			unaryCase(func(s *Scope, x *Tensor) *Tensor { return MatrixNorm(s, x, "fro", nil, false) }, in(-2, 2, 2, 2, 3)),
			named("columns", tied(unaryCase(func(s *Scope, x *Tensor) *Tensor { return MatrixNorm(s, x, "1", nil, false) }, in(0.2, 2, 2, 2, 3)))),
			named("rows", tied(unaryCase(func(s *Scope, x *Tensor) *Tensor { return MatrixNorm(s, x, "-inf", []int{2, 0}, true) }, in(0.2, 2, 2, 2, 3)))),
		},
		"cosine_similarity": {
			{inputs: pair, call: func(s *Scope, x []*Tensor) *Tensor { return CosineSimilarity(s, x[0], x[1], 1, 1e-8) }},
			{name: "broadcast", inputs: []input{in(-2, 2, 3, 4), in(-2, 2, 3, 1)}, call: func(s *Scope, x []*Tensor) *Tensor { return CosineSimilarity(s, x[0], x[1], 0, 1e-8) }},
		},
		"pairwise_distance": {
			{inputs: pair, call: func(s *Scope, x []*Tensor) *Tensor { return PairwiseDistance(s, x[0], x[1], 2, 1e-6, false) }},
			{name: "three", inputs: []input{in(-2, 2, 3, 4), in(-2, 2, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return PairwiseDistance(s, x[0], x[1], 3, 1e-6, true) }},
		},
		"dist":  {binaryCase("", func(s *Scope, a, b *Tensor) *Tensor { return Dist(s, a, b, 2) }, pair[0], pair[1])},
		"pdist": {unaryCase(func(s *Scope, x *Tensor) *Tensor { return Pdist(s, x, 2) }, in(-2, 2, 4, 3)), named("three", unaryCase(func(s *Scope, x *Tensor) *Tensor { return Pdist(s, x, 3) }, in(-2, 2, 3, 3)))},
		"normalize": {
			unaryCase(func(s *Scope, x *Tensor) *Tensor { return Normalize(s, x, 2, 1, 1e-12) }, in(-2, 2, 2, 3)),
			named("one", unaryCase(func(s *Scope, x *Tensor) *Tensor { return Normalize(s, x, 1, 0, 1e-12) }, in(0.2, 2, 3, 2))),
		},
		"renorm": {unaryCase(func(s *Scope, x *Tensor) *Tensor { return Renorm(s, x, 2, 0, 0.5) }, in(0.5, 2, 2, 3)),
			named("below", straight(unaryCase(func(s *Scope, x *Tensor) *Tensor { return Renorm(s, x, 2, 0, 9) }, in(0.5, 2, 2, 3))))},
		"cdist": {
			binaryCase("two", cdist(2), left, right),
			straight(binaryCase("one", cdist(1), in(-2, -0.5, 2, 3), in(0, 2, 4, 3))),
			binaryCase("three", cdist(3), left, right),
			binaryCase("batch", cdist(2), in(-2, 2, 2, 2, 3), in(-2, 2, 1, 2, 3)),
			binaryCase("broadcast", cdist(2), in(-2, 2, 2, 3), in(-2, 2, 2, 2, 3)),
			straight(binaryCase("inf", cdist(math.Inf(1)), left, right)),
		},
		"cdist_backward": {slope("two", 2, in(-2, 2, 2, 4), left, right), slope("three", 3, in(-2, 2, 2, 4), left, right), slope("batch", 2, in(-2, 2, 2, 2, 1), in(-2, 2, 1, 2, 3), in(-2, 2, 2, 1, 3))},
	})
}
