package amp

import (
	"fmt"
	"slices"
)

// Writing and reading by lists of indices: index_add, index_copy and index_fill along one dimension; index and index_put with one
// tensor of indices for each of the first dimensions, or with masks. All are made of scatter and gather.

var opIndexAdd, opIndexCopy, opIndexFill, opIndex, opIndexPut, opRavelIndex, opTakeAlongDim *Op

func init() {
	opIndexAdd = define(Op{
		Name: "index_add", Doc: "x with slices of src added along a dimension at the places that index names", Args: []string{"x", "index", "src"}, Why: "sums in float64 and rounds once", Ints: true, CUDA: "scatter_add", Line: LikeFirst,
		Composite: []string{"reshape", "expand", "mul_scalar", "scatter_add"},
	})
	opIndexCopy = define(Op{
		Name: "index_copy", Doc: "x with slices of src along a dimension at the places that index names", Args: []string{"x", "index", "src"}, CPUList: Promote, Why: whyChoose, Ints: true, CUDA: "scatter", Line: LikeFirst,
		Composite: []string{"reshape", "expand", "scatter"},
	})
	opIndexFill = define(Op{
		Name: "index_fill", Doc: "x with a number in the slices of a dimension that index names", Args: []string{"x", "index"}, Why: whyChoose, Ints: true, CUDA: "scatter_value", Line: LikeFirst,
		Composite: []string{"reshape", "expand", "scatter_value"},
	})
	opRavelIndex = define(Op{
		Name: "ravel_index", Doc: "row-major number of the element that indices of each dimension name; negative ones count from the end", Args: []string{"first", "second", "third"}, Why: "integers pass through autocast", Ints: true, CUDA: "ravel_index",
		Check: func(c *Call) []int {
			shape := c.In[0].shape
			for i, t := range c.In {
				if t.dt != Int64 {
					fail("index", ErrDType, "indices are int64, amp.From([]int64{…}), or masks, amp.From([]bool{…})", "%s", c.shapes())
				}
				if !slices.Equal(t.shape, shape) {
					fail("index", ErrShape, "expand the indices to one shape", "index 0 is %v, index %d is %v", shape, i, t.shape)
				}
				if c.Shape[i] == 0 && t.Len() > 0 {
					fail("index", ErrArgument, "index dimensions with elements, or pass indices without any", "dimension %d has no elements", i)
				}
			}
			return shape
		},
		CPU: ravelIndexCPU,
	})
	opIndex = define(Op{
		Name: "index", Doc: "x[i, j, …] for indices of the first dimensions, broadcast, or where a mask is true", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "index_select",
		Composite: []string{"select", "ravel_index", "reshape", "index_select"},
	})
	opIndexPut = define(Op{
		Name: "index_put", Doc: "x with values written to or added at x[i, j, …]", Args: []string{"x", "values"}, Class: Promote, Why: whyCombine, Ints: true, CUDA: "index_put",
		Composite: []string{"select", "ravel_index", "expand", "scatter", "scatter_add", "reshape"},
	})
	opTakeAlongDim = define(Op{
		Name: "take_along_dim", Doc: "gather with x and index broadcast to each other but along the dimension", Args: []string{"x", "index"}, Why: whyChoose, Ints: true, CUDA: "gather",
		Composite: []string{"expand", "gather"},
	})
}

func ravelIndexCPU(c *Call) {
	out := elements[int64](c.Out)[c.Out.off:]
	clear(out[:c.Out.Len()])
	for k, t := range c.In {
		n, i, from := int64(c.Shape[k]), 0, elements[int64](t)
		t.each(func(off int) {
			j := from[off]
			if j < -n || j >= n {
				fail("index", ErrArgument, fmt.Sprintf("use indices from %d to %d", -n, n-1), "index %d of dimension %d is %d", i, k, j)
			}
			if j < 0 {
				j += n
			}
			out[i] = out[i]*n + j
			i++
		})
	}
}

// alongSlices brings a list of indices to the shape of src, whose slices along dim it numbers.
func alongSlices(s *Scope, o *Op, x *Tensor, dim int, index *Tensor, src []int) *Tensor {
	x.live(o.Name)
	x, index = line(s, x), line(s, index)
	want := slices.Clone(x.shape)
	if len(index.shape) == 1 {
		want[dim] = index.shape[0]
	}
	if len(index.shape) != 1 || src != nil && !slices.Equal(src, want) {
		fail(o.Name, ErrShape, "use a list of indices, and a src of one slice of x for each", "x %v, index %v, src %v along %d", x.shape, index.shape, src, dim)
	}
	thin := make([]int, len(want))
	for d := range thin {
		thin[d] = 1
	}
	thin[dim] = want[dim]
	return Expand(s, Reshape(s, index, thin...), want...)
}

// IndexAdd returns x with alpha·src added along dim: slice i of src goes to slice index[i] of x. It panics with ErrArgument for an index
// outside.
func IndexAdd(s *Scope, x *Tensor, dim int, index, src *Tensor, alpha float64) *Tensor {
	opIndexAdd.need(x, index, src)
	s, in := s.enter(opIndexAdd, x, index, src)
	x, src, dim = in[0], line(s, in[2]), opIndexAdd.axis(in[0], dim)
	if alpha != 1 {
		src = MulScalar(s, src, alpha)
	}
	return ScatterAdd(s, x, dim, alongSlices(s, opIndexAdd, x, dim, index, src.shape), src)
}

