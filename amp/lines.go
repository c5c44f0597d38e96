package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Rows such as cumprod, sort and scatter work on lines: the elements along one dimension, others fixed.

// lineBufs are the rows of one worker.
type lineBufs[T number] struct{ rows [][]T }

var (
	linePool64 = sync.Pool{New: func() any { return new(lineBufs[float64]) }}
	linePoolI  = sync.Pool{New: func() any { return new(lineBufs[int64]) }}
)

func linePool[T float64 | int64]() *sync.Pool {
	var z T
	if _, ok := any(z).(float64); ok {
		return &linePool64
	}
	return &linePoolI
}

func (b *lineBufs[T]) grow(k, n int) []T {
	for len(b.rows) <= k {
		b.rows = append(b.rows, nil)
	}
	b.rows[k] = resize(b.rows[k], n)
	return b.rows[k]
}

// lineOf returns where line i of t along dimension d begins.
func lineOf(t *Tensor, d, i int) int {
	off := t.off
	for k := len(t.shape) - 1; k >= 0; k-- {
		if k == d {
			continue
		}
		off += i % t.shape[k] * t.strides[k]
		i /= t.shape[k]
	}
	return off
}

// overLines calls f for every line along dimension d with the lines of the inputs, and writes out's line from its result. The inputs
// have the shape of out but along d. Lines are spread over the workers.
func overLines[T float64 | int64](out *Tensor, d int, in []*Tensor, f func(out []T, in [][]T)) {
	if out.Len() == 0 {
		return
	}
	n := out.shape[d]
	work := n
	for _, t := range in {
		work += t.shape[d]
	}
	pool := linePool[T]()
	cpu.Parallel(out.Len()/n, grainOf(8*work), func(lo, hi int) {
		b := pool.Get().(*lineBufs[T])
		defer pool.Put(b)
		for k, t := range in {
			b.grow(k, t.shape[d])
		}
		row := b.grow(len(in), n)
		for i := lo; i < hi; i++ {
			for k, t := range in {
				load(b.rows[k], t, lineOf(t, d, i), t.strides[d])
			}
			f(row, b.rows[:len(in)])
			storeLine(out, lineOf(out, d, i), out.strides[d], row)
		}
	})
}

// storeLine is store with a stride.
func storeLine[T number](t *Tensor, off, stride int, src []T) {
	if stride == 1 {
		store(t, off, src)
		return
	}
	for k := range src {
		store(t, off+k*stride, src[k:k+1])
	}
}
