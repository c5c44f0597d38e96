package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// A rowWalk visits the rows of a result and of the inputs broadcast to it. Dimensions that lie without gaps in every tensor
// are merged first, so that the common case is one long row.
type rowWalk struct {
	shape   []int    // outer dimensions
	strides [4][]int // per tensor, outer
	inner   int      // row length
	step    [4]int   // stride along the row
	base    [4]int
	n       int // tensors
}

// newRowWalk takes the tensors, result first; each is broadcast to the result's shape.
func newRowWalk(ts ...*Tensor) *rowWalk {
	out := ts[0]
	rank := len(out.shape)
	w := &rowWalk{n: len(ts), inner: 1}
	dims := make([]int, 0, rank)
	var st [4][]int
	for d := range rank {
		if out.shape[d] == 1 {
			continue
		}
		var cur [4]int
		for i, t := range ts {
			if k := d - rank + len(t.shape); k >= 0 && t.shape[k] != 1 {
				cur[i] = t.strides[k]
			}
		}
		if last := len(dims) - 1; last >= 0 && mergeable(&st, &cur, last, out.shape[d], len(ts)) {
			dims[last] *= out.shape[d]
			for i := range ts {
				st[i][last] = cur[i]
			}
			continue
		}
		dims = append(dims, out.shape[d])
		for i := range ts {
			st[i] = append(st[i], cur[i])
		}
	}
	for i, t := range ts {
		w.base[i] = t.off
	}
	if k := len(dims) - 1; k >= 0 {
		w.inner = dims[k]
		w.shape = dims[:k]
		for i := range ts {
			w.step[i] = st[i][k]
			w.strides[i] = st[i][:k]
		}
	}
	return w
}

func mergeable(st *[4][]int, cur *[4]int, last, size, n int) bool {
	for i := range n {
		if st[i][last] != cur[i]*size {
			return false
		}
	}
	return true
}

// run calls f with the offsets of pieces of at most chunk elements; pieces are spread over the workers.
func (w *rowWalk) run(f func(off [4]int, n int)) { w.runBy(chunk, f) }

// runBy is run with pieces of at most size elements.
func (w *rowWalk) runBy(size int, f func(off [4]int, n int)) {
	rows := 1
	for _, d := range w.shape {
		rows *= d
	}
	if rows == 0 || w.inner == 0 {
		return
	}
	if rows == 1 {
		cpu.Parallel(w.inner, grain, func(lo, hi int) { w.pieces(w.base, lo, hi, size, f) })
		return
	}
	cpu.Parallel(rows, grainOf(w.inner), func(lo, hi int) {
		at := w.from(lo)
		for r := lo; r < hi; r++ {
			w.pieces(at.off, 0, w.inner, size, f)
			at.next(w)
		}
	})
}

// A rowPlace is a row on the way of a walk.
type rowPlace struct {
	r   int
	off [4]int
	idx [8]int // along the outer dimensions, the last one first
}

// from returns the place of row r.
func (w *rowWalk) from(r int) rowPlace {
	p := rowPlace{r: r, off: w.row(r)}
	for k := range min(len(w.shape), len(p.idx)) {
		d := len(w.shape) - 1 - k
		p.idx[k] = r % w.shape[d]
		r /= w.shape[d]
	}
	return p
}

// next moves on to the next row: by additions, where idx holds all dimensions.
func (p *rowPlace) next(w *rowWalk) {
	p.r++
	if len(w.shape) > len(p.idx) {
		p.off = w.row(p.r)
		return
	}
	for k := range w.shape {
		d := len(w.shape) - 1 - k
		p.idx[k]++
		for i := range w.n {
			p.off[i] += w.strides[i][d]
		}
		if p.idx[k] < w.shape[d] {
			return
		}
		for i := range w.n {
			p.off[i] -= w.shape[d] * w.strides[i][d]
		}
		p.idx[k] = 0
	}
}

// sequential is run in one worker, in row-major order.
func (w *rowWalk) sequential(f func(off [4]int, n int)) {
	rows := 1
	for _, d := range w.shape {
		rows *= d
	}
	for r := range rows {
		w.pieces(w.row(r), 0, w.inner, chunk, f)
	}
}

// row returns the offsets of one row.
func (w *rowWalk) row(r int) [4]int {
	off := w.base
	for d := len(w.shape) - 1; d >= 0; d-- {
		k := r % w.shape[d]
		r /= w.shape[d]
		for i := range w.n {
			off[i] += k * w.strides[i][d]
		}
	}
	return off
}

func (w *rowWalk) pieces(base [4]int, lo, hi, size int, f func(off [4]int, n int)) {
	for ; lo < hi; lo += size {
		off := base
		for i := range w.n {
			off[i] += lo * w.step[i]
		}
		f(off, min(size, hi-lo))
	}
}
