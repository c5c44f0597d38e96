package amp

import (
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The matrix products of one rank, and those that add to a tensor in the same rounding: all on the lower list.

var opMM, opBMM, opAddmm, opBaddbmm, opMV, opAddmv, opAddr, opAddbmm, opChainMatMul *Op

func init() {
	opMM = product("mm", "matrix product of two matrices", 2)
	opBMM = product("bmm", "matrix products of two batches of matrices", 3)
	opAddmm = addedProduct("addmm", "beta·x + alpha·(a·b) for matrices, rounded once; x is broadcast", 2)
	opBaddbmm = addedProduct("baddbmm", "beta·x + alpha·(a·b) for batches of matrices, rounded once; x is broadcast", 3)
	composite := func(o Op) *Op {
		o.Class, o.Why, o.CUDA = Lower, whyGEMM, "gemm"
		return define(o)
	}
	opMV = composite(Op{Name: "mv", Doc: "product of a matrix and a vector", Args: []string{"a", "v"}, Composite: []string{"reshape", "matmul"}})
	opAddmv = composite(Op{Name: "addmv", Doc: "beta·x + alpha·(a·v)", Args: []string{"x", "a", "v"}, Composite: []string{"reshape", "addmm"}})
	opAddr = composite(Op{Name: "addr", Doc: "beta·x + alpha·(u·vᵀ)", Args: []string{"x", "u", "v"}, Composite: []string{"reshape", "addmm"}})
	opAddbmm = composite(Op{Name: "addbmm", Doc: "beta·x + alpha·Σ a·b over a batch", Args: []string{"x", "a", "b"}, Composite: []string{"reshape", "addmm"}, CPUList: Lower})
	opChainMatMul = composite(Op{Name: "chain_matmul", Doc: "product of several matrices, in the order of fewest operations", Args: []string{"first", "second", "third"}, Composite: []string{"mm"}, Parts: Apart})
}

// product defines matmul for operands of one rank, without broadcasting.
func product(name, doc string, rank int) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"a", "b"}, Class: Lower, CPUList: Lower, Why: whyGEMM, Ints: true, CUDA: "gemm", Saves: SaveIn0 | SaveIn1,
		Check: func(c *Call) []int { c.ranks(rank, 0); return checkMatMul(c) },
		CPU:   matmulCPU, Backward: matmulBackward,
	})
}

// ranks refuses operands from on that have another rank, or batches of different sizes.
func (c *Call) ranks(rank, from int) {
	a, b := c.In[from], c.In[from+1]
	if len(a.shape) != rank || len(b.shape) != rank || rank == 3 && a.shape[0] != b.shape[0] {
		fail(c.Op.Name, ErrShape, "use amp.MatMul for other ranks and for broadcasting", "%s: both need %d dimensions, and batches the same size", c.shapes(), rank)
	}
}

// addedProduct defines addmm or baddbmm.
func addedProduct(name, doc string, rank int) *Op {
	var o *Op
	o = define(Op{
		Name: name, Doc: doc, Args: []string{"x", "a", "b"}, Class: Lower, CPUList: Lower, Why: whyGEMM, CUDA: "gemm", Saves: SaveIn1 | SaveIn2,
		Check: func(c *Call) []int { c.floats(); return c.addedShape(rank) },
		Whole: func(s *Scope, at Attrs, in []*Tensor) *Tensor {
			beta, alpha := at.Pair[0], at.Pair[1]
			if !allInts(in) || !whole(beta) || !whole(alpha) {
				return nil
			}
			(&Call{Op: o, In: in}).addedShape(rank)
			return Add(s, MulScalar(s, in[0], beta), MulScalar(s, MatMul(s, in[1], in[2]), alpha))
		},
		CPU: func(c *Call) {
			if c.Out.dt == Float64 {
				addProduct[float64](c)
				return
			}
			addProduct[float32](c)
		},
		Backward: func(b *Back) {
			if b.Needs(0) {
				b.Set(0, b.sumTo(0, MulScalar(b.S, b.DY, b.Attrs().Pair[0])))
			}
			alpha := b.Attrs().Pair[1]
			if b.Needs(1) {
				b.Set(1, MulScalar(b.S, MatMul(b.S, b.DY, Transpose(b.S, b.In(2), -1, -2)), alpha))
			}
			if b.Needs(2) {
				b.Set(2, MulScalar(b.S, MatMul(b.S, Transpose(b.S, b.In(1), -1, -2), b.DY), alpha))
			}
		},
	})
	return o
}

