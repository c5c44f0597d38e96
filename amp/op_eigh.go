package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// Eigenvalues and eigenvectors of symmetric matrices. The row gives both in one list of float64; without gradients the values alone, where the vectors
// are not asked for.

var opEigh, opEigvalsh, opEighPacked *Op

// valuesAlone is the mode of eigh_packed and svd_packed without vectors, which have no gradient.
const valuesAlone = "values"

const (
	whatSpectral = "matrix %d: not finite, or no convergence, in row %d"
	fixSpectral  = "pass finite numbers; amp.IsFinite finds others"
)

// spectral says which op refuses a matrix; the parts' names are no user's.
func spectral(op string) func(mode string) (name, what, fix string) {
	return func(string) (name, what, fix string) { return op, whatSpectral, fixSpectral }
}

func init() {
	opEighPacked = define(Op{
		Name: "eigh_packed", Doc: "eigenvalues, and eigenvectors as columns, of a symmetric matrix one behind the other, in float64", Args: []string{"x"}, Why: whyDense,
		CUDA: "eigh", Saves: SaveOut, CPU: eighCPU, Backward: eighBackward, Singular: spectral("linalg_eigh"),
		Check: func(c *Call) []int { // Reverse: the upper triangle is read
			c.floats()
			n := c.square(0)
			if c.Mode == valuesAlone {
				return packedShape(c.In[0].shape, n)
			}
			return packedShape(c.In[0].shape, n+n*n)
		},
		Result: func(*Call) DType { return Float64 },
	})
	composite := func(name, doc string) *Op {
		return define(Op{Name: name, Doc: doc, Args: []string{"x"}, CPUList: FP32, Why: whyDense, CUDA: "eigh", Composite: []string{"eigh_packed", "narrow", "reshape"}, Bound: boundSpectral})
	}
	opEigh = composite("linalg_eigh", "ascending eigenvalues w and orthonormal eigenvectors v of a symmetric matrix: x = v·diag(w)·vᵀ")
	opEigvalsh = composite("linalg_eigvalsh", "ascending eigenvalues of a symmetric matrix")
}

func eighCPU(c *Call) {
	x, out := c.In[0], c.Out
	n := c.square(0)
	batch, each := x.shape[:len(x.shape)-2], out.shape[len(out.shape)-1]
	var failed fault
	eachDense(length(batch), 8*n*n*n, cpu.EighRoom(n), func(g int, room []float64) {
		rows := batchRows(x, batch, g)
		if c.Reverse { // of a symmetric matrix that is the lower one
			rows.stride, rows.step = rows.step, rows.stride
		}
		for i := range n {
			loadRow(room[i*n:i*n+i+1], rows, i, 0)
			for j := range i {
				room[j*n+i] = room[i*n+j]
			}
		}
		if failed.infinite(g, room[:n*n], n, false) {
			return
		}
		to := elements[float64](out)[out.off+g*each:][:each]
		var vectors []float64
		if each > n {
			vectors = to[n:]
		}
		if k := cpu.Eigh(room, n, to[:n], vectors); k >= 0 {
			failed.note(g, k)
		}
	})
	failed.raise(c)
}

// infinite notes the first row of a matrix, or its first column if it is turned, with a number that is not finite; it says whether there is one.
func (f *fault) infinite(batch int, a []float64, cols int, turned bool) bool {
	first := -1
	for k, v := range a {
		if v-v == 0 {
			continue
		}
		at := k / cols
		if turned {
			at = k % cols
		}
		if first < 0 || at < first {
			first = at
		}
	}
	if first >= 0 {
		f.note(batch, first)
	}
	return first >= 0
}

// eighBackward is the gradient as PyTorch has it (linalg_eig_backward): v·(diag(dw) + vᵀ·dv/E)·vᵀ, E[i,j] = w[j] - w[i], and half of it and half
// of its transpose. Equal eigenvalues divide nothing.
func eighBackward(b *Back) {
	s := b.S
	n := b.Shape(0)[len(b.Shape(0))-1]
	parts := func(t *Tensor) (w, v *Tensor) { return unpacked(s, t, 0, n), unpacked(s, t, n, n, n) }
	w, v := parts(b.Out())
	gw, gv := parts(b.DY)
	apart := Sub(s, addDim(s, w, -1), addDim(s, w, 0))
	inner := divNonzero(s, MatMul(s, mT(s, v), gv), apart)
	g := MatMul(s, Add(s, MatMul(s, v, inner), Mul(s, v, addDim(s, gw, -1))), mT(s, v))
	b.Set(0, To(s, MulScalar(s, Add(s, g, mT(s, g)), 0.5), b.DType(0)))
}

// Eigh returns the eigenvalues of symmetric matrices x [… n n], ascending: [… n], and orthonormal eigenvectors, the columns of [… n n]. Only the lower
// triangle is read, or, if upper, the upper one (PyTorch's UPLO). Of each vector the largest number, the first of several, is positive, where PyTorch
// leaves the signs to its library. The gradient is symmetric; of vectors it is that of functions that do not depend on
// their signs, and pairs of equal eigenvalues have no part in it, where PyTorch's is infinite or NaN. A matrix with numbers that are not finite panics with
// ErrSingular on the CPU; on a GPU the error comes with the next read. Computed in float64 and rounded once; float32 under the CPU's lists.
// (torch.linalg.eigh)
func Eigh(s *Scope, x *Tensor, upper bool) (values, vectors *Tensor) {
	s, in := s.enter(opEigh, x)
	n := opEigh.squares(0, in[0])
	packed := s.apply(opEighPacked, Attrs{Reverse: upper}, in[0])
	return To(s, unpacked(s, packed, 0, n), in[0].dt), To(s, unpacked(s, packed, n, n, n), in[0].dt)
}

// Eigvalsh returns the eigenvalues of symmetric matrices, as Eigh does; without a gradient to keep it computes no vectors. (torch.linalg.eigvalsh)
func Eigvalsh(s *Scope, x *Tensor, upper bool) *Tensor {
	s, in := s.enter(opEigvalsh, x)
	n := opEigvalsh.squares(0, in[0])
	at := Attrs{Reverse: upper}
	if s.noGrad || !in[0].needs {
		at.Mode = valuesAlone
	}
	return To(s, unpacked(s, s.apply(opEighPacked, at, in[0]), 0, n), in[0].dt)
}
