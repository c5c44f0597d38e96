package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// matrixRows are the rows of one matrix of a batch.
type matrixRows struct {
	t            *Tensor
	off          int // of the first element
	stride, step int // from row to row, from element to element
	n            int // elements of a row
}

// batchRows are the rows of matrix g of a batch to which t's own is broadcast.
func batchRows(t *Tensor, batch []int, g int) matrixRows {
	r, off := len(t.shape), t.off
	for d := len(batch) - 1; d >= 0; d-- {
		off += batchOffset(t, d-(len(batch)+2-r), g%batch[d])
		g /= batch[d]
	}
	return matrixRows{t, off, t.strides[r-2], t.strides[r-1], t.shape[r-1]}
}

// eachBatch calls f for the matrices of a and b that are compared, one pair after another.
func eachBatch(a, b *Tensor, batch []int, f func(g int, a, b matrixRows)) {
	for g := range length(batch) {
		f(g, batchRows(a, batch, g), batchRows(b, batch, g))
	}
}

// loadRow reads elements of row i from element first on, as many as dst has.
func loadRow[T float32 | float64](dst []T, m matrixRows, i, first int) {
	load(dst, m.t, m.off+i*m.stride+first*m.step, m.step)
}

// line is row i, read into room where its elements are no float32 in a row.
func (m matrixRows) line(room *[]float32, i int) []float32 {
	if own, ok := direct[float32](m.t, m.off+i*m.stride, m.step, m.n); ok {
		return own
	}
	*room = resize(*room, m.n)
	loadRow(*room, m, i, 0)
	return *room
}

// A pairBuffer is one worker's room.
type pairBuffer struct {
	rows, row, sums, line, weights []float32
}

var pairBuffers = sync.Pool{New: func() any { return new(pairBuffer) }}

func (b *pairBuffer) grow(s *[]float32, n int) []float32 { *s = resize(*s, n); return *s }

// distanceWork shares out n pieces of so much work each, to workers with room of their own.
func distanceWork(n, work int, f func(b *pairBuffer, l *lineWork, lo, hi int)) {
	cpu.Parallel(n, grainOf(work), func(lo, hi int) {
		b, l := pairBuffers.Get().(*pairBuffer), lineWorks.Get().(*lineWork)
		defer func() { pairBuffers.Put(b); l.release() }()
		f(b, l, lo, hi)
	})
}
