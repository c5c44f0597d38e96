package amp

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The kernels of scatter and scatter_add: lines whose elements are neighbors one by one, those of another dimension several at a time, which
// lie side by side, so that memory is read and written in runs.

func scatterCPU(c *Call, add bool) {
	var src *Tensor
	if len(c.In) > 2 {
		src = c.In[2]
	}
	switch {
	case c.Out.Len() == 0:
	case scatterSlices(c, c.In[0], c.In[1], src, add):
	case !add && scatterable(c.Out, c.In[0], c.In[1], src, c.Dims[0]):
		bySize(c.Out.dt, scatterWords[uint8], scatterWords[uint16], scatterWords[uint32], scatterWords[uint64])(c, src)
	case c.Out.dt.IsFloat():
		scatterOn[float64](c, c.In[0], c.In[1], src, add)
	default:
		scatterOn[int64](c, c.In[0], c.In[1], src, add)
	}
}

// scatterable says whether elements along d are neighbors in all of the tensors, of which src may be nil and x one number repeated.
func scatterable(out, x, index, src *Tensor, d int) bool {
	return out.strides[d] == 1 && uint(x.strides[d]) <= 1 && index.strides[d] == 1 && (src == nil || src.strides[d] == 1)
}

// scatterWords writes the elements of src, nil for the number c.Scalar, as words.
func scatterWords[T word](c *Call, src *Tensor) {
	x, index, out, d := c.In[0], c.In[1], c.Out, c.Dims[0]
	n, k := out.shape[d], index.shape[d]
	value := []T{wordOf[T](out.dt, c.Scalar)}
	cpu.Parallel(out.Len()/n, grainOf(n+k), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := words[T](out)[lineOf(out, d, i):][:n]
			if start := words[T](x)[lineOf(x, d, i):]; x.strides[d] == 1 {
				copy(row, start)
			} else {
				for j := range row {
					row[j] = start[0]
				}
			}
			at, ok := lineWithin(out, index, d, i)
			if !ok {
				continue
			}
			from, step := value, 0
			if src != nil {
				at, _ := lineWithin(out, src, d, i)
				from, step = words[T](src)[at:][:k], 1
			}
			for j, p := range elements[int64](index)[at:][:k] {
				if uint64(p) >= uint64(len(row)) {
					failScatter(c, n, p)
				}
				row[p] = from[j*step]
			}
		}
	})
}

// scatterOn writes or adds src, nil for the number c.Scalar, into x, nil for zeros.
func scatterOn[T float64 | int64](c *Call, x, index, src *Tensor, add bool) {
	out, d := c.Out, c.Dims[0]
	if out.Len() == 0 {
		return
	}
	n, k, width := out.shape[d], index.shape[d], scatterWidth(out, d)
	last := max(0, len(out.shape)-1)
	across := 1 // how many lines lie side by side
	if width > 1 {
		across = out.shape[last]
	}
	blocks := (across + width - 1) / width
	pool, ints := linePool[T](), linePool[int64]()
	cpu.Parallel(out.Len()/n/across*blocks, grainOf(8*(n+k)*width), func(lo, hi int) {
		b, ib := pool.Get().(*lineBufs[T]), ints.Get().(*lineBufs[int64])
		defer func() { pool.Put(b); ints.Put(ib) }()
		room, from, to := b.grow(0, n*width), b.grow(1, k), ib.grow(0, max(k, width))
		if width > 1 {
			from = b.grow(1, width)
		}
		for i := lo; i < hi; i++ {
			first := i % blocks * width
			line, m := i/blocks*across+first, min(width, across-first)
			rows := scattered[T]{room[:n*m], m}
			rows.load(x, d, line)
			at, ok := lineWithin(out, index, d, line)
			switch {
			case !ok:
			case width == 1:
				rows.one(c, from, to, src, index, at, line, add)
			default:
				m = min(m, index.shape[last]-first)
				rows.several(c, from[:m], to[:m], src, index, at, line, add)
			}
			rows.store(out, d, line)
		}
	})
}

