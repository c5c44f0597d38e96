package amp

// positive makes symmetric matrices that are positive definite of x, numbers up to 0.5; regular makes matrices far from singular ones.
func positive(s *Scope, x *Tensor) *Tensor {
	matrices("positive", x)
	return Add(s, Add(s, x, mT(s, x)), MulScalar(s, identities(s, x, x.Dim(-1)), 2*float64(x.Dim(-1))))
}

func regular(s *Scope, x *Tensor) *Tensor {
	matrices("regular", x)
	return Add(s, x, MulScalar(s, identities(s, x, x.Dim(-1)), float64(x.Dim(-1))))
}

// mild is regular with a determinant near 1, whatever the size.
func mild(s *Scope, x *Tensor) *Tensor {
	x = regular(s, x)
	return MulScalar(s, x, 1/float64(max(1, x.Dim(-1))))
}

func init() {
	mat := func(shape ...int) input { return in(-0.5, 0.5, shape...) }
	onRegular := func(f func(s *Scope, x *Tensor) *Tensor, x input) opCase {
		return opCase{terms: 16, inputs: []input{x}, call: func(s *Scope, in []*Tensor) *Tensor { return f(s, regular(s, in[0])) }}
	}
	triangular := func(name string, opts Triangular, a, b input) opCase {
		return opCase{name: name, terms: 16, inputs: []input{a, b}, call: func(s *Scope, x []*Tensor) *Tensor {
			return SolveTriangular(s, regular(s, x[0]), x[1], opts)
		}}
	}
	solve := func(name string, a, b input) opCase {
		return opCase{name: name, terms: 16, inputs: []input{a, b}, call: func(s *Scope, x []*Tensor) *Tensor { return Solve(s, regular(s, x[0]), x[1]) }}
	}
	cholesky := func(upper bool) func(s *Scope, x *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor { return Cholesky(s, positive(s, x), upper) }
	}
	factored := func(name string, at Attrs) opCase { // a row on factors, which are float64 whatever the dtype
		return opCase{name: name, terms: 16, compute: Float64, inputs: []input{mat(2, 3, 3), mat(2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor {
			a := regular(s, x[0])
			return s.apply(opLUSolve, at, a, x[1], s.factors(a))
		}}
	}
	determined := func(name string, at Attrs, near func(s *Scope, x *Tensor) *Tensor) opCase {
		return opCase{name: name, terms: 16, compute: Float64, inputs: []input{mat(2, 3, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
			a := near(s, x[0])
			return s.apply(opLUDet, at, a, s.factors(a))
		}}
	}
	addCases(map[string][]opCase{
		"linalg_cholesky": {
			{terms: 16, inputs: []input{mat(3, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return cholesky(false)(s, x[0]) }},
			{name: "upper", terms: 16, inputs: []input{mat(2, 3, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return cholesky(true)(s, x[0]) }},
		},
		"linalg_solve_triangular": {
			triangular("lower", Triangular{}, mat(3, 3), mat(3, 2)),
			triangular("upper", Triangular{Upper: true}, mat(2, 3, 3), mat(3, 1)),
			triangular("unit", Triangular{Unit: true}, mat(3, 3), mat(2, 3, 2)),
			triangular("right", Triangular{Upper: true, Right: true, Unit: true}, mat(3, 3), mat(2, 3)),
		},
		"cholesky_solve": {
			{terms: 16, inputs: []input{mat(3, 2), mat(3, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return CholeskySolve(s, x[0], regular(s, x[1]), false) }},
			{name: "upper", terms: 16, inputs: []input{mat(2, 3, 1), mat(3, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return CholeskySolve(s, x[0], regular(s, x[1]), true) }},
		},
		"cholesky_inverse": {
			onRegular(func(s *Scope, x *Tensor) *Tensor { return CholeskyInverse(s, x, false) }, mat(2, 3, 3)),
			named("upper", onRegular(func(s *Scope, x *Tensor) *Tensor { return CholeskyInverse(s, x, true) }, mat(3, 3))),
		},
		"linalg_lu_factor": {onRegular(func(s *Scope, x *Tensor) *Tensor { lu, _ := LUFactor(s, x); return lu }, mat(2, 3, 3))},
		"lu_packed":        {onRegular(func(s *Scope, x *Tensor) *Tensor { return s.apply(opLU, Attrs{}, x) }, mat(2, 3, 3))},
		"lu_substitute":    {factored("", Attrs{}), factored("turned", Attrs{Reverse: true})},
		"lu_determinant":   {determined("", Attrs{}, mild), determined("log", Attrs{Mode: luLog}, regular)},
		"linalg_solve":     {solve("", mat(3, 3), mat(3, 2)), solve("vector", mat(3, 3), mat(3)), solve("broadcast", mat(2, 3, 3), mat(3, 1))},
		"linalg_inv":       {onRegular(Inv, mat(3, 3)), named("batch", onRegular(Inv, mat(2, 2, 2)))},
		"linalg_det":       {unaryCase(func(s *Scope, x *Tensor) *Tensor { return Det(s, mild(s, x)) }, mat(3, 3))},
		"linalg_slogdet":   {onRegular(func(s *Scope, x *Tensor) *Tensor { _, y := Slogdet(s, x); return y }, mat(3, 3))},
	})
}
