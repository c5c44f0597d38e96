package amp

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// narrow takes a range of one dimension; cat and stack put tensors together.

var opNarrow, opNarrowBackward, opCat, opStack *Op

func init() {
	opNarrow = define(Op{
		Name: "narrow", Doc: "a range of one dimension, as a view", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "view",
		Check: func(c *Call) []int { return c.Shape },
		View: func(c *Call) *Tensor {
			v := c.In[0].alias(c.Shape, c.In[0].strides)
			v.off += c.Start * c.In[0].strides[c.Dims[0]]
			return v
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = b.Shape(0)
			b.Set(0, b.S.apply(opNarrowBackward, a, b.DY))
		},
		Part: func(b *Back) (g *Tensor, dim, start int) { return b.DY, b.n.attrs.Dims[0], b.n.attrs.Start },
	})
	opNarrowBackward = define(Op{
		Name: "narrow_backward", Doc: "dy at its place in a tensor of zeros", Args: []string{"dy"}, Why: whyView, Ints: true, CUDA: "narrow_backward",
		Check: func(c *Call) []int { return c.Shape },
		CPU: func(c *Call) {
			clearAround(c.Out, c.Dims[0], c.Start, c.In[0].shape[c.Dims[0]])
			copyPart(c.Out, c.In[0], c.Dims[0], c.Start)
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			b.Set(0, Narrow(b.S, b.DY, a.Dims[0], a.Start, b.Shape(0)[a.Dims[0]]))
		},
	})
	opCat = define(Op{
		Name: "cat", Doc: "tensors one after another along a dimension", Args: []string{"first", "second", "third"}, CPUList: Promote, Why: whyChoose, Widens: true, Ints: true, CUDA: "cat",
		Check: checkCat,
		CPU: func(c *Call) {
			if catLines(c.Out, c.In, c.Dims[0]) {
				return
			}
			at := 0
			for _, t := range c.In {
				copyPart(c.Out, t, c.Dims[0], at)
				at += t.shape[c.Dims[0]]
			}
		},
		Backward: func(b *Back) {
			d, at := b.Attrs().Dims[0], 0
			for i := range b.n.in {
				n := b.Shape(i)[d]
				if b.Needs(i) {
					b.Set(i, Narrow(b.S, b.DY, d, at, n))
				}
				at += n
			}
		},
	})
	opStack = define(Op{
		Name: "stack", Doc: "tensors of one shape along a new dimension", Args: []string{"first", "second", "third"}, CPUList: Promote, Why: whyChoose,
		Composite: []string{"reshape", "cat"}, Parts: Apart, CUDA: "cat",
	})
}

// clearAround clears all of out, which is contiguous, but n places along dimension d from at on.
func clearAround(out *Tensor, d, at, n int) {
	size := out.dt.Size()
	step := out.strides[d] * size
	whole := out.shape[d] * step
	if whole == 0 {
		return
	}
	mem := out.st.mem[out.off*size:][:out.Len()*size]
	cpu.Parallel(len(mem), grain*size, func(lo, hi int) {
		for block := lo / whole * whole; block < hi; block += whole {
			for _, gap := range [2][2]int{{block, block + at*step}, {block + (at+n)*step, block + whole}} {
				if from, to := max(lo, gap[0]), min(hi, gap[1]); from < to {
					clear(mem[from:to])
				}
			}
		}
	})
}

// copyPart copies t into out along dimension d, from index at on. They have the same dtype and otherwise the same shape.
func copyPart(out, t *Tensor, d, at int) {
	if out.contiguous() && t.contiguous() {
		copyLines(out, t, d, at)
		return
	}
	part := *out
	part.shape, part.off = t.shape, out.off+at*out.strides[d]
	copyRows(&part, t)
}

// copyLines is copyPart where the elements of both run on from dimension d: a line of t is one copy, without a walk, which would take
// longer where lines are short.
func copyLines(out, t *Tensor, d, at int) {
	size := out.dt.Size()
	line, step := length(t.shape[d:])*size, length(out.shape[d:])*size
	if t.Len() == 0 {
		return
	}
	dst, src := out.st.mem[(out.off+at*out.strides[d])*size:], t.st.mem[t.off*size:]
	if lines := t.Len() * size / line; lines > 1 {
		cpu.Parallel(lines, max(1, 4*grain/line), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				copy(dst[i*step:i*step+line], src[i*line:])
			}
		})
		return
	}
	cpu.Parallel(line, 4*grain, func(lo, hi int) { copy(dst[lo:hi], src[lo:]) })
}

// catLines joins tensors whose elements run on from dimension d, line by line, so that the result is written once from its begin to its end; it
// says whether they are so. One tensor after another would come back to the pages of all of it for each.
func catLines(out *Tensor, in []*Tensor, d int) bool {
	size := out.dt.Size()
	whole := length(out.shape[d:]) * size
	if whole == 0 || out.Len()*size == whole || !out.contiguous() {
		return false
	}
	type part struct {
		src  []byte
		line int
	}
	parts := make([]part, 0, len(in))
	for _, t := range in {
		if t.Len() == 0 {
			continue
		}
		if !t.contiguous() {
			return false
		}
		parts = append(parts, part{t.st.mem[t.off*size : (t.off+t.Len())*size], length(t.shape[d:]) * size})
	}
	dst := out.st.mem[out.off*size:]
	cpu.Parallel(out.Len()*size/whole, max(1, 4*grain/whole), func(lo, hi int) {
		at := lo * whole
		for i := lo; i < hi; i++ {
			for _, p := range parts {
				at += copy(dst[at:], p.src[i*p.line:(i+1)*p.line])
			}
		}
	})
	return true
}

