package amp

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Norms: norm and linalg_vector_norm are one kernel under two names, since autocast has them on two lists; the others are made of
// them.

var opNorm, opVectorNorm, opMatrixNorm, opFrobeniusNorm, opNuclearNorm *Op

const whyPowers = "powers leave the half range"

func init() {
	opNorm = normRow("norm", FP32Append)
	opVectorNorm = normRow("linalg_vector_norm", FP32Output)
	opMatrixNorm = define(Op{
		Name: "linalg_matrix_norm", Doc: "norm of matrices: fro, nuc, or ±1, ±inf, ±2 by sums of columns, of rows, by singular values", Args: []string{"x"},
		Class: FP32Output, Why: "made of norms that give float32", CUDA: "norm", Composite: []string{"linalg_svdvals", "amax", "amin", "sum", "linalg_vector_norm"}, Parts: ApartOnCUDA,
	})
	opNuclearNorm = define(Op{
		Name: "nuclear_norm", Doc: "the sum of the singular values of a matrix", Args: []string{"x"}, Class: FP32, Why: "singular values in half precision lose digits", CUDA: "svd", Composite: []string{"linalg_svdvals", "sum"}, Bound: boundSpectral,
	})
	opFrobeniusNorm = define(Op{
		Name: "frobenius_norm", Doc: "√Σ x² over dimensions", Args: []string{"x"}, Class: FP32, Why: whyPowers, CUDA: "norm", Composite: []string{"linalg_vector_norm"},
	})
}

// normRow defines (Σ |x|^p)^(1/p) over dimensions; p is c.Scalar.
func normRow(name string, class Class) *Op {
	var o *Op
	o = define(Op{
		Name: name, Doc: "(Σ |x|^p)^(1/p) over dimensions, √Σ x² for p = 2; for p = ±∞ the largest or smallest |x|, for p = 0 how many are not 0", Args: []string{"x"},
		Class: class, Why: whyPowers, CUDA: "norm", Saves: SaveIn0 | SaveOut, Wide: true, Result: explicit,
		Check: func(c *Call) []int {
			c.floats()
			shape := reducedShape(c)
			if (math.IsInf(c.Scalar, 0) || c.Scalar < 0) && c.In[0].Len() == 0 && length(shape) > 0 {
				fail(name, ErrShape, "use dimensions with elements, or an order from 0 on", "%s: no largest of nothing, nor a norm of order %v", c.shapes(), c.Scalar)
			}
			return shape
		},
		CPU: func(c *Call) {
			p := c.Scalar
			if normOfRuns(c) || math.IsInf(p, 1) && largestAmounts(c) {
				return
			}
			eachGroup(c.In[0], c.Dims, func(i int, group []float64) { store(c.Out, c.Out.off+i, []float64{pNorm(group, p)}) })
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			a.DType = NoDType
			y := b.again(func(s *Scope, x *Tensor) *Tensor { return s.apply(o, a, x) })
			b.Set(0, normSlope(b.S, b.In(0), b.repeat(y), b.repeat(b.DY), b.Attrs()))
		},
	})
	return o
}

// pNorm is the p-norm of a group of numbers.
func pNorm(v []float64, p float64) float64 {
	sum := 0.0
	switch p {
	case 2:
		for _, x := range v {
			sum += float64(x * x)
		}
		return math.Sqrt(sum)
	case 1:
		for _, x := range v {
			sum += math.Abs(x)
		}
		return sum
	case 0:
		for _, x := range v {
			if x != 0 {
				sum++
			}
		}
		return sum
	}
	if math.IsInf(p, 0) {
		return extremeAbs(v, p < 0)
	}
	for _, x := range v {
		sum += cpu.Pow(math.Abs(x), p)
	}
	return cpu.Pow(sum, 1/p)
}

// extremeAbs is the largest, or smallest, |x|; NaN if any is.
func extremeAbs(v []float64, smallest bool) float64 {
	best := math.NaN()
	for i, x := range v {
		x = math.Abs(x)
		if x != x {
			return x
		}
		if i == 0 || smallest == (x < best) && x != best {
			best = x
		}
	}
	return best
}

// normSlope is dy times the slope of a norm y of x; y and dy have the reduced dimensions as size 1. Where the norm is 0 so is the
// slope, and so are its own slopes: the subgradient that PyTorch takes. Numbers are divided by the norm first, which is at most 1 where dy or a
// power divided by it might leave the range.
func normSlope(s *Scope, x, y, dy *Tensor, a Attrs) *Tensor {
	switch p := a.Scalar; {
	case p == 0:
		return MulScalar(s, Expand(s, dy, x.shape...), 0)
	case p == 1:
		return Mul(s, Sign(s, x), dy)
	case p == 2:
		return Mul(s, divNonzero(s, x, y), dy)
	case math.IsInf(p, 0): // shared evenly by the elements that have it
		at := To(s, Eq(s, Abs(s, x), y), x.dt)
		count := SumKeep(s, at, a.Dims...)
		return Mul(s, Mul(s, Sign(s, x), at), divNonzero(s, dy, count))
	default:
		return Mul(s, signedPow(s, divNonzero(s, x, y), p-1), dy)
	}
}

// Norm returns the 2-norm √Σ x² over dims, over all dimensions without any; reduced dimensions go. float32 under autocast.
func Norm(s *Scope, x *Tensor, dims ...int) *Tensor { return NormP(s, x, 2, dims...) }