// addedShape is the shape of a product of matrices, or of batches of them, into which the first input fits.
func (c *Call) addedShape(rank int) []int {
	c.ranks(rank, 1)
	shape := checkMatMul(&Call{Op: c.Op, In: c.In[1:]})
	sum := broadcast(&Call{Op: c.Op, In: []*Tensor{c.In[0], {dt: c.In[0].dt, shape: shape}}})
	if !slices.Equal(sum, shape) {
		fail(c.Op.Name, ErrShape, "x must fit into the product", "%s: the product is %v", c.shapes(), shape)
	}
	return shape
}

// addProduct adds x in the accumulator's precision, before the one rounding.
func addProduct[T float32 | float64](c *Call) {
	x, a, b, out := c.In[0], c.In[1], c.In[2], c.Out
	beta, alpha := T(c.Pair[0]), T(c.Pair[1])
	r := len(out.shape)
	m, n, k := out.shape[r-2], out.shape[r-1], a.shape[r-1]
	wide := expandView(&Call{In: []*Tensor{x}, Attrs: Attrs{Shape: out.shape}})
	defer wide.release()
	cpu.Parallel(length(out.shape[:r-2]), max(1, 1<<20/max(1, m*n*k)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			batch := func(t *Tensor) int {
				if r == 2 {
					return t.off
				}
				return t.off + i*t.strides[0]
			}
			cpu.GemmTo(m, n, k, operand[T](a, batch(a), a.strides[r-2], a.strides[r-1]), operand[T](b, batch(b), b.strides[r-2], b.strides[r-1]),
				productInto(out, out.off+i*m*n, n, func(row, col int, acc []T) {
					if beta == 0 { // as in PyTorch, x has no say then, NaN or not
						for q, v := range acc {
							acc[q] = alpha * v
						}
						return
					}
					addRow(acc, wide, batch(wide)+row*wide.strides[r-2]+col*wide.strides[r-1], wide.strides[r-1], alpha, beta)
				}))
		}
	})
}

// addRow sets acc to alpha·acc + beta·x, for elements of x from off on.
func addRow[T float32 | float64](acc []T, x *Tensor, off, stride int, alpha, beta T) {
	pool := scratches[T]()
	s := pool.Get().(*scratch[T])
	for len(acc) > 0 {
		part := acc[:min(chunk, len(acc))]
		add := fetch(&s.buf[0], x, off, stride, len(part))
		for q, v := range part {
			part[q] = T(alpha*v) + T(beta*add[q])
		}
		acc, off = acc[len(part):], off+len(part)*stride
	}
	pool.Put(s)
}

// MM returns the product of two matrices [m k] and [k n]; in the lower dtype under autocast.
func MM(s *Scope, a, b *Tensor) *Tensor { return s.apply(opMM, Attrs{}, a, b) }

// BMM returns the products of two batches of matrices [batch m k] and [batch k n]; in the lower dtype under autocast.
func BMM(s *Scope, a, b *Tensor) *Tensor { return s.apply(opBMM, Attrs{}, a, b) }

// MV returns the product of a matrix [m k] and a vector [k]: [m]; in the lower dtype under autocast.
func MV(s *Scope, a, v *Tensor) *Tensor {
	rankOf("mv", a, 2)
	rankOf("mv", v, 1)
	s, in := s.enter(opMV, a, v)
	return MatMul(s, in[0], in[1])
}

// Addmm returns beta·x + alpha·(a·b) for matrices a and b and an x broadcast to their product, rounded once; in the lower dtype
// under autocast. With beta 0 x has no say, NaN or not.
func Addmm(s *Scope, x, a, b *Tensor, beta, alpha float64) *Tensor {
	return s.apply(opAddmm, Attrs{Pair: [2]float64{beta, alpha}}, x, a, b)
}

// Baddbmm is Addmm for batches of matrices.
func Baddbmm(s *Scope, x, a, b *Tensor, beta, alpha float64) *Tensor {
	return s.apply(opBaddbmm, Attrs{Pair: [2]float64{beta, alpha}}, x, a, b)
}

