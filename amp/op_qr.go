package amp

import (
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// QR factors by reflections. The row gives both in one list of float64, whatever the dtype, so that they and their gradients are rounded once.

var opQR, opQRPacked *Op

// boundSpectral is the constant of factors' error bounds: their errors are some units of the matrix, not of each number's own terms.
const boundSpectral = 8

// Modes of QR, PyTorch's.
const (
	qrReduced  = "reduced"
	qrComplete = "complete"
	qrOnlyR    = "r"
)

func init() {
	opQRPacked = define(Op{
		Name: "qr_packed", Doc: "Q and R of x = Q·R one behind the other, in float64", Args: []string{"x"}, Why: whyDense,
		CUDA: "qr", Saves: SaveOut, CPU: qrCPU, Backward: qrBackward,
		Check: func(c *Call) []int { // Shape: columns of Q, rows of R
			c.floats()
			m, n := c.matrix(0)
			return packedShape(c.In[0].shape, m*c.Shape[0]+c.Shape[1]*n)
		},
		Result: func(*Call) DType { return Float64 },
	})
	opQR = define(Op{
		Name: "linalg_qr", Doc: "Q with orthonormal columns and R, upper triangular, of x = Q·R", Args: []string{"x"}, CPUList: FP32, Why: whyDense,
		CUDA: "qr", Composite: []string{"qr_packed", "narrow", "reshape"}, Bound: boundSpectral,
	})
}

// matrix returns the sizes of the matrices that input i holds.
func (c *Call) matrix(i int) (m, n int) {
	matrices(c.Op.Name, c.In[i])
	shape := c.In[i].shape
	return shape[len(shape)-2], shape[len(shape)-1]
}

// packedShape is that of n numbers for each matrix of a batch.
func packedShape(shape []int, n int) []int { return append(slices.Clone(shape[:len(shape)-2]), n) }

// unpacked is a part of a packed result, in a shape: the numbers of each matrix from at on.
func unpacked(s *Scope, packed *Tensor, at int, shape ...int) *Tensor {
	part := Narrow(s, packed, -1, at, length(shape))
	return Reshape(s, part, append(slices.Clone(packed.shape[:len(packed.shape)-1]), shape...)...)
}

func qrCPU(c *Call) {
	x, out := c.In[0], c.Out
	m, n := c.matrix(0)
	cols, rows := c.Shape[0], c.Shape[1]
	batch, each := x.shape[:len(x.shape)-2], m*cols+rows*n
	eachDense(length(batch), 4*m*n*min(m, n), cpu.QRRoom(m, n, cols), func(g int, room []float64) {
		loadMatrix(room, batchRows(x, batch, g), m, n)
		to := elements[float64](out)[out.off+g*each:][:each]
		cpu.QR(room, m, n, cols, rows, to[:m*cols], to[m*cols:])
	})
}

// qrBackward is the gradient as PyTorch has it (linalg_qr_backward). Of a wide matrix the columns behind the square ones are Q times those of R, by
// which they add to the gradient of Q.
func qrBackward(b *Back) {
	s, shape, mode := b.S, b.Shape(0), b.Attrs().Mode
	m, n := shape[len(shape)-2], shape[len(shape)-1]
	switch {
	case length(shape) == 0:
		b.Set(0, Zeros(s, b.DType(0), shape...))
		return
	case mode == qrOnlyR:
		fail("linalg_qr backward", ErrGrad, `use mode "reduced"`, `mode "r" has no Q, which the gradient is made of`)
	case mode == qrComplete && m > n:
		fail("linalg_qr backward", ErrGrad, `use mode "reduced"`, `in mode "complete" Q of %v is not determined by x, as it has more rows than columns`, shape)
	}
	k := min(m, n)
	parts := func(t *Tensor) (q, r *Tensor) { return unpacked(s, t, 0, m, k), unpacked(s, t, m*k, k, n) }
	q, r := parts(b.Out())
	gq, gr := parts(b.DY)
	square, gSquare := r, gr
	if m < n {
		square, gSquare = Narrow(s, r, -1, 0, m), Narrow(s, gr, -1, 0, m)
		gq = Add(s, gq, MatMul(s, q, MatMul(s, Narrow(s, r, -1, m, n-m), mT(s, Narrow(s, gr, -1, m, n-m)))))
	}
	x := Sub(s, MatMul(s, gSquare, mT(s, square)), MatMul(s, mT(s, q), gq))
	x = Add(s, Triu(s, x, 0), mT(s, Triu(s, x, 1)))
	g := SolveTriangular(s, mT(s, square), Add(s, gq, MatMul(s, q, x)), Triangular{Right: true})
	if m < n {
		g = Cat(s, -1, g, MatMul(s, q, Narrow(s, gr, -1, m, n-m)))
	}
	b.Set(0, To(s, g, b.DType(0)))
}

// QR returns the factors of matrices x [… m n] = q·r: q with orthonormal columns, r upper triangular. With k = min(m, n), mode "reduced" gives q [… m k]
// and r [… k n], "complete" q [… m m] and r [… m n], and "r" no q, which is nil, and r [… k n]. The signs are those of LAPACK, so of PyTorch: the diagonal
// of r may be negative. There is a gradient in mode "reduced", and in "complete" unless m > n, for matrices whose first k columns are independent; that
// of others is infinite or NaN. Computed in float64 and rounded once; float32 under the CPU's lists. (torch.linalg.qr)
func QR(s *Scope, x *Tensor, mode string) (q, r *Tensor) {
	s, in := s.enter(opQR, x)
	x = in[0]
	m, n := opQR.matrix(x)
	cols, rows := min(m, n), min(m, n)
	switch mode {
	case qrReduced:
	case qrComplete:
		cols, rows = m, m
	case qrOnlyR:
		cols = 0
	default:
		fail(opQR.Name, ErrArgument, `use "reduced", "complete" or "r"`, "mode %q", mode)
	}
	packed := s.apply(opQRPacked, Attrs{Mode: mode, Shape: []int{cols, rows}}, x)
	if mode != qrOnlyR {
		q = To(s, unpacked(s, packed, 0, m, cols), x.dt)
	}
	return q, To(s, unpacked(s, packed, m*cols, rows, n), x.dt)
}

// matrix checks the input of a composite, floats, and returns the sizes of its matrices.
func (o *Op) matrix(x *Tensor) (m, n int) {
	c := Call{Op: o, In: []*Tensor{x}}
	x.live(o.Name)
	c.floats()
	return c.matrix(0)
}
