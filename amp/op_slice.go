package amp

import (
	"fmt"
	"slices"
)

// slice, select, squeeze and unsqueeze: views that leave elements or dimensions out, or put dimensions of size 1 in.

var opSlice, opSliceBackward, opSelect, opSqueeze, opUnsqueeze *Op

func init() {
	opSlice = define(Op{
		Name: "slice", Doc: "every so-manieth element of a range of one dimension, as a view", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "view",
		Check: func(c *Call) []int { return c.Shape },
		View:  func(c *Call) *Tensor { return sliceOf(c.In[0], c.Shape, c) },
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = b.Shape(0)
			b.Set(0, b.S.apply(opSliceBackward, a, b.DY))
		},
	})
	opSliceBackward = define(Op{
		Name: "slice_backward", Doc: "dy at its places in a tensor of zeros", Args: []string{"dy"}, Why: whyView, CUDA: "slice_backward",
		Check: func(c *Call) []int { return c.Shape },
		CPU: func(c *Call) {
			clear(c.Out.st.mem)
			part := sliceOf(c.Out, c.In[0].shape, c)
			copyPart(part, c.In[0], 0, 0)
			part.release()
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = b.Shape(0)
			b.Set(0, b.S.apply(opSlice, a, b.DY))
		},
	})
	opSelect = define(Op{
		Name: "select", Doc: "one slice of a dimension, which goes, as a view", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "view",
		Check: func(c *Call) []int { return c.Shape },
		View: func(c *Call) *Tensor {
			x, d := c.In[0], c.Dims[0]
			v := x.alias(c.Shape, slices.Delete(slices.Clone(x.strides), d, d+1))
			v.off += c.Start * x.strides[d]
			return v
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = b.Shape(0)
			b.Set(0, b.S.apply(opNarrowBackward, a, Unsqueeze(b.S, b.DY, a.Dims[0])))
		},
		Part: func(b *Back) (g *Tensor, dim, start int) {
			a := b.Attrs()
			return Unsqueeze(b.S, b.DY, a.Dims[0]), a.Dims[0], a.Start
		},
	})
	opSqueeze = define(Op{
		Name: "squeeze", Doc: "without dimensions of size 1, as a view", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "view",
		Check: func(c *Call) []int { return without(c.In[0].shape, c.Dims) },
		View: func(c *Call) *Tensor {
			return c.In[0].alias(without(c.In[0].shape, c.Dims), without(c.In[0].strides, c.Dims))
		},
		Backward: func(b *Back) {
			g := b.DY
			for _, d := range b.Attrs().Dims { // from the first on
				g = Unsqueeze(b.S, g, d)
			}
			b.Set(0, g)
		},
	})
	opUnsqueeze = define(Op{
		Name: "unsqueeze", Doc: "with a dimension of size 1 put in, as a view", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "view",
		Check: func(c *Call) []int { return slices.Insert(slices.Clone(c.In[0].shape), c.Dims[0], 1) },
		View: func(c *Call) *Tensor {
			x, d := c.In[0], c.Dims[0]
			return x.alias(slices.Insert(slices.Clone(x.shape), d, 1), slices.Insert(slices.Clone(x.strides), d, 1))
		},
		Backward: func(b *Back) { b.Set(0, Squeeze(b.S, b.DY, b.Attrs().Dims[0])) },
	})
}

// sliceOf views the elements Start, Start+Step, … of a dimension of t in the shape given.
func sliceOf(t *Tensor, shape []int, c *Call) *Tensor {
	d, strides := c.Dims[0], slices.Clone(t.strides)
	strides[d] *= c.Dims[1]
	v := t.alias(shape, strides)
	if v.Len() > 0 {
		v.off += c.Start * t.strides[d]
	}
	return v
}

// without returns v without the elements at some places, which are sorted.
func without(v, places []int) []int {
	var out []int
	for d, n := range v {
		if !slices.Contains(places, d) {
			out = append(out, n)
		}
	}
	return out
}

// Slice returns the elements start, start+step, … up to but without end of dimension dim, as a view. As in Python, negative ends count
// from the last element, and ends beyond are cut; math.MaxInt stands for "to the end". It panics with ErrArgument for a step
// below 1.
func Slice(s *Scope, x *Tensor, dim, start, end, step int) *Tensor {
	x.live("slice")
	dim = x.axis("slice", dim)
	if step < 1 {
		fail("slice", ErrArgument, "use a step of 1 or above, and amp.Flip to go backward", "step %d", step)
	}
	n := x.shape[dim]
	if start < 0 {
		start += n
	}
	if end < 0 {
		end += n
	}
	start = min(max(start, 0), n)
	end = min(max(end, start), n)
	shape := slices.Clone(x.shape)
	if end > start {
		shape[dim] = (end-start-1)/step + 1
	} else {
		shape[dim] = 0
	}
	if step >= max(n, 1) { // one element at most: any step will do
		step = 1
	}
	return s.apply(opSlice, Attrs{Dims: []int{dim, step}, Start: start, Shape: shape}, x)
}

