package amp

import (
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Least squares and the pseudoinverse, by singular values. The row has the gradient of the matrix itself, so that equal singular values, which those of
// vectors divide by, do no harm.

var opPinvApply, opLstsq, opPinv, opCond *Op

func init() {
	opPinvApply = define(Op{
		Name: "pinv_apply", Doc: "a⁺·b, or (aᵀ)⁺·b, by the singular values and vectors that svd_packed gives of a", Args: []string{"a", "b", "factors"}, Why: whyDense,
		CUDA: "pinv_apply", Saves: SaveIn0 | SaveIn1 | SaveIn2 | SaveOut, Wide: true, CPU: pinvCPU, Backward: pinvBackward,
		Check: func(c *Call) []int { // Reverse: aᵀ; Pair: values up to the first, or the second times the largest, count as 0
			c.isFloat(0)
			c.isFloat(1)
			c.sameDType(1)
			m, n := c.matrix(0)
			c.sameBatch(1)
			if c.Reverse {
				m, n = n, m
			}
			c.Op.sized(1, 2, m, c.In...)
			shape := slices.Clone(c.In[1].shape)
			shape[len(shape)-2] = n
			return shape
		},
	})
	composite := func(o Op, parts ...string) *Op {
		o.Why, o.CUDA, o.Composite, o.Bound = whyDense, "svd", append([]string{"svd_packed", "pinv_apply"}, parts...), boundSpectral
		return define(o)
	}
	opLstsq = composite(Op{Name: "linalg_lstsq", Doc: "the smallest x for which ‖a·x - b‖ is least", Args: []string{"a", "b"}, CPUList: FP32}, "expand", "reshape")
	opPinv = composite(Op{Name: "linalg_pinv", Doc: "the pseudoinverse of a matrix", Args: []string{"x"}}, "expand", "tril", "triu")
	opCond = define(Op{
		Name: "linalg_cond", Doc: "‖x‖·‖x⁻¹‖ of a matrix; for p = 2 the largest singular value by the smallest", Args: []string{"x"}, CPUList: FP32, Why: whyDense,
		CUDA: "svd", Composite: []string{"linalg_inv", "linalg_matrix_norm", "mul", "linalg_svdvals", "narrow", "div"}, Bound: boundSpectral,
	})
}

func pinvCPU(c *Call) {
	b, factors, out := c.In[1], c.In[2], c.Out
	m, n := c.matrix(0)
	r := len(b.shape)
	k, rows, cols, batch := min(m, n), b.shape[r-2], b.shape[r-1], b.shape[:r-2]
	to := out.shape[r-2]
	packed := factors.shape[len(factors.shape)-2]
	eachDense(length(batch), 2*(m+n)*k*cols, packed+(rows+to+k)*cols, func(g int, room []float64) {
		f := room[:packed]
		loadMatrix(f, batchRows(factors, batch, g), packed, 1)
		from, x, own := room[packed:][:rows*cols], room[packed+rows*cols:][:to*cols], room[packed+(rows+to)*cols:]
		loadMatrix(from, batchRows(b, batch, g), rows, cols)
		small := c.Pair[0]
		if k > 0 {
			small = max(small, c.Pair[1]*f[0])
		}
		cpu.SolveSingular(f[:k], f[k:], f[k+m*k:], m, n, k, cols, small, c.Reverse, from, x, own)
		store(out, out.off+g*to*cols, x)
	})
}

// pinvBackward is that of x = a⁺·b for matrices of constant rank (Golub and Pereyra, 1973): with y = (aᵀ)⁺·dx, da is
// -y·xᵀ + (b - a·x)·(a⁺·y)ᵀ + ((aᵀ)⁺·x)·(dx - aᵀ·y)ᵀ, and db is y.
func pinvBackward(b *Back) {
	s, at := b.S, b.Attrs()
	turned := at
	turned.Reverse = !at.Reverse
	a, f := b.In(0), b.In(2)
	y := s.apply(opPinvApply, turned, a, b.DY, f)
	b.Set(1, y)
	if !b.Needs(0) {
		return
	}
	x, own := b.Out(), a
	if at.Reverse {
		own = mT(s, a)
	}
	outer := func(p, q *Tensor) *Tensor { return MatMul(s, p, mT(s, q)) }
	g := Neg(s, outer(y, x))
	g = Add(s, g, outer(Sub(s, b.In(1), MatMul(s, own, x)), s.apply(opPinvApply, at, a, y, f)))
	g = Add(s, g, outer(s.apply(opPinvApply, turned, a, x, f), Sub(s, b.DY, MatMul(s, mT(s, own), y))))
	if at.Reverse {
		g = mT(s, g)
	}
	b.Set(0, g)
}

// A Tolerance says which singular values count as 0: those up to Atol, or Rtol times the largest one of their matrix. Where both are 0, Rtol is the
// dtype's epsilon times the larger of the matrix's sizes; with an Atol alone it is 0, as in PyTorch. Matrices in 16 bits, which PyTorch refuses, have
// float32's epsilon, in which autocast would compute: with their own every singular value of a matrix of 256 rows would count as 0.
type Tolerance struct{ Atol, Rtol float64 }

// of is the pair for an m×n matrix of a dtype.
func (t Tolerance) of(op string, dt DType, m, n int) [2]float64 {
	if !(t.Atol >= 0 && t.Rtol >= 0) {
		fail(op, ErrArgument, "use numbers from 0 on", "tolerance %v", t)
	}
	if dt.IsHalf() {
		dt = Float32
	}
	if t == (Tolerance{}) {
		t.Rtol = 2 * halfDigits(dt) * float64(max(m, n))
	}
	return [2]float64{t.Atol, t.Rtol}
}

// pinvApply is a⁺·b for batches that are the same.
func (s *Scope) pinvApply(a, b, packed *Tensor, tolerance [2]float64) *Tensor {
	return s.apply(opPinvApply, Attrs{Pair: tolerance}, a, b, addDim(s, packed, 0))
}

// A LeastSquares is what Lstsq gives.
type LeastSquares struct {
	Solution       *Tensor // [… n c]
	Residuals      *Tensor // [… c], Σ (a·x - b)² over rows; nil unless m > n
	Rank           *Tensor // […], int64
	SingularValues *Tensor // [… min(m, n)]
}

// Lstsq returns the least-squares solutions x of a·x = b, those of the smallest size where there are several, for matrices a [… m n] and b [… m c],
// or vectors b: [m], or [… m] with a's batch. Other batches are broadcast. It is PyTorch's driver "gelsd"; Tolerance is its rcond, and singular
// values within it count as 0. PyTorch leaves the residuals out also where a matrix has not full rank. Solution and Residuals have gradients, those of
// matrices whose rank does not change. Computed in float64 and rounded once; float32 under the CPU's lists. Numbers of a that are not finite are
// refused as by SVD. (torch.linalg.lstsq)
func Lstsq(s *Scope, a, b *Tensor, tolerance Tolerance) LeastSquares {
	opLstsq.need(a, b)
	s, in := s.enter(opLstsq, a, b)
	a, b = in[0], in[1]
	m, n := opLstsq.matrix(a)
	b.live(opLstsq.Name)
	(&Call{Op: opLstsq, In: in}).floats()
	small := tolerance.of(opLstsq.Name, a.dt, m, n)
	vector := len(b.shape) == 1 || slices.Equal(b.shape, a.shape[:len(a.shape)-1])
	if vector {
		opLstsq.sized(1, 1, m, a, b)
		b = addDim(s, b, 0)
	}
	opLstsq.sized(1, 2, m, a, b)
	packed := s.NoGrad().apply(opSVDPacked, Attrs{Shape: []int{min(m, n), min(m, n)}}, a)
	batch := batchOf(opLstsq.Name, 2, a, b)
	factors := Expand(s, packed, append(slices.Clone(batch), packed.shape[len(packed.shape)-1])...)
	left, right := onBatch(s, a, batch), onBatch(s, b, batch)
	y := LeastSquares{Solution: s.pinvApply(left, right, factors, small)}
	if m > n {
		y.Residuals = Sum(s, Square(s, Sub(s, MatMul(s, left, y.Solution), right)), -2)
	}
	values := unpacked(s, packed, 0, min(m, n))
	y.SingularValues = To(s, values, a.dt)
	y.Rank = rankOfValues(s, values, small)
	if vector {
		y.Solution = Reshape(s, y.Solution, y.Solution.shape[:len(y.Solution.shape)-1]...)
		if m > n {
			y.Residuals = Reshape(s, y.Residuals, y.Residuals.shape[:len(y.Residuals.shape)-1]...)
		}
	}
	return y
}

// Pinv returns the pseudoinverses [… n m] of matrices x [… m n]; to solve a system, Lstsq is faster and nearer. The gradient is that of matrices whose
// rank does not change. Computed in float64 and rounded once. Numbers that are not finite are refused as by SVD. (torch.linalg.pinv, whose
// hermitian=True is a quicker way to the same)
func Pinv(s *Scope, x *Tensor, tolerance Tolerance) *Tensor {
	s, in := s.enter(opPinv, x)
	x = in[0]
	m, n := opPinv.matrix(x)
	packed := s.NoGrad().apply(opSVDPacked, Attrs{Shape: []int{min(m, n), min(m, n)}}, x)
	return s.pinvApply(x, identities(s, x, m), packed, tolerance.of(opPinv.Name, x.dt, m, n))
}

// Cond returns the condition numbers of matrices [… m n]: […]. p is "2", the largest singular value by the smallest, "-2", the smallest by the largest, or, for
// square matrices, a norm of MatrixNorm: ‖x‖·‖x⁻¹‖. For "2" that of a singular matrix is infinite; in other norms it is refused as by Inv, where PyTorch
// has infinity. Computed in float64 and rounded, with "2" twice; float32 under the CPU's lists. (torch.linalg.cond)
func Cond(s *Scope, x *Tensor, p string) *Tensor {
	s, in := s.enter(opCond, x)
	x = in[0]
	k := min(opCond.matrix(x))
	if p != "2" && p != "-2" {
		opCond.squares(0, x)
		return Mul(s, MatrixNorm(s, x, p, nil, false), MatrixNorm(s, Inv(s, x), p, nil, false))
	}
	if k == 0 {
		fail(opCond.Name, ErrShape, "use matrices with elements", "x %v", x.shape)
	}
	values := SVDVals(s, x)
	most, least := Select(s, values, -1, 0), Select(s, values, -1, k-1)
	if p == "-2" {
		most, least = least, most
	}
	return Div(s, most, least)
}

// MatrixRank returns the number of singular values of matrices x [… m n] that do not count as 0, int64: […]. It has no gradient.
// (torch.linalg.matrix_rank, whose hermitian=True is a quicker way to the same)
func MatrixRank(s *Scope, x *Tensor, tolerance Tolerance) *Tensor {
	s, in := s.NoGrad().enter(opSVDVals, x)
	x = in[0]
	m, n := opSVDVals.matrix(x)
	return rankOfValues(s, s.singular(x), tolerance.of("linalg_matrix_rank", x.dt, m, n))
}

// rankOfValues counts singular values, float64.
func rankOfValues(s *Scope, values *Tensor, small [2]float64) *Tensor {
	s, k := s.NoGrad(), values.shape[len(values.shape)-1]
	if k == 0 {
		return Zeros(s, Int64, values.shape[:len(values.shape)-1]...)
	}
	least := ClampMin(s, MulScalar(s, Narrow(s, values, -1, 0, 1), small[1]), small[0])
	return SumAs(s, Gt(s, values, least), Int64, -1)
}

// halfDigits is half the distance from 1 to the next number.
func halfDigits(dt DType) float64 {
	switch dt {
	case Float16:
		return 0x1p-11
	case BFloat16:
		return 0x1p-8
	case Float32:
		return 0x1p-24
	}
	return 0x1p-53
}
