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
	fixPositive = "pass a symmetric matrix that is positive definite, or add a small multiple of the identity to it"
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

// sameBatch refuses an input whose batch is not that of the first.
func (c *Call) sameBatch(i int) {
	a, b := c.In[0].shape, c.In[i].shape
	if len(b) != len(a) || !slices.Equal(a[:len(a)-2], b[:len(b)-2]) {
		fail(c.Op.Name, ErrShape, "use matrices of one batch", "%s", c.shapes())
	}
}

// loadMatrix reads a matrix of n rows and m columns, transposed, and each dimension backwards, as asked.
func loadMatrix(dst []float64, x matrixRows, n, m int, transposed, backwards bool) {
	row, step, off := x.stride, x.step, x.off
	if transposed {
		row, step = step, row
	}
	if backwards {
		off += (n-1)*row + (m-1)*step
		row, step = -row, -step
	}
	for i := range n {
		if m > 0 {
			load(dst[i*m:(i+1)*m], x.t, off+i*row, step)
		}
	}
}

// turnRows reverses the order of n rows of m elements.
func turnRows(x []float64, n, m int) {
	for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
		a, b := x[i*m:(i+1)*m], x[j*m:(j+1)*m]
		for q, v := range a {
			a[q], b[q] = b[q], v
		}
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

// raise panics if a fault was noted; what names the matrix and the place.
func (f *fault) raise(op, what, fix string) {
	if f.some {
		fail(op, ErrSingular, fix, what, f.batch, f.at+1)
	}
}

// eachDense calls f for every matrix of a batch with room for so many numbers.
func eachDense(batches, work, room int, f func(g int, room []float64)) {
	cpu.Parallel(batches, max(1, 1<<16/max(1, work)), func(lo, hi int) {
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

// identities are n×n identity matrices like a batch of t's.
func identities(s *Scope, t *Tensor, n int) *Tensor {
	return onBatch(s, s.Own(Eye(s, t.dt, n, n)), t.shape[:len(t.shape)-2])
}
