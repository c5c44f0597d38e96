package amp

import (
	"fmt"
	"slices"
)

// unfold writes the blocks of an image that a window sees as columns, fold adds columns up at their places; pixel_shuffle turns
// channels into pixels. All are made of moves of single dimensions.

var opUnfold, opFold, opPixelShuffle, opPixelUnshuffle *Op

func init() {
	opUnfold = define(Op{
		Name: "unfold", Doc: "the blocks of an image that a window sees, as columns", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "im2col",
		Composite: []string{"constant_pad_nd", "index_select", "transpose", "reshape"},
	})
	opFold = define(Op{
		Name: "fold", Doc: "columns added up at the places of the blocks that unfold makes of them", Args: []string{"x"}, Why: "sums in float64 and rounds once for each dimension", CUDA: "col2im",
		Composite: []string{"reshape", "transpose", "index_select_backward", "constant_pad_nd"},
	})
	opPixelShuffle = define(Op{
		Name: "pixel_shuffle", Doc: "r·r channels as blocks of r by r pixels", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "copy",
		Composite: []string{"transpose", "reshape"},
	})
	opPixelUnshuffle = define(Op{
		Name: "pixel_unshuffle", Doc: "blocks of r by r pixels as r·r channels", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "copy",
		Composite: []string{"transpose", "reshape"},
	})
}

// Blocks say how the window of Unfold and Fold moves over an image: two numbers each, or one for both dimensions. Without a stride or a
// dilation it is 1, without a padding 0.
type Blocks struct{ Kernel, Stride, Padding, Dilation []int }

// pair returns the two numbers of a setting.
func (b *Blocks) pair(op, name string, v []int, otherwise, low int) [2]int {
	switch len(v) {
	case 0:
		v = []int{otherwise, otherwise}
	case 1:
		v = []int{v[0], v[0]}
	}
	if len(v) != 2 || v[0] < low || v[1] < low {
		fail(op, ErrArgument, fmt.Sprintf("give two numbers of %d and above, or one", low), "%s %v", name, v)
	}
	return [2]int{v[0], v[1]}
}

// A blockAxis is one dimension of an image cut into blocks.
type blockAxis struct {
	size, pad     int
	kernel, count int     // elements of a block and number of blocks
	index         []int64 // element of the padded dimension, by place in the block and block
}

// axes works out the blocks of an image.
func (b *Blocks) axes(op string, image []int) [2]blockAxis {
	kernel, stride := b.pair(op, "kernel", b.Kernel, 0, 1), b.pair(op, "stride", b.Stride, 1, 1)
	padding, dilation := b.pair(op, "padding", b.Padding, 0, 0), b.pair(op, "dilation", b.Dilation, 1, 1)
	var out [2]blockAxis
	for i := range out {
		a := blockAxis{size: image[i], pad: padding[i], kernel: kernel[i]}
		span := a.size + 2*a.pad - dilation[i]*(a.kernel-1) - 1
		if span < 0 {
			fail(op, ErrShape, "use a smaller kernel or more padding", "kernel %v with dilation %v over %v padded by %v", kernel, dilation, image, padding)
		}
		a.count = span/stride[i] + 1
		for k := range a.kernel {
			for j := range a.count {
				a.index = append(a.index, int64(k*dilation[i]+j*stride[i]))
			}
		}
		out[i] = a
	}
	return out
}

// Unfold returns the blocks that a window sees of x [n channels h w], as columns: [n channels·kernel blocks], channels first, then the
// places in the window row by row; blocks come row by row too (im2col). Padding is zeros.
func Unfold(s *Scope, x *Tensor, b Blocks) *Tensor {
	s, in := s.enter(opUnfold, x)
	x = in[0]
	if len(x.shape) != 4 {
		fail("unfold", ErrShape, "use [n channels h w]", "x %v", x.shape)
	}
	n, c := x.shape[0], x.shape[1]
	a := b.axes("unfold", x.shape[2:])
	x = Pad(s, x, []int{a[1].pad, a[1].pad, a[0].pad, a[0].pad}, "constant", 0)
	x = IndexSelect(s, IndexSelect(s, x, 2, indices(s, a[0].index)), 3, indices(s, a[1].index))
	x = Permute(s, Reshape(s, x, n, c, a[0].kernel, a[0].count, a[1].kernel, a[1].count), 0, 1, 2, 4, 3, 5)
	return Reshape(s, x, n, c*a[0].kernel*a[1].kernel, a[0].count*a[1].count)
}

