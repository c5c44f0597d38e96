package amp

import (
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// reducedAxes returns the dimensions to reduce, sorted, as a set; none given means all.
func reducedAxes(op string, t *Tensor, dims []int) []int {
	if len(dims) == 0 {
		all := make([]int, len(t.shape))
		for i := range all {
			all[i] = i
		}
		return all
	}
	out := make([]int, 0, len(dims))
	for _, d := range dims {
		d = t.axisOr0(op, d)
		if slices.Contains(out, d) {
			fail(op, ErrShape, "name each dimension once", "dims %v of shape %v", dims, t.shape)
		}
		out = append(out, d)
	}
	if t.lone() { // there is nothing to reduce
		return out[:0]
	}
	slices.Sort(out)
	return out
}

// reducedShape is the shape of a reduction over c.Dims.
func reducedShape(c *Call) []int {
	in := c.In[0].shape
	out := make([]int, 0, len(in))
	for d, n := range in {
		switch {
		case !slices.Contains(c.Dims, d):
			out = append(out, n)
		case c.Keep:
			out = append(out, 1)
		}
	}
	return out
}

// A reduction is a tensor seen as kept × reduced, both with their strides.
type reduction struct {
	kept, keptStride       []int
	reduced, reducedStride []int
	nKept, nReduced        int
}

func newReduction(t *Tensor, dims []int) reduction {
	r := reduction{nKept: 1, nReduced: 1}
	for d, n := range t.shape {
		if slices.Contains(dims, d) {
			r.reduced, r.reducedStride = appendDim(r.reduced, r.reducedStride, n, t.strides[d])
			r.nReduced *= n
		} else {
			r.kept, r.keptStride = appendDim(r.kept, r.keptStride, n, t.strides[d])
			r.nKept *= n
		}
	}
	return r
}

// appendDim adds a dimension, merged with the last where the elements run on.
func appendDim(sizes, strides []int, n, stride int) ([]int, []int) {
	if n == 1 {
		return sizes, strides
	}
	if k := len(sizes) - 1; k >= 0 && strides[k] == n*stride {
		sizes[k] *= n
		strides[k] = stride
		return sizes, strides
	}
	return append(sizes, n), append(strides, stride)
}

// offset returns where element i of a list of dimensions lies.
func offset(i int, sizes, strides []int) int {
	off := 0
	for d := len(sizes) - 1; d >= 0; d-- {
		off += i % sizes[d] * strides[d]
		i /= sizes[d]
	}
	return off
}

// last splits off the innermost dimension: its size and stride, and the product of the others.
func last(sizes, strides []int) (n, stride int, outer []int, outerStrides []int) {
	k := len(sizes) - 1
	if k < 0 {
		return 1, 1, nil, nil
	}
	return sizes[k], strides[k], sizes[:k], strides[:k]
}

// sumInto sets out to scale times the sums of t over dims. Floats are accumulated in float64, but for float32 and halves parts of up to
// 64 numbers in float32, and rounded once, integers in int64. Work is split by shape alone, and the parts are added up in order.
func sumInto(out, t *Tensor, dims []int, scale float64) {
	if t.dt.IsFloat() && t.dt != Float64 && sumLinesInto(out, t, newReduction(t, dims), scale) {
		return
	}
	if t.dt.IsFloat() {
		sumOn(out, t, dims, func(v float64) float64 { return v * scale })
		return
	}
	sumOn(out, t, dims, func(v int64) int64 { return v })
}

func sumOn[T number](out, t *Tensor, dims []int, finish func(T) T) {
	r := newReduction(t, dims)
	if n, stride, _, _ := last(r.kept, r.keptStride); stride == 1 && n > 1 {
		sumColumns(out, t, r, finish)
		return
	}
	n, stride, outer, outerStride := last(r.reduced, r.reducedStride)
	rows := r.nReduced
	if n > 0 {
		rows /= n
	}
	pool := scratches[T]()
	cpu.Parallel(r.nKept, grainOf(r.nReduced), func(lo, hi int) {
		s := pool.Get().(*scratch[T])
		defer pool.Put(s)
		for i := lo; i < hi; i++ {
			base := t.off + offset(i, r.kept, r.keptStride)
			var sum T
			for j := range rows {
				off := base + offset(j, outer, outerStride)
				for k := 0; k < n; k += chunk {
					m := min(chunk, n-k)
					for _, v := range fetch(&s.buf[0], t, off+k*stride, stride, m) {
						sum += v
					}
				}
			}
			s.buf[1][0] = finish(sum)
			store(out, out.off+i, s.buf[1][:1])
		}
	})
}

func addTo[T, S number](sums []T, v []S) {
	sums = sums[:len(v)]
	for i, x := range v {
		sums[i] += T(x)
	}
}

// columnBlock is how many of a matrix's columns a worker adds up at a time.
const columnBlock = 64

// sumColumns is the case whose kept elements are neighbors: rows are added up, some columns at a time.
func sumColumns[T number](out, t *Tensor, r reduction, finish func(T) T) {
	n, _, outer, outerStride := last(r.kept, r.keptStride)
	pieces := (n + columnBlock - 1) / columnBlock
	rows := 0
	if n > 0 {
		rows = r.nKept / n
	}
	pool := scratches[T]()
	cpu.Parallel(rows*pieces, grainOf(r.nReduced*min(n, columnBlock)), func(lo, hi int) {
		s, short := pool.Get().(*scratch[T]), scratch32.Get().(*scratch[float32])
		defer pool.Put(s)
		defer scratch32.Put(short)
		for p := lo; p < hi; p++ {
			row, k := p/pieces, p%pieces*columnBlock
			m := min(columnBlock, n-k)
			base := t.off + offset(row, outer, outerStride) + k
			acc := s.buf[1][:m]
			clear(acc)
			for j := range r.nReduced {
				off := base + offset(j, r.reduced, r.reducedStride)
				if t.dt.IsFloat() && t.dt != Float64 {
					addTo(acc, fetch(&short.buf[0], t, off, 1, m))
					continue
				}
				addTo(acc, fetch(&s.buf[0], t, off, 1, m))
			}
			for i, v := range acc {
				acc[i] = finish(v)
			}
			store(out, out.off+row*n+k, acc)
		}
	})
}