// IndexCopy returns x with slice index[i] along dim replaced by slice i of src, the last of several.
func IndexCopy(s *Scope, x *Tensor, dim int, index, src *Tensor) *Tensor {
	opIndexCopy.need(x, index, src)
	s, in := s.enter(opIndexCopy, x, index, src)
	x, src, dim = in[0], line(s, in[2]), opIndexCopy.axis(in[0], dim)
	return Scatter(s, x, dim, alongSlices(s, opIndexCopy, x, dim, index, src.shape), src)
}

// IndexFill returns x with value in the slices along dim that index, a list of int64, names.
func IndexFill(s *Scope, x *Tensor, dim int, index *Tensor, value float64) *Tensor {
	opIndexFill.need(x, index)
	s, in := s.enter(opIndexFill, x, index)
	x, dim = in[0], opIndexFill.axis(in[0], dim)
	return ScatterValue(s, x, dim, alongSlices(s, opIndexFill, x, dim, index, nil), value)
}

// rows numbers the slices of x that indices of its first dimensions name: x as [slices rest], the numbers, and the shape that
// indices and rest have together.
func (s *Scope) rows(op string, x *Tensor, indices []*Tensor) (flat, number *Tensor, shape []int) {
	indices = s.unmasked(op, x, indices)
	k := len(indices)
	if k == 0 || k > len(x.shape) {
		fail(op, ErrArgument, fmt.Sprintf("give one to %d tensors of indices", len(x.shape)), "%d for shape %v", k, x.shape)
	}
	c := &Call{Op: opAdd, In: []*Tensor{{}, {}}}
	for _, t := range indices {
		c.In[0].shape, c.In[1].shape = shape, t.shape
		shape = broadcast(c)
	}
	wide := make([]*Tensor, k)
	for i, t := range indices {
		wide[i] = Expand(s, t, shape...)
	}
	number = Reshape(s, s.apply(opRavelIndex, Attrs{Shape: slices.Clone(x.shape[:k])}, wide...), length(shape))
	flat = Reshape(s, x, length(x.shape[:k]), length(x.shape[k:]))
	return flat, number, append(slices.Clone(shape), x.shape[k:]...)
}

// unmasked has, in the place of each mask, the indices of where it is true: one tensor for each of the mask's dimensions.
func (s *Scope) unmasked(op string, x *Tensor, indices []*Tensor) (out []*Tensor) {
	for i, t := range indices {
		if t == nil { // Python's x[:, index]
			fail(op, ErrArgument, "choose along one dimension with amp.IndexSelect(s, x, dim, index), or bring it to the front with amp.Transpose first",
				"index %d is nil: all of a dimension can't be asked for here", i)
		}
		t.live(op)
		if t.dt != Bool {
			out = append(out, t)
			continue
		}
		from, n := len(out), len(t.shape)
		if n == 0 || from+n > len(x.shape) || !slices.Equal(t.shape, x.shape[from:from+n]) {
			fail(op, ErrShape, "a mask has the lengths of the dimensions that it chooses from", "index %d is a mask of shape %v, for dimensions from %d of x %v", i, t.shape, from, x.shape)
		}
		where := Nonzero(s, t)
		for d := range n {
			out = append(out, Select(s, where, 1, d))
		}
	}
	return out
}

// Index returns x[i, j, …] for indices of the first dimensions of x, int64 and broadcast to each other; the dimensions that are not
// indexed come last. Negative indices count from the end. A bool tensor is a mask of as many dimensions as it has, and stands for the
// indices of where it is true: Index(s, x, mask) is x[mask]. It is read, for which a device must be waited for. Index panics with
// ErrArgument for an index outside.
func Index(s *Scope, x *Tensor, indices ...*Tensor) *Tensor {
	s, in := s.enter(opIndex, append([]*Tensor{x}, indices...)...)
	flat, number, shape := s.rows("index", in[0], indices)
	return Reshape(s, IndexSelect(s, flat, 0, number), shape...)
}

// IndexPut returns x with values written to x[i, j, …], the last of several, or, with accumulate, added there; see Index. values is
// broadcast to the indices' shape and the dimensions that are not indexed. Under autocast x and values have the wider dtype of the
// two, which otherwise must be one.
func IndexPut(s *Scope, x *Tensor, indices []*Tensor, values *Tensor, accumulate bool) *Tensor {
	s, in := s.enter(opIndexPut, x, values)
	x, values = in[0], in[1]
	flat, number, shape := s.rows("index_put", x, indices)
	n, rest := number.shape[0], flat.shape[1]
	values = Reshape(s, Expand(s, values, shape...), n, rest)
	number = Expand(s, Reshape(s, number, n, 1), n, rest)
	if accumulate {
		flat = ScatterAdd(s, flat, 0, number, values)
	} else {
		flat = Scatter(s, flat, 0, number, values)
	}
	return Reshape(s, flat, x.shape...)
}

// TakeAlongDim is Gather with x and index broadcast to each other in all dimensions but dim.
func TakeAlongDim(s *Scope, x *Tensor, index *Tensor, dim int) *Tensor {
	opTakeAlongDim.need(x, index)
	s, in := s.enter(opTakeAlongDim, x, index)
	x, dim = in[0], in[0].axis("take_along_dim", dim)
	if len(index.shape) != len(x.shape) {
		fail("take_along_dim", ErrShape, "give index as many dimensions as x", "x %v, index %v", x.shape, index.shape)
	}
	a, b := slices.Clone(x.shape), slices.Clone(index.shape)
	a[dim], b[dim] = 1, 1
	wide := broadcast(&Call{Op: opTakeAlongDim, In: []*Tensor{{shape: a}, {shape: b}}})
	a, b = slices.Clone(wide), slices.Clone(wide)
	a[dim], b[dim] = x.shape[dim], index.shape[dim]
	return Gather(s, Expand(s, x, a...), dim, Expand(s, index, b...))
}