// scatterWidth is how many lines along d a task takes at a time: several if they lie side by side, as long as a cache holds them.
func scatterWidth(out *Tensor, d int) int {
	last := len(out.shape) - 1
	if d >= last || out.shape[last] == 1 {
		return 1
	}
	n := out.shape[d]
	return min(out.shape[last], 128, max(1<<19/n, min(8, 1<<22/n), 1))
}

// scattered are lines that results are made in: element i of line k is rows[i*m+k].
type scattered[T float64 | int64] struct {
	rows []T
	m    int
}

// load fills the lines with those of x along d from the given one on, nil for zeros.
func (r scattered[T]) load(x *Tensor, d, line int) {
	if x == nil {
		clear(r.rows)
		return
	}
	at := lineOf(x, d, line)
	if r.m == 1 {
		load(r.rows, x, at, x.strides[d])
		return
	}
	for i := 0; i < len(r.rows); i += r.m {
		load(r.rows[i:i+r.m], x, at, x.strides[len(x.shape)-1])
		at += x.strides[d]
	}
}

// store writes the lines to out.
func (r scattered[T]) store(out *Tensor, d, line int) {
	at := lineOf(out, d, line)
	if r.m == 1 {
		storeLine(out, at, out.strides[d], r.rows)
		return
	}
	for i := 0; i < len(r.rows); i += r.m {
		storeLine(out, at, out.strides[len(out.shape)-1], r.rows[i:i+r.m])
		at += out.strides[d]
	}
}

// one writes or adds the elements of one line of src, whose places begin at at. from and to are room for them.
func (r scattered[T]) one(c *Call, from []T, to []int64, src, index *Tensor, at, line int, add bool) {
	d := c.Dims[0]
	k := index.shape[d]
	if own, ok := direct[int64](index, at, index.strides[d], k); ok {
		to = own
	} else {
		to = to[:k]
		load(to, index, at, index.strides[d])
	}
	if src == nil {
		fill(from, T(c.Scalar))
		scatterLine(c, r.rows, to, from, add)
		return
	}
	at, _ = lineWithin(c.Out, src, d, line)
	if own, ok := direct[float32](src, at, src.strides[d], k); ok {
		scatterLine(c, r.rows, to, own, add)
	} else if own, ok := direct[T](src, at, src.strides[d], k); ok {
		scatterLine(c, r.rows, to, own, add)
	} else {
		load(from, src, at, src.strides[d])
		scatterLine(c, r.rows, to, from, add)
	}
}

// scatterLine writes or adds the elements of one line.
func scatterLine[T float64 | int64, S number](c *Call, row []T, to []int64, from []S, add bool) {
	from = from[:len(to)]
	if add {
		for j, p := range to {
			if uint64(p) >= uint64(len(row)) {
				failScatter(c, len(row), p)
			}
			row[p] += T(from[j])
		}
		return
	}
	for j, p := range to {
		if uint64(p) >= uint64(len(row)) {
			failScatter(c, len(row), p)
		}
		row[p] = T(from[j])
	}
}

// several does so for lines side by side, as many as from and to have room for.
func (r scattered[T]) several(c *Call, from []T, to []int64, src, index *Tensor, at, line int, add bool) {
	d, last := c.Dims[0], len(index.shape)-1
	n, at2 := len(r.rows)/r.m, 0
	if src == nil {
		fill(from, T(c.Scalar))
	} else {
		at2, _ = lineWithin(c.Out, src, d, line)
	}
	for range index.shape[d] {
		load(to, index, at, index.strides[last])
		at += index.strides[d]
		if src != nil {
			load(from, src, at2, src.strides[last])
			at2 += src.strides[d]
		}
		for j, p := range to {
			if uint64(p) >= uint64(n) {
				failScatter(c, n, p)
			}
			if q := int(p)*r.m + j; add {
				r.rows[q] += from[j]
			} else {
				r.rows[q] = from[j]
			}
		}
	}
}

func failScatter(c *Call, n int, p int64) {
	fail(c.Op.Name, ErrArgument, fmt.Sprintf("use indices from 0 to %d", n-1), "an index is %d", p)
}
