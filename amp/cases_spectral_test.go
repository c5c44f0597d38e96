package amp

// apartOn adds 2, 4, 6 … to the diagonal of matrices, whose eigenvalues and singular values are apart then.
func apartOn(s *Scope, x *Tensor) *Tensor {
	matrices("apartOn", x)
	m, n := x.Dim(-2), x.Dim(-1)
	add := make([]float64, m*n)
	for i := range min(m, n) {
		add[i*n+i] = float64(2 * (i + 1))
	}
	return Add(s, x, fixedAs(x.dt, add, []int{m, n}))
}

// symmetric is x and its transposed one, apart.
func symmetric(s *Scope, x *Tensor) *Tensor {
	x = apartOn(s, x)
	return MulScalar(s, Add(s, x, mT(s, x)), 0.5)
}

func init() {
	mat := func(shape ...int) input { return in(-0.5, 0.5, shape...) }
	of := func(name string, x input, f func(s *Scope, x *Tensor) *Tensor) opCase {
		return opCase{name: name, terms: 16, inputs: []input{x}, call: func(s *Scope, in []*Tensor) *Tensor { return f(s, in[0]) }}
	}
	// packed is a case of a row of float64 numbers.
	packed := func(name string, x input, f func(s *Scope, x *Tensor) *Tensor) opCase {
		c := of(name, x, func(s *Scope, x *Tensor) *Tensor { return f(s, To(s, x, Float64)) })
		c.compute = Float64
		return c
	}
	both := func(s *Scope, parts ...*Tensor) *Tensor { // all that a function returns
		for i, p := range parts {
			parts[i] = Reshape(s, p, -1)
		}
		return Cat(s, 0, parts...)
	}
	qr := func(mode string) func(s *Scope, x *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor {
			q, r := QR(s, apartOn(s, x), mode)
			return both(s, q, r)
		}
	}
	eigh := func(upper bool) func(s *Scope, x *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor {
			w, v := Eigh(s, symmetric(s, x), upper)
			return both(s, w, v)
		}
	}
	svd := func(full bool) func(s *Scope, x *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor {
			u, w, v := SVD(s, apartOn(s, x), full)
			return both(s, u, w, v)
		}
	}
	applied := func(name string, turned bool, a, b input) opCase {
		return opCase{name: name, terms: 16, compute: Float64, inputs: []input{a, b}, call: func(s *Scope, x []*Tensor) *Tensor {
			a := apartOn(s, x[0])
			k := min(a.Dim(-2), a.Dim(-1))
			f := s.NoGrad().apply(opSVDPacked, Attrs{Shape: []int{k, k}}, a)
			return s.apply(opPinvApply, Attrs{Reverse: turned, Pair: [2]float64{0, 0x1p-40}}, a, x[1], addDim(s, f, 0))
		}}
	}
	lstsq := func(name string, a, b input) opCase {
		return opCase{name: name, terms: 16, inputs: []input{a, b}, call: func(s *Scope, x []*Tensor) *Tensor {
			y := Lstsq(s, apartOn(s, x[0]), x[1], Tolerance{})
			if y.Residuals == nil {
				return y.Solution
			}
			return both(s, y.Solution, y.Residuals)
		}}
	}
	pinv := func(s *Scope, x *Tensor) *Tensor { return Pinv(s, apartOn(s, x), Tolerance{}) }
	cond := func(p string) func(s *Scope, x *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor { return Cond(s, apartOn(s, x), p) }
	}
	matrixNorm := func(ord string, dims []int) func(s *Scope, x *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor { return MatrixNorm(s, apartOn(s, x), ord, dims, false) }
	}
	addCases(map[string][]opCase{
		"qr_packed": {packed("", mat(2, 3, 2), func(s *Scope, x *Tensor) *Tensor {
			matrices("qr_packed", x)
			k := min(x.Dim(-2), x.Dim(-1))
			return s.apply(opQRPacked, Attrs{Mode: qrReduced, Shape: []int{k, k}}, apartOn(s, x))
		})},
		"linalg_qr": {of("", mat(3, 3), qr(qrReduced)), of("tall", mat(2, 4, 2), qr(qrReduced)), of("wide", mat(2, 2, 4), qr(qrReduced)), of("complete", mat(2, 3), qr(qrComplete))},
		"eigh_packed": {packed("", mat(2, 3, 3), func(s *Scope, x *Tensor) *Tensor {
			return s.apply(opEighPacked, Attrs{}, symmetric(s, x))
		})},
		"linalg_eigh":     {of("", mat(3, 3), eigh(false)), of("upper", mat(2, 3, 3), eigh(true))},
		"linalg_eigvalsh": {of("", mat(2, 3, 3), func(s *Scope, x *Tensor) *Tensor { return Eigvalsh(s, symmetric(s, x), false) })},
		"svd_packed": {packed("", mat(2, 3, 3), func(s *Scope, x *Tensor) *Tensor {
			x = apartOn(s, x)
			k := min(x.Dim(-2), x.Dim(-1))
			return s.apply(opSVDPacked, Attrs{Shape: []int{k, k}}, x)
		})},
		"linalg_svd": {of("", mat(3, 3), svd(false)), of("tall", mat(2, 4, 2), svd(false)), of("wide", mat(2, 2, 3), svd(false)), of("full", mat(2, 2), svd(true))},
		"pinv_apply": {applied("", false, mat(2, 3, 2), mat(2, 3, 2)), applied("turned", true, mat(2, 2, 3), mat(2, 3, 1))},
		"linalg_lstsq": {
			lstsq("", mat(2, 4, 3), mat(4, 2)), lstsq("wide", mat(2, 3), mat(2, 1)), lstsq("vector", mat(3, 2), mat(3)),
		},
		"linalg_pinv":  {of("", mat(2, 4, 3), pinv), of("wide", mat(2, 3), pinv)},
		"linalg_cond":  {of("", mat(2, 3, 3), cond("2")), of("inverse", mat(3, 2), cond("-2")), of("fro", mat(3, 3), cond("fro"))},
		"nuclear_norm": {of("", mat(2, 3, 2), func(s *Scope, x *Tensor) *Tensor { return NuclearNorm(s, apartOn(s, x)) })},
		"linalg_matrix_norm": {
			of("largest", mat(2, 3, 3), matrixNorm("2", []int{0, 2})), of("smallest", mat(2, 3, 3), matrixNorm("-2", nil)), of("nuclear", mat(2, 3), matrixNorm("nuc", nil)),
		},
		"linalg_svdvals": {of("", mat(2, 3, 4), func(s *Scope, x *Tensor) *Tensor { return SVDVals(s, apartOn(s, x)) })},
	})
}
