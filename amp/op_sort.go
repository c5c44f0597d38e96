package amp

import (
	"fmt"
	"slices"
	"sync"
)

// Sorting and what comes of it: rows give indices, and values are gathered by them, so that their gradients are gather's. NaN counts
// as the greatest number, and elements that are equal keep their order.

var opArgsort, opSort, opTopkIndex, opTopk, opKthvalue, opMedianIndex, opMedian *Op

func init() {
	opArgsort = indexRow("argsort", "indices that sort a dimension, equal elements in their order; NaN is greatest", func(c *Call) int { return c.In[0].shape[c.Dims[0]] }, nil,
		func(c *Call) (lineIndex[float64], lineIndex[int64]) {
			n := c.In[0].shape[c.Dims[0]]
			return sortLine[float64](c.Reverse, n), sortLine[int64](c.Reverse, n)
		})
	opTopkIndex = indexRow("topk_index", "indices of the k largest, or smallest, elements of a dimension in their order; NaN is greatest", func(c *Call) int { return c.Start },
		func(c *Call) keyedLine { return topKeyed(c.Reverse) },
		func(c *Call) (lineIndex[float64], lineIndex[int64]) {
			return topLine[float64](c.Reverse), topLine[int64](c.Reverse)
		})
	opMedianIndex = indexRow("median_index", "index of the median of a dimension, the lower of two; of a NaN if there is one", func(c *Call) int { return 1 },
		func(*Call) keyedLine { return medianKeyed },
		func(*Call) (lineIndex[float64], lineIndex[int64]) { return medianLine[float64], medianLine[int64] })
	opSort = define(Op{
		Name: "sort", Doc: "elements of a dimension in order, with the indices they had", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "sort",
		Composite: []string{"argsort", "gather"},
	})
	opTopk = define(Op{
		Name: "topk", Doc: "the k largest, or smallest, elements of a dimension in order, with the indices they had", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "topk",
		Composite: []string{"topk_index", "gather"},
	})
	opKthvalue = define(Op{
		Name: "kthvalue", Doc: "the k-th smallest element of a dimension, with its index", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "kthvalue",
		Composite: []string{"argsort", "narrow", "gather", "reshape"},
	})
	opMedian = define(Op{
		Name: "median", Doc: "the median of a dimension, the lower of two, with its index; NaN if there is one", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "median",
		Composite: []string{"median_index", "gather", "reshape"},
	})
}

// A lineIndex computes indices from a line and writes them as numbers of the line's type; pairs is room for the line.
type lineIndex[T float64 | int64] func(out, x []T, pairs []numbered[T])

// numbered is an element and where it was.
type numbered[T float64 | int64] struct {
	v T
	i int
}

// order compares two elements, NaN after all numbers.
func (a numbered[T]) order(b numbered[T]) int {
	switch {
	case a.v < b.v || a.v == a.v && b.v != b.v:
		return -1
	case a.v > b.v || a.v != a.v && b.v == b.v:
		return 1
	}
	return 0
}

func ascending[T float64 | int64](a, b numbered[T]) int {
	if o := a.order(b); o != 0 {
		return o
	}
	return a.i - b.i
}

func descending[T float64 | int64](a, b numbered[T]) int {
	if o := b.order(a); o != 0 {
		return o
	}
	return a.i - b.i
}

func orderOf[T float64 | int64](down bool) func(a, b numbered[T]) int {
	if down {
		return descending[T]
	}
	return ascending[T]
}

// indexRow defines a row that maps lines to lines of indices; keyed, if any, does so for float32 and halves.
func indexRow(name, doc string, size func(c *Call) int, keyed func(c *Call) keyedLine, f func(c *Call) (lineIndex[float64], lineIndex[int64])) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: name,
		Check: func(c *Call) []int {
			shape := slices.Clone(c.In[0].shape)
			shape[c.Dims[0]] = size(c)
			return shape
		},
		Result: func(*Call) DType { return Int64 },
		CPU: func(c *Call) {
			if keyed != nil && keyable(c.In[0], c.Dims[0]) {
				overKeys(c, keyed(c))
				return
			}
			floats, ints := f(c)
			if c.In[0].dt.IsFloat() {
				overPairs(c, floats)
				return
			}
			overPairs(c, ints)
		},
	})
}

func overPairs[T float64 | int64](c *Call, f lineIndex[T]) {
	pool := sync.Pool{New: func() any { s := make([]numbered[T], c.In[0].shape[c.Dims[0]]); return &s }}
	overLines(c.Out, c.Dims[0], c.In, func(out []T, in [][]T) {
		pairs := pool.Get().(*[]numbered[T])
		defer pool.Put(pairs)
		f(out, in[0], *pairs)
	})
}

func rank[T float64 | int64](pairs []numbered[T], x []T) {
	for i, v := range x {
		pairs[i] = numbered[T]{v, i}
	}
}

var keyPool = sync.Pool{New: func() any { return new([]keyed) }}

func sortLine[T float64 | int64](down bool, n int) lineIndex[T] {
	order := orderOf[T](down)
	if n >= radixFrom {
		return func(out, x []T, _ []numbered[T]) {
			p := keyPool.Get().(*[]keyed)
			defer keyPool.Put(p)
			if cap(*p) < 2*n {
				*p = make([]keyed, 2*n)
			}
			radix(out, x, (*p)[:n], (*p)[n:2*n], down)
		}
	}
	return func(out, x []T, pairs []numbered[T]) {
		rank(pairs, x)
		slices.SortFunc(pairs, order)
		for i, p := range pairs {
			out[i] = T(p.i)
		}
	}
}

