package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Rows such as upsampling, padding and index_select are linear and work on each dimension by itself: an element of the result is a
// weighted sum of elements of the input, with the product of one weight per dimension. Their gradients are the same with the
// weights transposeAll. Taps hold the weights of one dimension, and sumTaps is the kernel of both.

// taps are the terms of each index of a result's dimension: those of index i are start[i] … start[i+1]-1.
type taps struct {
	start  []int
	index  []int     // where in the input
	weight []float64 // nil: all 1
	size   int       // of the input's dimension
}

// newTaps makes taps of a map from a result's indices to the input's, of which the negative ones stand for nothing.
func newTaps(size int, m []int) *taps {
	t := &taps{start: make([]int, len(m)+1), size: size}
	for i, j := range m {
		if j >= 0 {
			t.index = append(t.index, j)
		}
		t.start[i+1] = len(t.index)
	}
	return t
}

// add gives index len(start)-1 of the result a term; close ends it.
func (t *taps) add(index int, weight float64) {
	t.index = append(t.index, index)
	t.weight = append(t.weight, weight)
}

// join is add for terms that an edge may bring to one element: they become one, so that weights of both signs make no NaN of an infinity.
func (t *taps) join(index int, weight float64) {
	if last := len(t.index) - 1; last >= t.start[len(t.start)-1] && t.index[last] == index {
		t.weight[last] += weight
		return
	}
	t.add(index, weight)
}

func (t *taps) close() { t.start = append(t.start, len(t.index)) }

// len is the size of the result's dimension.
func (t *taps) len() int { return len(t.start) - 1 }

// transpose returns the taps of the gradient; terms stay in the order of the result's indices.
func (t *taps) transpose() *taps {
	out := &taps{start: make([]int, t.size+1), index: make([]int, len(t.index)), size: t.len()}
	if t.weight != nil {
		out.weight = make([]float64, len(t.weight))
	}
	for _, j := range t.index {
		out.start[j+1]++
	}
	for j := range t.size {
		out.start[j+1] += out.start[j]
	}
	next := append([]int(nil), out.start[:t.size]...)
	for i := range t.len() {
		for k := t.start[i]; k < t.start[i+1]; k++ {
			at := next[t.index[k]]
			next[t.index[k]]++
			out.index[at] = i
			if t.weight != nil {
				out.weight[at] = t.weight[k]
			}
		}
	}
	return out
}

func (t *taps) weightAt(k int) float64 {
	if t.weight == nil {
		return 1
	}
	return t.weight[k]
}

// transposeAll is transpose of each dimension.
func transposeAll(along []*taps) []*taps {
	out := make([]*taps, len(along))
	for d, t := range along {
		if t != nil {
			out[d] = t.transpose()
		}
	}
	return out
}

// tapRows are the buffers of one worker: a row of the input, and the sums.
type tapRows struct{ row, sum, out []float64 }

var tapPool = sync.Pool{New: func() any { return new(tapRows) }}

func (t *tapRows) grow(in, out int) {
	t.row, t.sum, t.out = resize(t.row, in), resize(t.sum, in), resize(t.out, out)
}

// sumTaps computes out from x with the taps of each dimension, nil for one that stays. Sums are made in float64 in a fixed order
// and rounded once; rows of the result are spread over the workers. There is at least one dimension.
func sumTaps(out, x *Tensor, along []*taps) {
	if out.Len() == 0 {
		return
	}
	k := len(out.shape) - 1
	n, m := out.shape[k], x.shape[k]
	pairs := along[k] != nil && along[k].pairs()
	cpu.Parallel(out.Len()/n, grainOf(8*max(n, m)), func(lo, hi int) {
		buf := tapPool.Get().(*tapRows)
		defer tapPool.Put(buf)
		buf.grow(m, n)
		for r := lo; r < hi; r++ {
			clear(buf.sum)
			gatherRows(buf, out, x, along, k-1, r, x.off, 1)
			row := buf.sum
			if t := along[k]; t != nil {
				row = buf.out
				if pairs {
					t.applyPairs(row, buf.sum)
				} else {
					t.apply(row, buf.sum)
				}
			}
			store(out, out.off+r*n, row)
		}
	})
}

// gatherRows adds up the rows of x that row r of out is made of, dimensions 0 … d still to be chosen.
func gatherRows(buf *tapRows, out, x *Tensor, along []*taps, d, r, off int, weight float64) {
	if d < 0 {
		k := len(x.shape) - 1
		load(buf.row, x, off, x.strides[k])
		for i, v := range buf.row {
			buf.sum[i] += float64(weight * v)
		}
		return
	}
	i := r % out.shape[d]
	r /= out.shape[d]
	t := along[d]
	if t == nil {
		gatherRows(buf, out, x, along, d-1, r, off+i*x.strides[d], weight)
		return
	}
	for k := t.start[i]; k < t.start[i+1]; k++ {
		gatherRows(buf, out, x, along, d-1, r, off+t.index[k]*x.strides[d], weight*t.weightAt(k))
	}
}

// apply computes one row along the taps' own dimension.
func (t *taps) apply(dst, src []float64) {
	if t.weight == nil {
		for i := range dst {
			sum := 0.0
			for _, j := range t.index[t.start[i]:t.start[i+1]] {
				sum += src[j]
			}
			dst[i] = sum
		}
		return
	}
	for i := range dst {
		lo, hi := t.start[i], t.start[i+1]
		sum, weight := 0.0, t.weight[lo:hi]
		for k, j := range t.index[lo:hi] {
			sum += float64(weight[k] * src[j])
		}
		dst[i] = sum
	}
}

// pairs says whether each index has two terms with weights, as linear interpolation makes them.
func (t *taps) pairs() bool {
	for i, v := range t.start {
		if v != 2*i {
			return false
		}
	}
	return t.weight != nil
}

// applyPairs is apply for pairs.
func (t *taps) applyPairs(dst, src []float64) {
	index, weight := t.index[:2*len(dst)], t.weight[:2*len(dst)]
	for i := range dst {
		j, w := index[2*i:2*i+2], weight[2*i:2*i+2]
		sum := 0.0 // makes 0 of -0
		sum += float64(w[0] * src[j[0]])
		dst[i] = sum + float64(w[1]*src[j[1]])
	}
}

// picks returns the maps of taps that take one element each, unweighted; false for others.
func picks(along []*taps) ([][]int, bool) {
	maps := make([][]int, len(along))
	for d, t := range along {
		if t == nil {
			continue
		}
		if t.weight != nil || len(t.index) != t.len() {
			return nil, false
		}
		maps[d] = t.index
	}
	return maps, true
}
