package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// Cholesky factors of symmetric positive definite matrices, and what they solve.

var opCholesky, opCholeskySolve, opCholeskyInverse *Op

const whyTwice = "PyTorch's CUDA lists leave it in the dtype of its inputs; two solutions in float64, the first rounded to float32 or to its own dtype"

func init() {
	opCholesky = define(Op{
		Name: "linalg_cholesky", Doc: "the lower triangular L with L·Lᵀ = x, of which the lower triangle is read", Args: []string{"x"}, CPUList: FP32, Why: whyDense,
		CUDA: "cholesky", Saves: SaveOut, Wide: true, CPU: choleskyCPU,
		Singular: func(string) (op, what, fix string) {
			return "linalg_cholesky", "matrix %d: its leading minor of order %d is not positive", "pass a symmetric matrix that is positive definite, or add a small multiple of the identity to it"
		},
		Check: func(c *Call) []int {
			c.floats()
			c.square(0)
			return c.In[0].shape
		},
		// Murray, Differentiation of the Cholesky decomposition (2016): L⁻ᵀ·P·L⁻¹, with P = tril(Lᵀ·dL), its diagonal halved; here, as in
		// PyTorch, half of it and half of its transpose.
		Backward: func(b *Back) {
			s, l := b.S, b.Out()
			p := Tril(s, MatMul(s, mT(s, l), b.DY), 0)
			p = MulScalar(s, Add(s, p, mT(s, Tril(s, p, -1))), 0.5) // the diagonal, which P halves, is there once
			up := SolveTriangular(s, mT(s, l), p, Triangular{Upper: true})
			b.Set(0, SolveTriangular(s, l, up, Triangular{Right: true}))
		},
	})
	opCholeskySolve = define(Op{
		Name: "cholesky_solve", Doc: "the x with L·Lᵀ·x = b for a Cholesky factor L, or Uᵀ·U·x = b", Args: []string{"b", "factor"}, CPUList: FP32, Why: whyTwice,
		CUDA: "triangular", Composite: []string{"transpose", "expand", "linalg_solve_triangular"},
	})
	opCholeskyInverse = define(Op{
		Name: "cholesky_inverse", Doc: "the inverse of L·Lᵀ for a Cholesky factor L, or of Uᵀ·U", Args: []string{"factor"}, CPUList: FP32, Why: whyTwice,
		CUDA: "triangular", Composite: []string{"transpose", "expand", "tril", "triu", "linalg_solve_triangular"},
	})
}

func choleskyCPU(c *Call) {
	x, out := c.In[0], c.Out
	n := c.square(0)
	batch := x.shape[:len(x.shape)-2]
	var failed fault
	eachDense(length(batch), n*n*n, n*n, func(g int, a []float64) {
		loadMatrix(a, batchRows(x, batch, g), n, n)
		if k := cpu.Cholesky(a, n); k >= 0 {
			failed.note(g, k)
		}
		store(out, out.off+g*n*n, a)
	})
	failed.raise(c)
}

// Cholesky returns the lower triangular L of x = L·Lᵀ, or, if upper, the upper triangular U of x = Uᵀ·U, for symmetric positive definite
// matrices x [… n n]. Only the triangle of that name is read, and the gradient is symmetric (torch.linalg.cholesky). It is
// computed in float64 and rounded once. A matrix that is not positive definite panics with ErrSingular on the CPU; on a GPU the error
// comes with the next read.
func Cholesky(s *Scope, x *Tensor, upper bool) *Tensor {
	if !upper {
		return s.apply(opCholesky, Attrs{}, x)
	}
	matrices("linalg_cholesky", x)
	return mT(s, s.apply(opCholesky, Attrs{}, mT(s, x)))
}

// matrices refuses what has no two last dimensions.
func matrices(op string, t *Tensor) {
	if t.live(op); len(t.shape) < 2 {
		fail(op, ErrShape, "use [… n m]", "shape %v is no batch of matrices", t.shape)
	}
}

// CholeskySolve returns the x of a·x = b, [… n m], for the Cholesky factor of a [… n n]: lower triangular, or upper triangular if upper.
// Batches are broadcast. (torch.cholesky_solve(b, factor, upper))
func CholeskySolve(s *Scope, b, factor *Tensor, upper bool) *Tensor {
	opCholeskySolve.need(b, factor)
	s, in, done := s.enterWide(opCholeskySolve, b, factor)
	opCholeskySolve.sized(0, 2, opCholeskySolve.squares(1, in...), in...)
	return done(choleskySolve(s, in[0], in[1], upper, ""))
}

func choleskySolve(s *Scope, b, factor *Tensor, upper bool, mode string) *Tensor {
	l := factor
	if upper {
		l = mT(s, factor)
	}
	y := s.solveTriangular(l, b, Attrs{Mode: mode})
	return SolveTriangular(s, mT(s, l), y, Triangular{Upper: true})
}

// CholeskyInverse returns the inverse of a [… n n] from its Cholesky factor: lower triangular, or upper triangular if upper. To solve a
// system CholeskySolve is faster and nearer. A 0 on the diagonal panics with ErrSingular on the CPU; on a GPU the error comes with the next
// read. (torch.cholesky_inverse)
func CholeskyInverse(s *Scope, factor *Tensor, upper bool) *Tensor {
	s, in, done := s.enterWide(opCholeskyInverse, factor)
	n := opCholeskyInverse.squares(0, in[0])
	return done(choleskySolve(s, identities(s, in[0], n), in[0], upper, triangularChecked))
}
