package amp

import (
	"fmt"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The kernels of embedding and its gradient, which move whole rows.

// somePlaces refuses an index, unless it is empty, into a dimension without elements. (Where the result has none either, no kernel would
// look at the index.)
func (c *Call) somePlaces(index *Tensor, d int) {
	if c.In[0].shape[d] == 0 && index.Len() > 0 {
		fail(c.Op.Name, ErrArgument, "index a dimension with elements, or pass an index without any", "%s: dimension %d has no elements", c.shapes(), d)
	}
}

// eachIndex calls f with the number of every index and its value, which must be below rows.
func eachIndex(c *Call, index *Tensor, rows int, f func(i, row int)) {
	labels, i := elements[int64](index), 0
	index.each(func(off int) {
		if j := labels[off]; j < 0 || j >= int64(rows) {
			fail(c.Op.Name, ErrArgument, fmt.Sprintf("use indices from 0 to %d", rows-1), "index %d is %d", i, j)
		}
		f(i, int(labels[off]))
		i++
	})
}

// rowLists are what one call of them notes about its indices.
type rowLists struct{ row, start, order []int }

var rowListPool = sync.Pool{New: func() any { return new(rowLists) }}

// read notes the row of every index.
func (l *rowLists) read(c *Call, index *Tensor, rows int) {
	l.row = resize(l.row, index.Len())
	eachIndex(c, index, rows, func(i, row int) { l.row[i] = row })
}

// group notes for every row where in order its indices begin; they come in their own order.
func (l *rowLists) group(rows int) {
	l.start, l.order = resize(l.start, rows+1), resize(l.order, len(l.row))
	clear(l.start)
	for _, r := range l.row {
		l.start[r+1]++
	}
	for r := range rows {
		l.start[r+1] += l.start[r]
	}
	for i, r := range l.row {
		l.order[l.start[r]] = i
		l.start[r]++
	}
	copy(l.start[1:], l.start[:rows])
	l.start[0] = 0
}

func embeddingCPU(c *Call) {
	table, out := c.In[0], c.Out
	n, size := table.shape[1], out.dt.Size()
	l := rowListPool.Get().(*rowLists)
	defer rowListPool.Put(l)
	l.read(c, c.In[1], table.shape[0])
	to, from := out.st.mem[out.off*size:], table.st.mem
	cpu.Parallel(len(l.row), grainOf(n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, at := to[i*n*size:(i+1)*n*size], (table.off+l.row[i]*table.strides[0])*size
			if table.strides[1] == 1 {
				copy(row, from[at:])
				continue
			}
			for k := 0; k < len(row); k += size {
				copy(row[k:k+size], from[at:])
				at += table.strides[1] * size
			}
		}
	})
}

// embeddingBackwardCPU adds up each row in float64, so that one used often in half precision is rounded once.
func embeddingBackwardCPU(c *Call) {
	dy, out := c.In[0], c.Out
	rows, n := c.Shape[0], c.Shape[1]
	l := rowListPool.Get().(*rowLists)
	defer rowListPool.Put(l)
	l.read(c, c.In[1], rows)
	l.group(rows)
	size := out.dt.Size()
	k := len(dy.shape) - 1
	apart, step := n, dy.strides[k] // of rows, and of the numbers of one
	if k == 1 {
		apart = dy.strides[0]
	}
	to := out.st.mem[out.off*size:]
	cpu.Parallel(rows, grainOf(n), func(lo, hi int) {
		add := rowAdders.Get().(*rowAdder)
		defer rowAdders.Put(add)
		for r := lo; r < hi; r++ {
			if c.Mode == padded && int64(r) == c.Ignore {
				clear(to[r*n*size : (r+1)*n*size])
				continue
			}
			add.rows(out, out.off+r*n, n, dy, dy.off, apart, step, l.order[l.start[r]:l.start[r+1]])
		}
	})
}

// indexSelectBackwardCPU adds up slices whose numbers are neighbors, as embeddingBackwardCPU does; it says whether they are.
func indexSelectBackwardCPU(c *Call) bool {
	dy, out, d := c.In[0], c.Out, c.Dims[0]
	n := length(c.Shape[d+1:])
	if n < shortLine || !dy.contiguous() || out.Len() == 0 {
		return false
	}
	l := rowListPool.Get().(*rowLists)
	defer rowListPool.Put(l)
	rows := c.Shape[d]
	l.read(c, c.In[1], rows)
	l.group(rows)
	cpu.Parallel(out.Len()/n, grainOf(n), func(lo, hi int) {
		add := rowAdders.Get().(*rowAdder)
		defer rowAdders.Put(add)
		for i := lo; i < hi; i++ {
			r := i % rows
			add.rows(out, out.off+i*n, n, dy, dy.off+i/rows*len(l.row)*n, n, 1, l.order[l.start[r]:l.start[r+1]])
		}
	})
	return true
}

// A rowAdder adds up rows of a gradient; it is one worker's.
type rowAdder struct {
	lineBufs[float64]
	short []float32
}

var rowAdders = sync.Pool{New: func() any { return new(rowAdder) }}

// rows sets the n numbers of out from element to on to the sums of those of some rows of dy, row 0 from element from on, apart from one another
// and with the given step between their numbers.
func (b *rowAdder) rows(out *Tensor, to, n int, dy *Tensor, from, apart, step int, rows []int) {
	size := out.dt.Size()
	own := out.st.mem[to*size : (to+n)*size]
	switch {
	case len(rows) == 0:
		clear(own)
		return
	case len(rows) == 1 && step == 1:
		copy(own, dy.st.mem[(from+rows[0]*apart)*size:])
		return
	}
	sum := b.grow(0, n)
	clear(sum)
	b.add(sum, dy, from, apart, step, rows)
	store(out, to, sum)
}

// add raises the numbers of sum by those of rows of dy, as rows has them, which are fetched one ahead: their order is their own.
func (b *rowAdder) add(sum []float64, dy *Tensor, from, apart, step int, rows []int) {
	n, size := len(sum), dy.dt.Size()
	for k, i := range rows {
		at := from + i*apart
		if next := k + 1; step == 1 && next < len(rows) {
			cpu.Fetch(dy.st.mem[(from+rows[next]*apart)*size:][:n*size])
		}
		if step != 1 || dy.dt == Float64 {
			row := b.grow(1, n)
			load(row, dy, at, step)
			for j, v := range row {
				sum[j] += v
			}
			continue
		}
		x, ok := direct[float32](dy, at, 1, n)
		if !ok {
			b.short = resize(b.short, n)
			x = b.short
			load(x, dy, at, 1)
		}
		cpu.AddWide(sum, x)
	}
}
