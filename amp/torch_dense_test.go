package amp

func init() {
	upper := func(f func(s *Scope, x *Tensor, upper bool) *Tensor) torchCall {
		return torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return f(s, x[0], a.bool("upper")) })
	}
	addTorch(map[string]torchCall{
		"linalg_cholesky":  upper(Cholesky),
		"cholesky_inverse": upper(CholeskyInverse),
		"cholesky_solve":   torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return CholeskySolve(s, x[0], x[1], a.bool("upper")) }),
		"linalg_solve_triangular": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return SolveTriangular(s, x[0], x[1], Triangular{Upper: a.bool("upper"), Right: !a.bool("left"), Unit: a.bool("unitriangular")})
		}),
		"linalg_lu_factor": torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) { return LUFactor(s, x[0]) }),
		"linalg_solve":     torchBinary(Solve), "linalg_inv": torchUnary(Inv), "linalg_det": torchUnary(Det),
		"linalg_slogdet": torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) { return Slogdet(s, x[0]) }),
	})
}
