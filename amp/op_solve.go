package amp

import "slices"

// Systems of equations, inverses and determinants, by LU factors.

var opLUFactor, opSolve, opInv, opDet, opSlogdet *Op

func init() {
	composite := func(o Op, parts ...string) *Op {
		o.Why, o.CUDA, o.Composite = whyDense, "lu", append([]string{"lu_packed"}, parts...)
		return define(o)
	}
	opLUFactor = composite(Op{Name: "linalg_lu_factor", Doc: "L below the diagonal and U of P·x = L·U, with the pivots from 1", Args: []string{"x"}}, "narrow", "reshape")
	opSolve = composite(Op{Name: "linalg_solve", Doc: "the x with a·x = b", Args: []string{"a", "b"}, CPUList: FP32}, "expand", "reshape", "lu_substitute")
	opInv = composite(Op{Name: "linalg_inv", Doc: "the inverse of a matrix", Args: []string{"x"}, CPUList: FP32}, "expand", "tril", "triu", "lu_substitute")
	opDet = composite(Op{Name: "linalg_det", Doc: "the determinant of a matrix", Args: []string{"x"}}, "lu_determinant")
	opSlogdet = composite(Op{Name: "linalg_slogdet", Doc: "the sign of the determinant of a matrix, and the logarithm of its amount", Args: []string{"x"}}, "lu_determinant")
}

// factors are those of a, for a row that computes with them and has the gradient of a.
func (s *Scope) factors(a *Tensor) *Tensor { return s.NoGrad().apply(opLU, Attrs{}, a) }

// LUFactor returns the LU factors of matrices x [… n n] with partial pivoting, P·x = L·U: L, whose diagonal is 1, below the diagonal of lu and U on it
// and above; and pivots [… n], int64 from 1 as in PyTorch: row k and row pivots[k] changed places. The first of several largest amounts
// is the pivot, on every device. A singular matrix has factors, too: U then has a 0 on its diagonal. (torch.linalg.lu_factor_ex)
func LUFactor(s *Scope, x *Tensor) (lu, pivots *Tensor) {
	s, in := s.enter(opLUFactor, x)
	n := opLUFactor.squares(0, in[0])
	all := s.apply(opLU, Attrs{}, in[0])
	at := Narrow(s, Detach(s, all), -1, n, 1)
	pivots = To(s, Reshape(s, at, at.shape[:len(at.shape)-1]...), Int64)
	return To(s, Narrow(s, all, -1, 0, n), in[0].dt), pivots
}

// Solve returns the x of a·x = b for square matrices a [… n n] and b [… n m], or vectors b: [n], or [… n] with a's batch. Other batches are
// broadcast. float32 under the CPU's lists; it is computed in float64 and rounded once. A singular matrix panics with ErrSingular on
// the CPU; on a GPU the error comes with the next read. (torch.linalg.solve)
func Solve(s *Scope, a, b *Tensor) *Tensor {
	opSolve.need(a, b)
	s, in := s.enter(opSolve, a, b)
	a, b = in[0], in[1]
	n := opSolve.squares(0, a, b)
	vector := len(b.shape) == 1 || slices.Equal(b.shape, a.shape[:len(a.shape)-1])
	if vector {
		opSolve.sized(1, 1, n, a, b)
		b = addDim(s, b, 0)
	} else {
		opSolve.sized(1, 2, n, a, b)
	}
	batch := batchOf("linalg_solve", 2, a, b)
	factors := s.factors(a)
	x := s.apply(opLUSolve, Attrs{}, onBatch(s, a, batch), onBatch(s, b, batch), onBatch(s, factors, batch))
	if vector {
		return Reshape(s, x, x.shape[:len(x.shape)-1]...)
	}
	return x
}

// Inv returns the inverses of square matrices x [… n n]; to solve a system, Solve is faster and nearer. float32 under the CPU's lists; it is
// computed in float64 and rounded once. Singular matrices are refused as by Solve. (torch.linalg.inv)
func Inv(s *Scope, x *Tensor) *Tensor {
	s, in := s.enter(opInv, x)
	x = in[0]
	n := opInv.squares(0, x)
	return s.apply(opLUSolve, Attrs{Mode: luInverse}, x, identities(s, x, n), s.factors(x))
}

// Det returns the determinants of square matrices x [… n n]: […]; 1 for those of no rows. Its gradient is the matrix of cofactors, also of a
// singular matrix, where PyTorch's is 0 unless it makes a graph of it. A second gradient is made of the inverse: it has as many digits less
// as the matrix is near to a singular one, and none at such. (torch.linalg.det)
func Det(s *Scope, x *Tensor) *Tensor {
	s, in := s.enter(opDet, x)
	opDet.squares(0, in[0])
	return s.apply(opLUDet, Attrs{}, in[0], s.factors(in[0]))
}

// Slogdet returns the signs, 1, -1 or 0, of the determinants of square matrices x [… n n], and the logarithms of their amounts, -Inf for
// 0: […] both. The signs have no gradient, and the gradient of the logarithm at a singular matrix is infinite or NaN. The sign of NaN is
// NaN, where PyTorch's is 0. (torch.linalg.slogdet)
func Slogdet(s *Scope, x *Tensor) (sign, logabsdet *Tensor) {
	s, in := s.enter(opSlogdet, x)
	opSlogdet.squares(0, in[0])
	factors := s.factors(in[0])
	return s.NoGrad().apply(opLUDet, Attrs{Mode: luSign}, in[0], factors), s.apply(opLUDet, Attrs{Mode: luLog}, in[0], factors)
}