func checkCat(c *Call) []int {
	d := c.Dims[0]
	shape := slices.Clone(c.In[0].shape)
	for i, t := range c.In[1:] {
		same := len(t.shape) == len(shape)
		for k := 0; same && k < len(shape); k++ {
			same = k == d || t.shape[k] == shape[k]
		}
		if !same {
			fail("cat", ErrShape, "tensors may differ in the dimension they are joined along alone", "tensor 0 is %v, tensor %d is %v, joined along %d", c.In[0].shape, i+1, t.shape, d)
		}
		shape[d] += t.shape[d]
	}
	return shape
}

// Narrow returns the elements start … start+length-1 of one dimension, as a view; a negative start counts from the end.
func Narrow(s *Scope, x *Tensor, dim, start, length int) *Tensor {
	x.live("narrow")
	dim = x.axis("narrow", dim)
	from := start
	if start < 0 {
		from += x.shape[dim]
	}
	if from < 0 || length < 0 || length > x.shape[dim]-from {
		fail("narrow", ErrShape, fmt.Sprintf("dimension %d has the elements 0 to %d", dim, x.shape[dim]-1), "start %d, length %d of shape %v", start, length, x.shape)
	}
	shape := slices.Clone(x.shape)
	shape[dim] = length
	return s.apply(opNarrow, Attrs{Dims: []int{dim}, Start: from, Shape: shape}, x)
}

// Cat returns the tensors one after another along dim; their other sizes are equal, and dtypes are brought to the widest. Among tensors of
// more dimensions one of shape [0] is nothing, as in torch: what a loop that collects batches begins with.
func Cat(s *Scope, dim int, tensors ...*Tensor) *Tensor {
	if len(tensors) == 0 {
		fail("cat", ErrArgument, "pass at least one tensor", "nothing to join")
	}
	opCat.need(tensors...)
	some := withoutNothing(s, tensors, dim)
	if len(some) < len(tensors) {
		y := Cat(s, dim, some...)
		return To(s, y, promoteTypes(y.dt, opCat.common(tensors)))
	}
	return s.apply(opCat, Attrs{Dims: []int{some[0].axis("cat", dim)}}, some...)
}

// withoutNothing leaves out tensors of shape [0] where there are others of more dimensions. One that wants a gradient, of nothing, is brought to
// their shape instead.
func withoutNothing(s *Scope, tensors []*Tensor, dim int) []*Tensor {
	nothing := func(t *Tensor) bool { return len(t.shape) == 1 && t.shape[0] == 0 }
	k := slices.IndexFunc(tensors, func(t *Tensor) bool { return len(t.shape) > 1 })
	if k < 0 || !slices.ContainsFunc(tensors, nothing) {
		return tensors
	}
	s.alive("cat")
	shape := slices.Clone(tensors[k].shape)
	shape[tensors[k].axis("cat", dim)] = 0
	var some []*Tensor
	for _, t := range tensors {
		switch {
		case !nothing(t):
			some = append(some, t)
		case t.needs && !s.noGrad:
			some = append(some, Reshape(s, t, shape...))
		}
	}
	return some
}

// Stack returns the tensors, all of one shape, along a new dimension dim.
func Stack(s *Scope, dim int, tensors ...*Tensor) *Tensor {
	if len(tensors) == 0 {
		fail("stack", ErrArgument, "pass at least one tensor", "nothing to join")
	}
	s, tensors = s.enter(opStack, tensors...)
	parts := make([]*Tensor, len(tensors))
	for i, t := range tensors {
		t.live("stack")
		if !slices.Equal(t.shape, tensors[0].shape) {
			fail("stack", ErrShape, "use amp.Cat for tensors of different sizes", "tensor 0 is %v, tensor %d is %v", tensors[0].shape, i, t.shape)
		}
		if dim < 0 {
			dim += len(t.shape) + 1
		}
		if dim < 0 || dim > len(t.shape) {
			fail("stack", ErrShape, fmt.Sprintf("use a dimension from 0 to %d", len(t.shape)), "dimension %d for shape %v", dim, t.shape)
		}
		parts[i] = Reshape(s, t, slices.Insert(slices.Clone(t.shape), dim, 1)...)
	}
	return Cat(s, dim, parts...)
}

// Split returns x cut along dim into pieces of the given size, the last one smaller if need be, as views; one empty piece where there
// is nothing to cut.
func Split(s *Scope, x *Tensor, size, dim int) []*Tensor {
	x.live("narrow")
	dim = x.axis("narrow", dim)
	if size < 1 {
		fail("narrow", ErrArgument, "use a size of 1 or above", "split of size %d", size)
	}
	n := x.shape[dim]
	if n == 0 {
		return []*Tensor{Narrow(s, x, dim, 0, 0)}
	}
	var out []*Tensor
	for at := 0; at < n; at += size {
		out = append(out, Narrow(s, x, dim, at, min(size, n-at)))
	}
	return out
}