// topLine keeps the best so far in a heap whose root is the worst of them.
func topLine[T float64 | int64](largest bool) lineIndex[T] {
	order := orderOf[T](largest)
	return func(out, x []T, pairs []numbered[T]) {
		best := pairs[:len(out)]
		for i, v := range x {
			p := numbered[T]{v, i}
			switch {
			case i < len(best):
				best[i] = p
				if i == len(best)-1 {
					for k := len(best)/2 - 1; k >= 0; k-- {
						sift(best, k, order)
					}
				}
			case order(p, best[0]) < 0:
				best[0] = p
				sift(best, 0, order)
			}
		}
		slices.SortFunc(best, order)
		for i, p := range best {
			out[i] = T(p.i)
		}
	}
}

// sift moves element k of a heap down to its place: parents come after their children in the order.
func sift[T float64 | int64](heap []numbered[T], k int, order func(a, b numbered[T]) int) {
	for {
		child := 2*k + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && order(heap[child+1], heap[child]) > 0 {
			child++
		}
		if order(heap[child], heap[k]) <= 0 {
			return
		}
		heap[k], heap[child] = heap[child], heap[k]
		k = child
	}
}

func medianLine[T float64 | int64](out, x []T, _ []numbered[T]) {
	for i, v := range x {
		if v != v {
			out[0] = T(i)
			return
		}
	}
	p := keysPool.Get().(*[]uint64)
	defer keysPool.Put(p)
	*p = resize(*p, len(x))
	for i, v := range x {
		(*p)[i] = keyOf(v)
	}
	k := (len(x) - 1) / 2
	nth(*p, k)
	median := (*p)[k]
	for _, key := range (*p)[:k] { // of equal ones, the k-th less those that are smaller
		if key < median {
			k--
		}
	}
	for i, v := range x {
		if keyOf(v) != median {
			continue
		}
		if k == 0 {
			out[0] = T(i)
			return
		}
		k--
	}
}

// Argsort returns the indices, int64, that sort dimension dim, from the smallest or, if descending, from the largest. Equal elements
// keep their order, and NaN counts as greatest.
func Argsort(s *Scope, x *Tensor, dim int, descending bool) *Tensor {
	x.live("argsort")
	return s.apply(opArgsort, Attrs{Dims: []int{x.axis("argsort", dim)}, Reverse: descending}, x)
}

// Sort returns the elements of dimension dim in order and the indices, int64, they had; see Argsort. Gradients go back to where
// the elements were.
func Sort(s *Scope, x *Tensor, dim int, descending bool) (values, indices *Tensor) {
	s, in := s.enter(opSort, x)
	x = in[0]
	indices = Argsort(s, x, dim, descending)
	return Gather(s, x, dim, indices), indices
}

// Topk returns the k largest elements of dimension dim, or the smallest, in order, and the indices they had, the first of equals. NaN
// counts as greatest. It panics with ErrArgument unless 0 ≤ k ≤ the dimension's size.
func Topk(s *Scope, x *Tensor, k, dim int, largest bool) (values, indices *Tensor) {
	s, in := s.enter(opTopk, x)
	x = in[0]
	dim = x.axis("topk", dim)
	checkRank("topk", x, k, 0, dim)
	indices = s.apply(opTopkIndex, Attrs{Dims: []int{dim}, Start: k, Reverse: largest}, x)
	return Gather(s, x, dim, indices), indices
}

func checkRank(op string, x *Tensor, k, low, dim int) {
	if k < low || k > x.shape[dim] {
		fail(op, ErrArgument, fmt.Sprintf("use a k from %d to %d", low, x.shape[dim]), "k is %d for dimension %d of shape %v", k, dim, x.shape)
	}
}

// Kthvalue returns the k-th smallest elements along dim, from 1, and their indices; dim goes.
func Kthvalue(s *Scope, x *Tensor, k, dim int) (values, indices *Tensor) {
	s, in := s.enter(opKthvalue, x)
	x = in[0]
	dim = x.axis("kthvalue", dim)
	checkRank("kthvalue", x, k, 1, dim)
	return s.picked(x, dim, Narrow(s, Argsort(s, x, dim, false), dim, k-1, 1))
}

// Median returns the medians along dim, the lower of two, and their indices; dim goes. NaN if there is one.
func Median(s *Scope, x *Tensor, dim int) (values, indices *Tensor) {
	s, in := s.enter(opMedian, x)
	x = in[0]
	dim = x.axis("median", dim)
	if x.shape[dim] == 0 {
		fail("median", ErrShape, "use a dimension with elements", "dimension %d of shape %v is empty", dim, x.shape)
	}
	return s.picked(x, dim, s.apply(opMedianIndex, Attrs{Dims: []int{dim}}, x))
}

// picked returns the elements that one index per line names, and the indices, without the dimension.
func (s *Scope) picked(x *Tensor, dim int, indices *Tensor) (values, flat *Tensor) {
	shape := slices.Delete(slices.Clone(x.shape), dim, dim+1)
	return Reshape(s, Gather(s, x, dim, indices), shape...), Reshape(s, indices, shape...)
}