// Select returns slice index of dimension dim, which goes, as a view; a negative index counts from the last.
func Select(s *Scope, x *Tensor, dim, index int) *Tensor {
	x.live("select")
	dim = x.axis("select", dim)
	n := x.shape[dim]
	if index < -n || index >= n {
		fail("select", ErrArgument, fmt.Sprintf("use an index from %d to %d", -n, n-1), "index %d of dimension %d of shape %v", index, dim, x.shape)
	}
	if index < 0 {
		index += n
	}
	return s.apply(opSelect, Attrs{Dims: []int{dim}, Start: index, Shape: slices.Delete(slices.Clone(x.shape), dim, dim+1)}, x)
}

// Unbind returns the slices of dimension dim, which goes, as views.
func Unbind(s *Scope, x *Tensor, dim int) []*Tensor {
	x.live("select")
	out := make([]*Tensor, x.shape[x.axis("select", dim)])
	for i := range out {
		out[i] = Select(s, x, dim, i)
	}
	return out
}

// Chunk returns x cut along dim into n pieces of one size, as views; the last is smaller, or there are fewer, where n does not divide it.
func Chunk(s *Scope, x *Tensor, n, dim int) []*Tensor {
	x.live("narrow")
	if n < 1 {
		fail("chunk", ErrArgument, "use a number of 1 or above", "%d chunks", n)
	}
	size := x.shape[x.axis("narrow", dim)]
	if size == 0 {
		return slices.Repeat([]*Tensor{x}, n)
	}
	return Split(s, x, (size+n-1)/n, dim)
}

// Squeeze returns x without those of dims that have size 1, without any dims: without all of size 1; as a view.
func Squeeze(s *Scope, x *Tensor, dims ...int) *Tensor {
	x.live("squeeze")
	var gone []int
	for _, d := range reducedAxes("squeeze", x, dims) {
		if x.shape[d] == 1 {
			gone = append(gone, d)
		}
	}
	return s.apply(opSqueeze, Attrs{Dims: gone}, x)
}

// Unsqueeze returns x with a dimension of size 1 put in at place dim, as a view; negative places count from the end of the result.
func Unsqueeze(s *Scope, x *Tensor, dim int) *Tensor {
	x.live("unsqueeze")
	n := len(x.shape)
	if dim < -n-1 || dim > n {
		fail("unsqueeze", ErrShape, fmt.Sprintf("use a place from %d to %d", -n-1, n), "place %d for shape %v", dim, x.shape)
	}
	if dim < 0 {
		dim += n + 1
	}
	return s.apply(opUnsqueeze, Attrs{Dims: []int{dim}}, x)
}

// Flatten returns x with the dimensions start to end, both included, as one; see Reshape. x without dimensions is taken for a list of one.
func Flatten(s *Scope, x *Tensor, start, end int) *Tensor {
	x.live("reshape")
	start, end = x.axisOr0("reshape", start), x.axisOr0("reshape", end)
	if start > end {
		fail("reshape", ErrArgument, "give the first dimension first", "flatten from %d to %d", start, end)
	}
	if x.lone() {
		return Reshape(s, x, 1)
	}
	shape := append(slices.Clone(x.shape[:start]), length(x.shape[start:end+1]))
	return Reshape(s, x, append(shape, x.shape[end+1:]...)...)
}

// Rot90 returns x turned by k quarters from the first of two dimensions toward the second.
func Rot90(s *Scope, x *Tensor, k, first, second int) *Tensor {
	x.live("rot90")
	first, second = x.axis("rot90", first), x.axis("rot90", second)
	if first == second {
		fail("rot90", ErrShape, "name two dimensions", "dimension %d twice", first)
	}
	switch k = (k%4 + 4) % 4; k {
	case 1:
		return Transpose(s, Flip(s, x, second), first, second)
	case 2:
		return Flip(s, x, first, second)
	case 3:
		return Flip(s, Transpose(s, x, first, second), second)
	}
	return Flip(s, x)
}
