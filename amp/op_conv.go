package amp

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Convolutions of one, two and three spatial dimensions. All ranks share one implementation, which sees each as three-dimensional.

const whyConv = "sums of products: half inputs, float32 accumulator, tensor cores"

// opConv holds conv1d, conv2d and conv3d.
var opConv [3]*Op

func init() {
	for i := range opConv {
		opConv[i] = define(Op{
			Name: fmt.Sprintf("conv%dd", i+1), Doc: "windows of x times weight, summed over channels, + bias, rounded once", Args: []string{"x", "weight", "bias"},
			Class: Lower, CPUList: Lower, Why: whyConv, CUDA: "conv", Saves: SaveIn0 | SaveIn1,
			Check: checkConv, CPU: floatKernel(convCPU[float32], convCPU[float64]), Backward: convBackward,
		})
	}
}

// floatKernel chooses the arithmetic by the dtype of the first input: halves compute in float32.
func floatKernel(f32, f64 func(c *Call)) func(c *Call) {
	return func(c *Call) {
		if c.In[0].dt == Float64 {
			f64(c)
			return
		}
		f32(c)
	}
}

// convBackward: dx is the transposed convolution of dy, dweight has a row of its own, dbias = Σ dy.
func convBackward(b *Back) {
	dy := Contiguous(b.S, b.DY)
	a := b.Attrs()
	if b.Needs(0) {
		b.Set(0, b.S.apply(opConvTranspose[len(a.Window.Kernel)-1], Attrs{Window: a.Window, Shape: b.Shape(0)}, dy, b.In(1), nil))
	}
	if b.Needs(1) {
		b.Set(1, b.S.apply(opConvWeight, Attrs{Window: a.Window, Shape: b.Shape(1)}, b.In(0), dy))
	}
	b.convBias(dy)
}

// convBias sums dy over all but its channels.
func (b *Back) convBias(dy *Tensor) {
	if !b.Needs(2) {
		return
	}
	dims := []int{0}
	for d := 2; d < len(dy.shape); d++ {
		dims = append(dims, d)
	}
	b.Set(2, Sum(b.S, dy, dims...))
}

// Conv1d convolves x [n in w], or [in w] without a batch, with weight [out in/groups k] and adds bias [out], which may be nil; see
// Conv2d.
func Conv1d(s *Scope, x, weight, bias *Tensor, opts ...WindowOption) *Tensor {
	return conv(s, 1, x, weight, bias, opts)
}

// Conv2d returns y[n,o,i,j] = bias[o] + Σ weight[o,c,p,q]·x[n,c, i·stride + p·dilation - padding, j·stride + q·dilation - padding] for
// x [n in h w], or [in h w] without a batch, weight [out in/groups kh kw] and bias [out] or nil: [n out h' w'] with
// h' = ⌊(h + 2·padding - dilation·(kh-1) - 1) / stride⌋ + 1. What lies outside x counts as zero. Output channels of a group see the
// input channels of that group. Options: Stride, Padding, SamePadding, ValidPadding, Dilation, Groups. In the lower dtype under
// autocast; half inputs are accumulated in float32 and rounded once, bias included. It panics with ErrShape where the shapes do
// not fit, and with ErrArgument for an option out of range.
func Conv2d(s *Scope, x, weight, bias *Tensor, opts ...WindowOption) *Tensor {
	return conv(s, 2, x, weight, bias, opts)
}

// Conv3d convolves x [n in d h w], or [in d h w] without a batch, with weight [out in/groups kd kh kw] and adds bias [out], which may
// be nil; see Conv2d.
func Conv3d(s *Scope, x, weight, bias *Tensor, opts ...WindowOption) *Tensor {
	return conv(s, 3, x, weight, bias, opts)
}

func conv(s *Scope, rank int, x, weight, bias *Tensor, opts []WindowOption) *Tensor {
	o := opConv[rank-1]
	w := newWindow(o.Name, rank, convKernel(o, rank, weight), opts, convOptions)
	if w.same {
		w.padSame()
	}
	return unbatched(s, o, rank, x, func(x *Tensor) *Tensor {
		return s.apply(o, Attrs{Window: &w.Window}, Contiguous(s, x), Contiguous(s, weight), contiguousOrNil(s, bias))
	})
}

// padSame chooses the padding for which a stride of 1 keeps the size.
func (c *windowConfig) padSame() {
	rank := len(c.Kernel)
	c.Padding = make([]int, 2*rank)
	for d, stride := range c.Stride {
		if stride != 1 {
			fail(c.op, ErrArgument, "use a stride of 1, or give the padding as numbers", "same padding with stride %v", c.Stride)
		}
		total := c.extent(d) - 1
		c.Padding[d], c.Padding[rank+d] = total/2, total-total/2
	}
}

func contiguousOrNil(s *Scope, t *Tensor) *Tensor {
	if t == nil {
		return nil
	}
	return Contiguous(s, t)
}

