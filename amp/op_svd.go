package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// Singular value decompositions. The row gives values and vectors in one list of float64; without gradients the values alone, where the
// vectors are not asked for.

var opSVD, opSVDVals, opSVDPacked *Op

func init() {
	opSVDPacked = define(Op{
		Name: "svd_packed", Doc: "singular values, U and Vᵀ of x = U·diag(S)·Vᵀ one behind the other, in float64", Args: []string{"x"}, Why: whyDense,
		CUDA: "svd", Saves: SaveOut, CPU: svdCPU, Backward: svdBackward, Singular: spectral("linalg_svd"),
		Check: func(c *Call) []int { // Shape: columns of U, rows of Vᵀ
			c.floats()
			m, n := c.matrix(0)
			return packedShape(c.In[0].shape, min(m, n)+m*c.Shape[0]+c.Shape[1]*n)
		},
		Result: func(*Call) DType { return Float64 },
	})
	composite := func(name, doc string) *Op {
		return define(Op{Name: name, Doc: doc, Args: []string{"x"}, CPUList: FP32, Why: whyDense, CUDA: "svd", Composite: []string{"svd_packed", "narrow", "reshape"}, Bound: boundSpectral})
	}
	opSVD = composite("linalg_svd", "orthonormal U and V and descending singular values S of x = U·diag(S)·Vᵀ")
	opSVDVals = composite("linalg_svdvals", "descending singular values of a matrix")
}

func svdCPU(c *Call) {
	x, out := c.In[0], c.Out
	m, n := c.matrix(0)
	turned, k := m < n, min(m, n)
	tall, vectors := max(m, n), c.Shape[0]
	if turned {
		vectors = c.Shape[1]
	}
	batch, each := x.shape[:len(x.shape)-2], out.shape[len(out.shape)-1]
	var failed fault
	eachDense(length(batch), 12*m*n*k, cpu.SVDRoom(tall, k, vectors), func(g int, room []float64) {
		rows := batchRows(x, batch, g)
		if turned {
			rows.stride, rows.step = rows.step, rows.stride
		}
		loadMatrix(room, rows, tall, k)
		if failed.infinite(g, room[:tall*k], k, turned) {
			return
		}
		to := elements[float64](out)[out.off+g*each:][:each]
		var u, vh []float64
		if vectors > 0 {
			u, vh = to[k:k+m*c.Shape[0]], to[k+m*c.Shape[0]:]
		}
		if at := cpu.SVD(room, tall, k, vectors, turned, to[:k], u, vh); at >= 0 {
			failed.note(g, at)
		}
	})
	failed.raise(c)
}

// svdBackward is the gradient as PyTorch has it (svd_backward); of vectors beyond the singular values it takes none. Equal singular values, and a value
// of 0, divide nothing.
func svdBackward(b *Back) {
	s, shape := b.S, b.Shape(0)
	m, n := shape[len(shape)-2], shape[len(shape)-1]
	k, cols, rows := min(m, n), b.Attrs().Shape[0], b.Attrs().Shape[1]
	parts := func(t *Tensor) (values, u, vh *Tensor) {
		return unpacked(s, t, 0, k), Narrow(s, unpacked(s, t, k, m, cols), -1, 0, k), Narrow(s, unpacked(s, t, k+m*cols, rows, n), -2, 0, k)
	}
	values, u, vh := parts(b.Out())
	gs, gu, gvh := parts(b.DY)
	across, down := addDim(s, values, -1), addDim(s, values, 0) // as a row, and as a column
	apart := Mul(s, Sub(s, across, down), Add(s, across, down))
	skew := func(x *Tensor) *Tensor { return divNonzero(s, Sub(s, x, mT(s, x)), apart) }
	inner := Add(s, Mul(s, skew(MatMul(s, mT(s, u), gu)), across), Mul(s, skew(MatMul(s, vh, mT(s, gvh))), down))
	left := Add(s, MatMul(s, u, inner), Mul(s, u, addDim(s, gs, -1)))
	if m > k {
		over := divNonzero(s, gu, across)
		left = Add(s, left, Sub(s, over, MatMul(s, u, MatMul(s, mT(s, u), over))))
	}
	g := MatMul(s, left, vh)
	if n > k {
		over := divNonzero(s, gvh, down)
		g = Add(s, g, MatMul(s, u, Sub(s, over, MatMul(s, MatMul(s, over, mT(s, vh)), vh))))
	}
	b.Set(0, To(s, g, b.DType(0)))
}

// SVD returns the singular value decompositions of matrices x [… m n] = u·diag(values)·vh: orthonormal u [… m k], descending values [… k] and vh [… k n],
// k = min(m, n), or, if full, u [… m m] and vh [… n n] (PyTorch's full_matrices). Of each column of u, or row of vh if n > m, that has a value the
// largest number, the first of several, is positive, where PyTorch leaves the signs to its library. The gradient is PyTorch's: of vectors it is
// that of functions that do not depend on signs, those beyond k have none, and pairs of equal values, and a value of 0, have no part in that of the vectors,
// where PyTorch's is infinite or NaN. A matrix with numbers that are not finite panics with ErrSingular on the CPU; on a GPU the error comes with
// the next read. Computed in float64 and rounded once; float32 under the CPU's lists. (torch.linalg.svd)
func SVD(s *Scope, x *Tensor, full bool) (u, values, vh *Tensor) {
	s, in := s.enter(opSVD, x)
	x = in[0]
	m, n := opSVD.matrix(x)
	k := min(m, n)
	cols, rows := k, k
	if full {
		cols, rows = m, n
	}
	packed := s.apply(opSVDPacked, Attrs{Shape: []int{cols, rows}}, x)
	return To(s, unpacked(s, packed, k, m, cols), x.dt), To(s, unpacked(s, packed, 0, k), x.dt), To(s, unpacked(s, packed, k+m*cols, rows, n), x.dt)
}

// SVDVals returns the singular values of matrices [… m n], descending: [… min(m, n)], as SVD does; without a gradient to keep it computes no
// vectors. (torch.linalg.svdvals)
func SVDVals(s *Scope, x *Tensor) *Tensor {
	s, in := s.enter(opSVDVals, x)
	x = in[0]
	k := min(opSVDVals.matrix(x))
	return To(s, unpacked(s, s.singular(x), 0, k), x.dt)
}

// singular is the packed decomposition of x, or its values where no gradient is kept.
func (s *Scope) singular(x *Tensor) *Tensor {
	k := min(x.shape[len(x.shape)-2], x.shape[len(x.shape)-1])
	if s.noGrad || !x.needs {
		k = 0
	}
	return s.apply(opSVDPacked, Attrs{Shape: []int{k, k}}, x)
}
