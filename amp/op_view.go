package amp

import (
	"fmt"
	"slices"
)

// reshape, transpose and expand change how the elements are addressed; contiguous writes them out in row-major order.

var opReshape, opTranspose, opExpand, opContiguous *Op

const whyView = "moves no numbers"

func init() {
	opReshape = define(Op{
		Name: "reshape", Doc: "the same elements in row-major order under another shape", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "view",
		Check:    func(c *Call) []int { return c.Shape },
		View:     func(c *Call) *Tensor { return c.In[0].alias(c.Shape, nil) },
		Backward: func(b *Back) { b.Set(0, Reshape(b.S, b.DY, b.Shape(0)...)) },
	})
	opTranspose = define(Op{
		Name: "transpose", Doc: "dimensions in another order", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "view",
		Check: func(c *Call) []int { return permuted(c.In[0].shape, c.Dims) },
		View: func(c *Call) *Tensor {
			return c.In[0].alias(permuted(c.In[0].shape, c.Dims), permuted(c.In[0].strides, c.Dims))
		},
		Backward: func(b *Back) {
			inverse := make([]int, len(b.Attrs().Dims))
			for i, d := range b.Attrs().Dims {
				inverse[d] = i
			}
			b.Set(0, Permute(b.S, b.DY, inverse...))
		},
	})
	opExpand = define(Op{
		Name: "expand", Doc: "repeats dimensions of size 1, and adds leading ones, without copying", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "view",
		Check: checkExpand,
		View:  expandView, Backward: func(b *Back) { b.Set(0, b.sumTo(0, b.DY)) },
	})
	opContiguous = define(Op{
		Name: "contiguous", Doc: "a copy in row-major order", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "copy",
		Check: func(c *Call) []int { return c.In[0].shape },
		CPU: func(c *Call) {
			if !copyTransposed(c.Out, c.In[0]) {
				copyRows(c.Out, c.In[0])
			}
		},
		Backward: func(b *Back) { b.Set(0, b.DY) },
	})
}

// Reshape returns x with another shape of as many elements; one size may be -1, and is then worked out. The result shares x's
// memory where x is contiguous and is a copy where it is not.
func Reshape(s *Scope, x *Tensor, shape ...int) *Tensor {
	x.live("reshape")
	want := slices.Clone(shape)
	free := -1
	for i, d := range want {
		switch {
		case d == -1 && free < 0:
			free, want[i] = i, 1
		case d < 0:
			fail("reshape", ErrShape, "use sizes of 0 and above, and at most one -1", "shape %v", shape)
		}
	}
	known := count("reshape", want)
	if free >= 0 && known > 0 && x.Len()%known == 0 {
		want[free] = x.Len() / known
		known = x.Len()
	}
	if known != x.Len() {
		fail("reshape", ErrShape, fmt.Sprintf("use a shape of %d elements", x.Len()), "x %v to %v", x.shape, shape)
	}
	return s.apply(opReshape, Attrs{Shape: want}, Contiguous(s, x))
}

// Transpose returns x with dimensions a and b swapped, as a view; negative dimensions count from the last.
func Transpose(s *Scope, x *Tensor, a, b int) *Tensor {
	x.live("transpose")
	dims := make([]int, len(x.shape))
	for i := range dims {
		dims[i] = i
	}
	a, b = x.axisOr0("transpose", a), x.axisOr0("transpose", b)
	if !x.lone() {
		dims[a], dims[b] = b, a
	}
	return s.apply(opTranspose, Attrs{Dims: dims}, x)
}

// Permute returns x with its dimensions in the order of dims, as a view.
func Permute(s *Scope, x *Tensor, dims ...int) *Tensor {
	x.live("transpose")
	order := make([]int, len(dims))
	seen := make([]bool, len(x.shape))
	for i, d := range dims {
		order[i] = x.axis("transpose", d)
		if seen[order[i]] {
			fail("transpose", ErrShape, "name each dimension once", "dims %v of a tensor of shape %v", dims, x.shape)
		}
		seen[order[i]] = true
	}
	if len(dims) != len(x.shape) {
		fail("transpose", ErrShape, "name each dimension once", "%d dims %v for shape %v", len(dims), dims, x.shape)
	}
	return s.apply(opTranspose, Attrs{Dims: order}, x)
}

// Expand returns x repeated along its dimensions of size 1 up to shape, as a view; leading dimensions may be added, and -1 leaves one of
// x's as it is.
func Expand(s *Scope, x *Tensor, shape ...int) *Tensor {
	x.live("expand")
	want := slices.Clone(shape)
	for i, lead := 0, len(want)-len(x.shape); lead >= 0 && i < len(x.shape); i++ {
		if want[lead+i] == -1 {
			want[lead+i] = x.shape[i]
		}
	}
	return s.apply(opExpand, Attrs{Shape: want}, x)
}

// Contiguous returns x if its elements lie in row-major order without gaps, else a copy that does.
func Contiguous(s *Scope, x *Tensor) *Tensor {
	x.live("contiguous")
	if x.contiguous() {
		return x
	}
	return s.apply(opContiguous, Attrs{}, x)
}

// Clone returns a copy of x in memory of its own, in row-major order, of x's dtype and on its device. Gradients flow back through it. Where none
// are to, and the copy is to outlive the scope, Keep it: s.Keep(Clone(s.NoGrad(), x)). (PyTorch: x.clone(); it is the op contiguous.)
func Clone(s *Scope, x *Tensor) *Tensor { return s.apply(opContiguous, Attrs{}, x) }

func permuted(v, order []int) []int {
	out := make([]int, len(order))
	for i, d := range order {
		out[i] = v[d]
	}
	return out
}

func checkExpand(c *Call) []int {
	in, want := c.In[0].shape, c.Shape
	ok := len(want) >= len(in) && !slices.ContainsFunc(want, func(d int) bool { return d < 0 })
	for i := 0; ok && i < len(in); i++ {
		d := want[len(want)-len(in)+i]
		ok = d == in[i] || in[i] == 1
	}
	if !ok {
		fail("expand", ErrShape, "only dimensions of size 1 can be repeated", "x %v to %v", in, want)
	}
	return want
}

func expandView(c *Call) *Tensor {
	in := c.In[0]
	strides := make([]int, len(c.Shape))
	lead := len(c.Shape) - len(in.shape)
	for i, d := range in.shape {
		if d == c.Shape[lead+i] {
			strides[lead+i] = in.strides[i]
		}
	}
	return in.alias(c.Shape, strides)
}