// convKernel returns the window's sides, which are those of the weight.
func convKernel(o *Op, rank int, weight *Tensor) []int {
	if weight == nil {
		panic(o.missing(1))
	}
	weight.live(o.Name)
	if len(weight.shape) != rank+2 {
		fail(o.Name, ErrShape, fmt.Sprintf("weight has %d dimensions: two of channels, %d of space", rank+2, rank), "weight %v", weight.shape)
	}
	return slices.Clone(weight.shape[2:])
}

// unbatched runs f on x with a batch dimension, which goes again if x had none.
func unbatched(s *Scope, o *Op, rank int, x *Tensor, f func(x *Tensor) *Tensor) *Tensor {
	x.live(o.Name)
	if len(x.shape) != rank+1 {
		return f(x)
	}
	y := f(Reshape(s, x, append([]int{1}, x.shape...)...))
	return Reshape(s, y, y.shape[1:]...)
}

func checkConv(c *Call) []int {
	c.floats()
	x, w := c.In[0], c.In[1]
	win := c.Window
	rank := len(win.Kernel)
	if len(x.shape) != rank+2 {
		fail(c.Op.Name, ErrShape, fmt.Sprintf("x has %d dimensions: images, channels, %d of space", rank+2, rank), "%s", c.shapes())
	}
	if w.shape[0]%win.Groups != 0 {
		fail(c.Op.Name, ErrShape, fmt.Sprintf("use groups that divide the %d channels of the result", w.shape[0]), "%s, %d groups", c.shapes(), win.Groups)
	}
	if need := w.shape[1] * win.Groups; x.shape[1] != need {
		fail(c.Op.Name, ErrShape, fmt.Sprintf("give x %d channels, or make a weight for %d", need, x.shape[1]), "%s: x has %d channels, the weight takes %d in each of %d groups",
			c.shapes(), x.shape[1], w.shape[1], win.Groups)
	}
	c.checkConvBias(w.shape[0])
	if c.Shape != nil { // the gradient of a transposed convolution knows it
		return c.Shape
	}
	out := []int{x.shape[0], w.shape[0]}
	for d, size := range x.shape[2:] {
		before, after := win.pads(d)
		room := size + before + after - win.extent(d)
		if room < 0 || win.Kernel[d] == 0 {
			fail(c.Op.Name, ErrShape, "use a smaller kernel or dilation, or more padding", "%s: spatial dimension %d of %d with padding %d and %d is smaller than the window of %d",
				c.shapes(), d, size, before, after, win.extent(d))
		}
		out = append(out, room/win.Stride[d]+1)
	}
	return out
}

func (c *Call) checkConvBias(channels int) {
	if c.In[2] == nil {
		return
	}
	if b := c.In[2]; len(b.shape) != 1 || b.shape[0] != channels {
		fail(c.Op.Name, ErrShape, fmt.Sprintf("bias needs one element for each of the %d channels of the result", channels), "%s: bias has shape %v", c.shapes(), b.shape)
	}
}

// convCPU: for each group, out [channels positions] = weight [channels window] · columns [window positions].
func convCPU[T cpu.Float](c *Call) {
	x, w := c.In[0], c.In[1]
	l := convLattice(c.Window, x, c.Out.shape)
	k := l.channels * len(l.taps)
	m := w.shape[0] / l.groups
	j := convJob[T]{lattice: l, src: x, out: c.Out, bias: convBiasOf[T](c), step: [3]int{1, 1, 1}, outSize: l.grid, m: m}
	j.weights = func(g int) cpu.Matrix[T] { return operand[T](w, w.off+g*m*k, k, 1) }
	j.kernel = kernelLayout{w: w, group: m * k, out: k, in: len(l.taps), place: identity(len(l.taps)), size: len(l.taps)}
	if !j.fast() {
		j.run()
	}
}

// convLattice describes the columns of a convolution of x with a result of the given shape.
func convLattice(win *Window, x *Tensor, out []int) lattice {
	l := lattice{images: x.shape[0], groups: win.Groups, channels: x.shape[1] / win.Groups, size: spatial(x.shape[2:], 1), grid: spatial(out[2:], 1), step: spatial(win.Stride, 1)}
	kernel, dilation, padding := spatial(win.Kernel, 1), spatial(win.Dilation, 1), spatial(win.Padding[:len(win.Kernel)], 0)
	for a := range kernel[0] {
		for b := range kernel[1] {
			for c := range kernel[2] {
				l.taps = append(l.taps, [3]int{a*dilation[0] - padding[0], b*dilation[1] - padding[1], c*dilation[2] - padding[2]})
			}
		}
	}
	return l
}

// spatial writes numbers per dimension as three, outer ones filled up.
func spatial(n []int, fill int) [3]int {
	out := [3]int{fill, fill, fill}
	copy(out[3-len(n):], n)
	return out
}

func convBiasOf[T cpu.Float](c *Call) []T {
	if c.In[2] == nil {
		return nil
	}
	b := make([]T, c.In[2].Len())
	load(b, c.In[2], c.In[2].off, 1)
	for i, v := range b {
		if v == 0 {
			b[i] = 0 // so that a sum that is a negative zero becomes a positive one, as without bias
		}
	}
	return b
}
