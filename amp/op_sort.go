package amp

import (
	"fmt"
	"slices"
)

// Sorting and what comes of it: rows give indices, and values are gathered by them, so that their gradients are gather's. NaN counts
// as the greatest number, and elements that are equal keep their order.

var opArgsort, opSort, opTopkIndex, opTopk, opKthvalue, opMedianIndex, opMedian *Op

func init() {
	opArgsort = indexRow("argsort", "indices that sort a dimension, equal elements in their order; NaN is greatest", func(c *Call) int { return c.In[0].shape[c.Dims[0]] },
		func(c *Call) lineKernels {
			return lineKernels{sortKeyed(c.Reverse), sortWide[float64](c.Reverse), sortWide[int64](c.Reverse)}
		})
	opTopkIndex = indexRow("topk_index", "indices of the k largest, or smallest, elements of a dimension in their order; NaN is greatest", func(c *Call) int { return c.Start },
		func(c *Call) lineKernels {
			return lineKernels{topKeyed(c.Reverse), topWide[float64](c.Reverse), topWide[int64](c.Reverse)}
		})
	opMedianIndex = indexRow("median_index", "index of the median of a dimension, the lower of two; of a NaN if there is one", func(c *Call) int { return 1 },
		func(*Call) lineKernels { return lineKernels{medianKeyed, medianWide[float64], medianWide[int64]} })
	opSort = define(Op{
		Name: "sort", Doc: "elements of a dimension in order, with the indices they had", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "sort", Line: LikeFirst,
		Composite: []string{"argsort", "gather"},
	})
	opTopk = define(Op{
		Name: "topk", Doc: "the k largest, or smallest, elements of a dimension in order, with the indices they had", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "topk", Line: LikeFirst,
		Composite: []string{"topk_index", "gather"},
	})
	opKthvalue = define(Op{
		Name: "kthvalue", Doc: "the k-th smallest element of a dimension, with its index", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "kthvalue", Line: LikeFirst,
		Composite: []string{"topk_index", "narrow", "gather", "reshape"},
	})
	opMedian = define(Op{
		Name: "median", Doc: "the median of a dimension, the lower of two, with its index; NaN if there is one", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "median", Line: LikeFirst,
		Composite: []string{"median_index", "gather", "reshape"},
	})
}

// lineKernels find places in lines: of float32 and halves, of float64, and of integers.
type lineKernels struct {
	keyed  keyedLine
	floats wideLine[float64]
	ints   wideLine[int64]
}

// indexRow defines a row that maps lines to lines of indices.
func indexRow(name, doc string, size func(c *Call) int, kernels func(c *Call) lineKernels) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: name, Line: LikeFirst,
		Check: func(c *Call) []int {
			shape := slices.Clone(c.In[0].shape)
			shape[c.Dims[0]] = size(c)
			return shape
		},
		Result: func(*Call) DType { return Int64 },
		CPU: func(c *Call) {
			switch f := kernels(c); {
			case keyable(c.In[0], c.Dims[0]):
				overKeys(c, f.keyed)
			case c.In[0].dt.IsFloat():
				overWide(c, f.floats)
			default:
				overWide(c, f.ints)
			}
		},
	})
}

// Argsort returns the indices, int64, that sort dimension dim, from the smallest or, if descending, from the largest. Equal elements
// keep their order, and NaN counts as greatest.
func Argsort(s *Scope, x *Tensor, dim int, descending bool) *Tensor {
	return s.apply(opArgsort, Attrs{Dims: []int{opArgsort.axis(x, dim)}, Reverse: descending}, x)
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
// counts as greatest. It panics with ErrArgument unless 0 ≤ k ≤ the dimension's size. Of a tensor without dimensions a k of 0 or 1
// gives its element, as in PyTorch.
func Topk(s *Scope, x *Tensor, k, dim int, largest bool) (values, indices *Tensor) {
	s, in := s.enter(opTopk, x)
	x = in[0]
	dim = opTopk.axis(x, dim)
	checkRank("topk", x, k, 0, dim)
	if x.lone() {
		k = 1 // the result has no dimension that could be empty
	}
	indices = s.apply(opTopkIndex, Attrs{Dims: []int{dim}, Start: k, Reverse: largest}, x)
	return Gather(s, x, dim, indices), indices
}

func checkRank(op string, x *Tensor, k, low, dim int) {
	n := 1 // of a tensor without dimensions
	if !x.lone() {
		n = x.shape[dim]
	}
	if k < low || k > n {
		fail(op, ErrArgument, fmt.Sprintf("use a k from %d to %d", low, n), "k is %d for dimension %d of shape %v", k, dim, x.shape)
	}
}

// Kthvalue returns the k-th smallest elements along dim, from 1, and their indices; dim goes.
func Kthvalue(s *Scope, x *Tensor, k, dim int) (values, indices *Tensor) {
	s, in := s.enter(opKthvalue, x)
	x, dim = line(s, in[0]), opKthvalue.axis(in[0], dim)
	checkRank("kthvalue", x, k, 1, dim)
	return s.picked(x, dim, Narrow(s, s.apply(opTopkIndex, Attrs{Dims: []int{dim}, Start: k}, x), dim, k-1, 1))
}

// Median returns the medians along dim, the lower of two, and their indices; dim goes. NaN if there is one.
func Median(s *Scope, x *Tensor, dim int) (values, indices *Tensor) {
	s, in := s.enter(opMedian, x)
	x, dim = line(s, in[0]), opMedian.axis(in[0], dim)
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