// NormP returns the p-norm (Σ |x|^p)^(1/p) over dims, over all dimensions without any; reduced dimensions go. p may be any number,
// infinities and 0 included. float32 under autocast.
func NormP(s *Scope, x *Tensor, p float64, dims ...int) *Tensor {
	return normOf(s, opNorm, x, p, dims, false, nil)
}

// VectorNorm returns the norm of order ord over dims, over all dimensions for nil, kept as size 1 if keep: torch.linalg.vector_norm.
// An explicit dtype is that of the result and wins over autocast, which otherwise gives float32.
func VectorNorm(s *Scope, x *Tensor, ord float64, dims []int, keep bool, dtype ...DType) *Tensor {
	return normOf(s, opVectorNorm, x, ord, dims, keep, dtype)
}

func normOf(s *Scope, o *Op, x *Tensor, p float64, dims []int, keep bool, dtype []DType) *Tensor {
	x.live(o.Name)
	if p != p {
		fail(o.Name, ErrArgument, "use 2, 1, an infinity or another number", "order %v", p)
	}
	a := Attrs{Dims: reducedAxes(o.Name, x, dims), Keep: keep, Scalar: p}
	if len(dtype) > 0 {
		if !dtype[0].IsFloat() {
			fail(o.Name, ErrDType, "use a float dtype", "result dtype %v", dtype[0])
		}
		a.DType = dtype[0]
	}
	return s.apply(o, a, x)
}

// MatrixNorm returns the norm of the matrices in two dimensions of x, the last two for nil, kept as size 1 if keep. ord is "fro",
// "1", "-1", "inf", "-inf", or, of singular values, "2", "-2" or "nuc", the largest, the smallest or their sum. An explicit dtype is that of the
// result and wins over autocast, which otherwise gives float32.
func MatrixNorm(s *Scope, x *Tensor, ord string, dims []int, keep bool, dtype ...DType) *Tensor {
	const op = "linalg_matrix_norm"
	x.live(op)
	if dims == nil {
		dims = []int{-2, -1}
	}
	if len(x.shape) < 2 || len(dims) != 2 || x.axis(op, dims[0]) == x.axis(op, dims[1]) {
		fail(op, ErrShape, "use amp.VectorNorm for vectors", "dims %v of x %v: need two dimensions", dims, x.shape)
	}
	rows, columns := x.axis(op, dims[0]), x.axis(op, dims[1])
	s, in := s.enter(opMatrixNorm, x)
	x = in[0]
	switch ord {
	case "fro":
		return VectorNorm(s, x, 2, []int{rows, columns}, keep, dtype...)
	case "2", "-2", "nuc":
		return spectralNorm(s, x, ord, []int{rows, columns}, keep, dtype)
	}
	order, ok := map[string]float64{"1": math.Inf(1), "-1": math.Inf(-1), "inf": math.Inf(1), "-inf": math.Inf(-1)}[ord]
	if !ok {
		fail(op, ErrArgument, `use "fro", "nuc", "1", "-1", "2", "-2", "inf" or "-inf"`, "order %q", ord)
	}
	summed, over := columns, rows
	if ord == "1" || ord == "-1" {
		summed, over = rows, columns
	}
	if order > 0 && x.shape[over] == 0 {
		order = 1 // the largest of no sums is 0, as in PyTorch, and so is their sum
	}
	y := VectorNorm(s, VectorNorm(s, x, 1, []int{summed}, true, dtype...), order, []int{over}, true)
	if keep {
		return y
	}
	_, shape := others(x, []int{rows, columns})
	return Reshape(s, y, shape...)
}

// spectralNorm is a norm of the singular values of matrices in two dimensions.
func spectralNorm(s *Scope, x *Tensor, ord string, dims []int, keep bool, dtype []DType) *Tensor {
	at := Attrs{}
	if len(dtype) > 0 {
		at.DType = dtype[0]
	} else if d := s.decide(opMatrixNorm, &at, []*Tensor{x}); d.output != NoDType {
		at.DType = d.output
	}
	if at.DType != NoDType {
		if !at.DType.IsFloat() {
			fail(opMatrixNorm.Name, ErrDType, "use a float dtype", "result dtype %v", at.DType)
		}
		x = To(s, x, at.DType)
	}
	rest, shape := others(x, dims)
	kept := slices.Clone(x.shape)
	kept[dims[0]], kept[dims[1]] = 1, 1
	values := SVDVals(s, Permute(s, x, append(rest, dims...)...))
	if k := values.shape[len(values.shape)-1]; k == 0 && ord != "nuc" {
		fail(opMatrixNorm.Name, ErrShape, "use matrices with elements", "x %v: no largest of nothing", x.shape)
	}
	var y *Tensor
	switch ord {
	case "2":
		y = Amax(s, values, -1)
	case "-2":
		y = Amin(s, values, -1)
	default:
		y = Sum(s, values, -1)
	}
	if keep {
		shape = kept
	}
	return Reshape(s, y, shape...)
}

// NuclearNorm returns the sum of the singular values of matrices x [… m n]: […]; float32 under autocast. (torch.nuclear_norm over the last two
// dimensions)
func NuclearNorm(s *Scope, x *Tensor) *Tensor {
	matrices("nuclear_norm", x)
	s, in := s.enter(opNuclearNorm, x)
	return Sum(s, SVDVals(s, in[0]), -1)
}

// FrobeniusNorm returns √Σ x² over dims, over all dimensions without any; reduced dimensions go. float32 under autocast, where its
// input is cast, which Norm spares.
func FrobeniusNorm(s *Scope, x *Tensor, dims ...int) *Tensor {
	s, in := s.enter(opFrobeniusNorm, x)
	return VectorNorm(s, in[0], 2, dims, false)
}