// Addmv returns beta·x + alpha·(a·v) for a matrix a [m k], a vector v [k] and x [m], [1] or [].
func Addmv(s *Scope, x, a, v *Tensor, beta, alpha float64) *Tensor {
	rankOf("addmv", v, 1)
	if x.live("addmv"); !x.lone() {
		rankOf("addmv", x, 1)
	}
	s, in := s.enter(opAddmv, x, a, v)
	y := Addmm(s, Reshape(s, in[0], -1, 1), in[1], Reshape(s, in[2], -1, 1), beta, alpha)
	return Reshape(s, y, y.shape[0])
}

// Addr returns beta·x + alpha·(u·vᵀ) for vectors u [m] and v [n] and an x broadcast to [m n].
func Addr(s *Scope, x, u, v *Tensor, beta, alpha float64) *Tensor {
	rankOf("addr", u, 1)
	rankOf("addr", v, 1)
	s, in := s.enter(opAddr, x, u, v)
	return Addmm(s, in[0], Reshape(s, in[1], -1, 1), Reshape(s, in[2], 1, -1), beta, alpha)
}

// Addbmm returns beta·x + alpha·Σ a·b over the batch of a [batch m k] and b [batch k n], accumulated wide and rounded once.
func Addbmm(s *Scope, x, a, b *Tensor, beta, alpha float64) *Tensor {
	rankOf("addbmm", a, 3)
	rankOf("addbmm", b, 3)
	if a.shape[0] != b.shape[0] || a.shape[2] != b.shape[1] {
		fail("addbmm", ErrShape, "use [batch m k] and [batch k n]", "a %v, b %v", a.shape, b.shape)
	}
	s, in := s.enter(opAddbmm, x, a, b)
	x, a, b = in[0], in[1], in[2]
	side := Reshape(s, Permute(s, a, 1, 0, 2), a.shape[1], a.shape[0]*a.shape[2])
	return Addmm(s, x, side, Reshape(s, b, b.shape[0]*b.shape[1], b.shape[2]), beta, alpha)
}

// ChainMatMul returns the product of matrices in the order that takes the fewest multiplications (Cormen et al., matrix-chain
// multiplication). It panics with ErrArgument without a matrix.
func ChainMatMul(s *Scope, matrices ...*Tensor) *Tensor {
	if len(matrices) == 0 {
		fail("chain_matmul", ErrArgument, "pass at least one matrix", "nothing to multiply")
	}
	return chain(s, opChainMatMul, matrices)
}

// chain multiplies matrices as part of composite o.
func chain(s *Scope, o *Op, matrices []*Tensor) *Tensor {
	n := len(matrices)
	for i, m := range matrices {
		rankOf(o.Name, m, 2)
		if i > 0 && matrices[i-1].shape[1] != m.shape[0] {
			fail(o.Name, ErrShape, "each matrix has as many rows as the one before has columns", "matrix %d is %v, matrix %d is %v", i-1, matrices[i-1].shape, i, m.shape)
		}
	}
	cost, split := make([][]int, n), make([][]int, n)
	for i := range n {
		cost[i], split[i] = make([]int, n), make([]int, n)
	}
	for span := 1; span < n; span++ {
		for i := 0; i+span < n; i++ {
			j := i + span
			cost[i][j] = -1
			for k := i; k < j; k++ {
				c := cost[i][k] + cost[k+1][j] + matrices[i].shape[0]*matrices[k].shape[1]*matrices[j].shape[1]
				if cost[i][j] < 0 || c < cost[i][j] {
					cost[i][j], split[i][j] = c, k
				}
			}
		}
	}
	s, matrices = s.enter(o, matrices...)
	var multiply func(i, j int) *Tensor
	multiply = func(i, j int) *Tensor {
		if i == j {
			return matrices[i]
		}
		return MM(s, multiply(i, split[i][j]), multiply(split[i][j]+1, j))
	}
	return multiply(0, n-1)
}

// rankOf refuses a tensor of another rank.
func rankOf(op string, t *Tensor, rank int) {
	t.live(op)
	if len(t.shape) != rank {
		fail(op, ErrShape, "reshape it with amp.Reshape, or use amp.MatMul", "shape %v, need %d dimensions", t.shape, rank)
	}
}
