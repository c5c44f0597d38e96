package amp

import (
	"slices"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// What factorizations of dense matrices and solutions of systems share. All are computed in float64, whatever the dtype, and rounded once,
// element by element in the order of elimination (internal/cpu/factor.go): so the CPU and a GPU choose the same pivots. A matrix that has no
// such factor, or no inverse, is an error at once on the CPU; a GPU tells at the next read, as it does of indices out of range.

const whyDense = "PyTorch's CUDA lists leave it in the dtype of its inputs; computed in float64 and rounded once"

const (
	fixSingular = "pass a matrix of full rank, or add a small multiple of the identity to it"
	fixSides    = "use matrices [… n n] and right-hand sides [… n m]"
)

// square returns the size of the matrices that input i holds.
func (c *Call) square(i int) int {
	shape := c.In[i].shape
	r := len(shape)
	if r < 2 || shape[r-1] != shape[r-2] {
		fail(c.Op.Name, ErrShape, "use [… n n]", "%s is %v, no batch of square matrices", c.Op.argName(i), shape)
	}
	return shape[r-1]
}

// squares checks the inputs of a composite before its parts do, which would name themselves and tensors that the caller never gave: floats of
// one dtype, and input i a batch of square matrices, of the size that it returns.
func (o *Op) squares(i int, in ...*Tensor) int {
	c := Call{Op: o, In: in}
	for _, t := range in {
		t.live(o.Name)
	}
	c.floats()
	return c.square(i)
}

// sized checks that a dimension of input i, from its end, has n elements, as those of the square matrices have that it goes with.
func (o *Op) sized(i, fromEnd, n int, in ...*Tensor) {
	if shape := in[i].shape; len(shape) < fromEnd || shape[len(shape)-fromEnd] != n {
		fail(o.Name, ErrShape, fixSides, "%s", (&Call{Op: o, In: in}).shapes())
	}
}

// sameBatch refuses an input whose batch is not that of the first.
func (c *Call) sameBatch(i int) {
	a, b := c.In[0].shape, c.In[i].shape
	if len(b) != len(a) || !slices.Equal(a[:len(a)-2], b[:len(b)-2]) {
		fail(c.Op.Name, ErrShape, "use matrices of one batch", "%s", c.shapes())
	}
}

// loadMatrix reads a matrix of n rows and m columns.
func loadMatrix(dst []float64, x matrixRows, n, m int) {
	for i := range n {
		loadRow(dst[i*m:(i+1)*m], x, i, 0)
	}
}

// A fault is the first matrix of a batch that has no solution, and the place in it.
type fault struct {
	mu        sync.Mutex
	some      bool
	batch, at int
}

func (f *fault) note(batch, at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.some || batch < f.batch {
		f.some, f.batch, f.at = true, batch, at
	}
}

// zero notes the first 0 on the diagonal of a matrix, where the call refuses it; it says whether there is one.
func (f *fault) zero(c *Call, batch int, t *cpu.Triangle) bool {
	if op, _, _ := c.Op.Singular(c.Mode); op == "" {
		return false
	}
	for k := range t.N {
		if t.At(k, k) == 0 {
			f.note(batch, k)
			return true
		}
	}
	return false
}

// raise panics if a fault was noted.
func (f *fault) raise(c *Call) {
	if f.some {
		op, what, fix := c.Op.Singular(c.Mode)
		fail(op, ErrSingular, fix, what, f.batch, f.at+1)
	}
}

// eachDense calls f for every matrix of a batch with room for so many numbers.
func eachDense(batches, work, room int, f func(g int, room []float64)) {
	cpu.Parallel(batches, grainOf(work/2), func(lo, hi int) {
		own := rowPool.Get().(*[]float64)
		defer rowPool.Put(own)
		for g := lo; g < hi; g++ {
			f(g, sized(own, room))
		}
	})
}

// mT is the transposed matrix.
func mT(s *Scope, x *Tensor) *Tensor { return Transpose(s, x, -1, -2) }

// onBatch repeats the matrices of t over a batch.
func onBatch(s *Scope, t *Tensor, batch []int) *Tensor {
	shape := append(slices.Clone(batch), t.shape[len(t.shape)-2:]...)
	if slices.Equal(shape, t.shape) {
		return t
	}
	return Expand(s, t, shape...)
}

// onDiagonals are n×n matrices with a number of d [… 1] on the diagonal, and zeros.
func onDiagonals(s *Scope, d *Tensor, n int) *Tensor {
	full := Expand(s, addDim(s, d, 0), append(slices.Clone(d.shape[:len(d.shape)-1]), n, n)...)
	return Triu(s, Tril(s, full, 0), 0) // DiagEmbed has lists of places on the heap
}

// identities are n×n identity matrices like a batch of t's.
func identities(s *Scope, t *Tensor, n int) *Tensor {
	return onBatch(s, onDiagonals(s, s.Own(Ones(s, t.dt, 1)), n), t.shape[:len(t.shape)-2])
}