// Fold returns the image [n channels h w] of size [h w] that has the columns of x, as Unfold makes them, added up at their places
// (col2im): the gradient of Unfold. It panics with ErrShape unless x has as many columns as the image has blocks.
func Fold(s *Scope, x *Tensor, size []int, b Blocks) *Tensor {
	s, in := s.enter(opFold, x)
	x = in[0]
	if len(x.shape) != 3 || len(size) != 2 || size[0] < 1 || size[1] < 1 {
		fail("fold", ErrShape, "use x [n channels·kernel blocks] and a size [h w]", "x %v, size %v", x.shape, size)
	}
	a := b.axes("fold", size)
	places := a[0].kernel * a[1].kernel
	if x.shape[1]%places != 0 || x.shape[2] != a[0].count*a[1].count {
		fail("fold", ErrShape, fmt.Sprintf("give a multiple of %d rows and %d columns", places, a[0].count*a[1].count), "x %v for size %v", x.shape, size)
	}
	n, c := x.shape[0], x.shape[1]/places
	x = Permute(s, Reshape(s, x, n, c, a[0].kernel, a[1].kernel, a[0].count, a[1].count), 0, 1, 2, 4, 3, 5)
	x = Reshape(s, x, n, c, a[0].kernel*a[0].count, a[1].kernel*a[1].count)
	for i, d := range []int{2, 3} {
		shape := slices.Clone(x.shape)
		shape[d] = a[i].size + 2*a[i].pad
		x = s.apply(opIndexSelectBackward, Attrs{Dims: []int{d}, Shape: shape}, x, indices(s, a[i].index))
	}
	return Pad(s, x, []int{-a[1].pad, -a[1].pad, -a[0].pad, -a[0].pad}, "constant", 0)
}

// PixelShuffle returns x [… channels·r·r h w] as [… channels h·r w·r]: r·r channels become blocks of r by r pixels.
func PixelShuffle(s *Scope, x *Tensor, r int) *Tensor {
	s, in := s.enter(opPixelShuffle, x)
	x = in[0]
	k := len(x.shape) - 3
	if k < 0 || r < 1 || x.shape[k]%(r*r) != 0 {
		fail("pixel_shuffle", ErrShape, "use [channels·r·r h w], with or without dimensions before", "x %v, r %d", x.shape, r)
	}
	c, h, w := x.shape[k]/(r*r), x.shape[k+1], x.shape[k+2]
	lead := x.shape[:k]
	x = Reshape(s, x, append(slices.Clone(lead), c, r, r, h, w)...)
	return Reshape(s, Permute(s, x, after(k, 0, 3, 1, 4, 2)...), append(slices.Clone(lead), c, h*r, w*r)...)
}

// PixelUnshuffle returns x [… channels h·r w·r] as [… channels·r·r h w]: the inverse of PixelShuffle.
func PixelUnshuffle(s *Scope, x *Tensor, r int) *Tensor {
	s, in := s.enter(opPixelUnshuffle, x)
	x = in[0]
	k := len(x.shape) - 3
	if k < 0 || r < 1 || x.shape[k+1]%r != 0 || x.shape[k+2]%r != 0 {
		fail("pixel_unshuffle", ErrShape, "use [channels h·r w·r], with or without dimensions before", "x %v, r %d", x.shape, r)
	}
	c, h, w := x.shape[k], x.shape[k+1]/r, x.shape[k+2]/r
	lead := x.shape[:k]
	x = Reshape(s, x, append(slices.Clone(lead), c, h, r, w, r)...)
	return Reshape(s, Permute(s, x, after(k, 0, 2, 4, 1, 3)...), append(slices.Clone(lead), c*r*r, h, w)...)
}

// after returns k dimensions in their order, then others counted from there.
func after(k int, others ...int) []int {
	var out []int
	for d := range k {
		out = append(out, d)
	}
	for _, d := range others {
		out = append(out, k+d)
	}
	return out
}
