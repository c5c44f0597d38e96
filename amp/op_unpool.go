package amp

import (
	"fmt"
	"slices"
)

// max_unpool puts elements back where a max pool found them, among zeros: a scatter within each plane. PyTorch makes that of one dimension
// of that of two.

var opMaxUnpool2d, opMaxUnpool3d *Op

func init() {
	row := Op{
		Doc: "x at the places in each plane where a max pool found it, the last of several, and 0 elsewhere", Args: []string{"x", "indices"}, CPUList: FP32, Why: whyChoose, Ints: true, CUDA: "scatter",
		Composite: []string{"reshape", "expand", "scatter"},
	}
	row.Name = "max_unpool2d"
	opMaxUnpool2d = define(row)
	row.Name = "max_unpool3d"
	opMaxUnpool3d = define(row)
}

// OutputSize gives the size of what MaxUnpool2d and its kin return, which the windows leave open where they did not reach the end: one
// number per spatial dimension, or the shape of what was pooled, as in OutputSize(x.Shape()...).
func OutputSize(n ...int) WindowOption {
	return func(c *windowConfig) { c.output = n; c.note("OutputSize") }
}

var unpoolOptions = []string{"Kernel", "Stride", "Padding", "OutputSize"}

// MaxUnpool1d is MaxUnpool2d for x and indices [n c w] or [c w], of MaxPool1dIndices.
func MaxUnpool1d(s *Scope, x, indices *Tensor, kernel int, opts ...WindowOption) *Tensor {
	return maxUnpool(s, "max_unpool1d", opMaxUnpool2d, 1, x, indices, kernel, opts)
}

// MaxUnpool2d returns [n c h w], or [c h w] without a batch, that holds the elements of x at the places that indices, of its shape and
// int64, names within each plane, and zeros elsewhere: with the indices of MaxPool2dIndices, and the options of that pool, the pool's input
// where it was largest. Options: Kernel, Stride (the kernel's size unless given), Padding, OutputSize; the size is (h-1)·stride + kernel -
// 2·padding unless given, and is given within less than a stride of that. Of several elements that go to one place, as those of windows that
// overlap may, the last stays and alone has a gradient. (In PyTorch each of them has.) In the dtype of x. It panics with ErrShape for shapes
// that do not fit, with ErrDType unless indices are int64, and with ErrArgument for an index outside of the plane, which a device tells at
// the next read, or an option out of range.
func MaxUnpool2d(s *Scope, x, indices *Tensor, kernel int, opts ...WindowOption) *Tensor {
	return maxUnpool(s, "max_unpool2d", opMaxUnpool2d, 2, x, indices, kernel, opts)
}

// MaxUnpool3d is MaxUnpool2d for x and indices [n c d h w] or [c d h w], of MaxPool3dIndices.
func MaxUnpool3d(s *Scope, x, indices *Tensor, kernel int, opts ...WindowOption) *Tensor {
	return maxUnpool(s, "max_unpool3d", opMaxUnpool3d, 3, x, indices, kernel, opts)
}

func maxUnpool(s *Scope, name string, o *Op, rank int, x, indices *Tensor, kernel int, opts []WindowOption) *Tensor {
	o.need(x, indices)
	w := poolWindow(name, rank, kernel, opts, unpoolOptions)
	s, in := s.enter(o, x, indices)
	x, indices = in[0], in[1]
	lead := len(x.shape) - rank
	if lead != 1 && lead != 2 || !slices.Equal(x.shape, indices.shape) {
		fail(name, ErrShape, fmt.Sprintf("give indices of the shape of x: channels and %d dimensions of space, with images before or not", rank), "x %v, indices %v", x.shape, indices.shape)
	}
	size := w.unpooled(x.shape[lead:])
	planes, n := length(x.shape[:lead]), length(x.shape[lead:])
	zeros := Expand(s, constant(s, x.dt, 0), planes, length(size))
	y := Scatter(s, zeros, 1, Reshape(s, indices, planes, n), Reshape(s, x, planes, n))
	return Reshape(s, y, append(slices.Clone(x.shape[:lead]), size...)...)
}

// unpooled returns the spatial sizes of what a pool made in of.
func (c *windowConfig) unpooled(in []int) []int {
	asked := c.output
	if len(asked) > len(in) {
		asked = asked[len(asked)-len(in):]
	}
	size := make([]int, len(in))
	for d, n := range in {
		stride := c.Stride[d]
		size[d] = (n-1)*stride + c.Kernel[d] - 2*c.Padding[d]
		if asked != nil {
			low, want := size[d]-stride+1, c.each("output size", asked, len(in), 1, 0)[d]
			if want < low || want > low+2*stride-2 {
				fail(c.op, ErrArgument, fmt.Sprintf("ask for %d to %d", max(low, 0), low+2*stride-2), "output size %d in spatial dimension %d", want, d)
			}
			size[d] = want
		}
		if size[d] < 0 {
			fail(c.op, ErrShape, "use the window of the pool that made the indices", "%d elements in spatial dimension %d of a window of %d", n, d, c.Kernel[d])
		}
	}
	return size
}
