package amp

import (
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Where an index is one list for all elements of a slice, as that of index_add, index_copy and index_put, whole rows move.

// sliceIndex says whether index, of a tensor of the given shape along d, has one number for each slice, and the slices are as whole as the tensor's.
func sliceIndex(index *Tensor, shape []int, d int) bool {
	for k, n := range index.shape {
		if k != d && (n != shape[k] || n > 1 && index.strides[k] != 0) {
			return false
		}
	}
	return length(shape[d+1:]) >= shortLine
}

// list views such an index as the numbers alone.
func (t *Tensor) list(d int) *Tensor {
	v := *t
	v.shape, v.strides = t.shape[d:d+1], t.strides[d:d+1]
	return &v
}

// readList notes the numbers of such an index, which must be below rows; bad is told of one that is not.
func (l *rowLists) readList(index *Tensor, d, rows int, bad func(i int, p int64)) {
	l.row = resize(l.row, index.shape[d])
	i, numbers := 0, elements[int64](index)
	index.list(d).each(func(off int) {
		p := numbers[off]
		if uint64(p) >= uint64(rows) {
			bad(i, p)
		}
		l.row[i] = int(p)
		i++
	})
}

// scatterSlices is scatter or scatter_add of whole rows: the last of those that go to one place stays, or they are added up there in the order of
// the index, as the lines of scatterOn are. It says whether the tensors are so.
func scatterSlices(c *Call, x, index, src *Tensor, add bool) bool {
	out, d := c.Out, c.Dims[0]
	if src == nil || add && !out.dt.IsFloat() || index.Len() == 0 || !x.contiguous() || !src.contiguous() || !out.contiguous() || !sliceIndex(index, out.shape, d) {
		return false
	}
	for q, n := range src.shape {
		if n != index.shape[q] {
			return false
		}
	}
	l := rowListPool.Get().(*rowLists)
	defer rowListPool.Put(l)
	rows, k := out.shape[d], index.shape[d]
	l.readList(index, d, rows, func(_ int, p int64) { failScatter(c, rows, p) })
	l.group(rows)
	n, size := length(out.shape[d+1:]), out.dt.Size()
	cpu.Parallel(out.Len()/n, grainOf(4*n), func(lo, hi int) {
		b := rowAdders.Get().(*rowAdder)
		defer rowAdders.Put(b)
		for i := lo; i < hi; i++ {
			from := l.order[l.start[i%rows]:l.start[i%rows+1]]
			own, first := out.st.mem[(out.off+i*n)*size:][:n*size], src.off+i/rows*k*n
			switch {
			case len(from) == 0:
				copy(own, x.st.mem[(x.off+i*n)*size:])
			case !add:
				copy(own, src.st.mem[(first+from[len(from)-1]*n)*size:])
			default:
				sum := b.grow(0, n)
				load(sum, x, x.off+i*n, 1)
				b.add(sum, src, first, n, 1, from)
				store(out, out.off+i*n, sum)
			}
		}
	})
	return true
}

// gatherSlices is gather of whole rows; it says whether the tensors are so.
func gatherSlices(c *Call) bool {
	x, index, out, d := c.In[0], c.In[1], c.Out, c.Dims[0]
	if index.Len() == 0 || !x.contiguous() || !out.contiguous() || !sliceIndex(index, x.shape, d) {
		return false
	}
	l := rowListPool.Get().(*rowLists)
	defer rowListPool.Put(l)
	rows, k := x.shape[d], index.shape[d]
	l.readList(index, d, rows, func(i int, p int64) { failGather(rows, i, 0, p) })
	n, size := length(x.shape[d+1:]), x.dt.Size()
	cpu.Parallel(out.Len()/n, grainOf(n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(out.st.mem[(out.off+i*n)*size:][:n*size], x.st.mem[(x.off+(i/k*rows+l.row[i%k])*n)*size:])
		}
	})
	return true
}
