package amp

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Transposed convolutions: the gradients of convolutions with respect to their input, and layers of their own.

// opConvTranspose holds conv_transpose1d, 2d and 3d.
var opConvTranspose [3]*Op

func init() {
	for i := range opConvTranspose {
		opConvTranspose[i] = define(Op{
			Name: fmt.Sprintf("conv_transpose%dd", i+1), Doc: "weight times each element of x, added up where windows overlap, + bias, rounded once", Args: []string{"x", "weight", "bias"},
			Class: Lower, CPUList: Lower, Why: whyConv, CUDA: "conv_transpose", Saves: SaveIn0 | SaveIn1,
			Check: checkConvTranspose, CPU: floatKernel(convTransposeCPU[float32], convTransposeCPU[float64]), Backward: convTransposeBackward,
		})
	}
}

// convTransposeBackward: dx is the convolution of dy, dweight that of a convolution which has x for dy, dbias = Σ dy.
func convTransposeBackward(b *Back) {
	dy := Contiguous(b.S, b.DY)
	a := b.Attrs()
	if b.Needs(0) {
		b.Set(0, b.S.apply(opConv[len(a.Window.Kernel)-1], Attrs{Window: a.Window, Shape: b.Shape(0)}, dy, b.In(1), nil))
	}
	if b.Needs(1) {
		b.Set(1, b.S.apply(opConvWeight, Attrs{Window: a.Window, Shape: b.Shape(1)}, dy, b.In(0)))
	}
	b.convBias(dy)
}

// ConvTranspose1d is the transposed convolution of x [n in w], or [in w] without a batch, with weight [in out/groups k] and bias
// [out] or nil; see ConvTranspose2d.
func ConvTranspose1d(s *Scope, x, weight, bias *Tensor, opts ...WindowOption) *Tensor {
	return convTranspose(s, 1, x, weight, bias, opts)
}

// ConvTranspose2d returns y[n,o, i·stride + p·dilation - padding, j·stride + q·dilation - padding] = bias[o] + the sum of all
// weight[c,o,p,q]·x[n,c,i,j] that meet there, for x [n in h w], or [in h w] without a batch, weight [in out/groups kh kw] and bias
// [out] or nil: [n out h' w'] with h' = (h-1)·stride - 2·padding + dilation·(kh-1) + OutputPadding + 1. It is the gradient of Conv2d
// with respect to its input. Options: Stride, Padding, Dilation, Groups, OutputPadding, which must be smaller than the stride or
// the dilation. In the lower dtype under autocast; half inputs are accumulated in float32 and rounded once, bias included. It
// panics with ErrShape where the shapes do not fit, and with ErrArgument for an option out of range.
func ConvTranspose2d(s *Scope, x, weight, bias *Tensor, opts ...WindowOption) *Tensor {
	return convTranspose(s, 2, x, weight, bias, opts)
}

// ConvTranspose3d is the transposed convolution of x [n in d h w], or [in d h w] without a batch, with weight [in out/groups kd kh kw]
// and bias [out] or nil; see ConvTranspose2d.
func ConvTranspose3d(s *Scope, x, weight, bias *Tensor, opts ...WindowOption) *Tensor {
	return convTranspose(s, 3, x, weight, bias, opts)
}

func convTranspose(s *Scope, rank int, x, weight, bias *Tensor, opts []WindowOption) *Tensor {
	o := opConvTranspose[rank-1]
	w := newWindow(o.Name, rank, convKernel(o, rank, weight), opts, convTransposeOptions)
	for d, n := range w.OutputPadding {
		if n >= w.Stride[d] && n >= w.Dilation[d] {
			fail(o.Name, ErrArgument, "use an output padding smaller than the stride or the dilation", "output padding %v, stride %v, dilation %v", w.OutputPadding, w.Stride, w.Dilation)
		}
	}
	return unbatched(s, o, rank, x, func(x *Tensor) *Tensor {
		return s.apply(o, Attrs{Window: &w.Window}, Contiguous(s, x), Contiguous(s, weight), contiguousOrNil(s, bias))
	})
}

func checkConvTranspose(c *Call) []int {
	c.floats()
	x, w := c.In[0], c.In[1]
	win := c.Window
	rank := len(win.Kernel)
	if len(x.shape) != rank+2 {
		fail(c.Op.Name, ErrShape, fmt.Sprintf("x has %d dimensions: images, channels, %d of space", rank+2, rank), "%s", c.shapes())
	}
	if x.shape[1] != w.shape[0] {
		fail(c.Op.Name, ErrShape, fmt.Sprintf("give x %d channels, or make a weight for %d", w.shape[0], x.shape[1]), "%s: x has %d channels, the weight takes %d",
			c.shapes(), x.shape[1], w.shape[0])
	}
	if w.shape[0]%win.Groups != 0 {
		fail(c.Op.Name, ErrShape, fmt.Sprintf("use groups that divide the %d channels of x", w.shape[0]), "%s, %d groups", c.shapes(), win.Groups)
	}
	channels := w.shape[1] * win.Groups
	c.checkConvBias(channels)
	if c.Shape != nil { // the gradient of a convolution knows it
		return c.Shape
	}
	out := []int{x.shape[0], channels}
	for d, size := range x.shape[2:] {
		before, after := win.pads(d)
		n := (size-1)*win.Stride[d] - before - after + win.extent(d) + win.OutputPadding[d]
		if n < 1 || size < 1 || win.Kernel[d] == 0 {
			fail(c.Op.Name, ErrShape, "use less padding", "%s: spatial dimension %d of %d with padding %d and %d would have %d elements", c.shapes(), d, size, before, after, n)
		}
		out = append(out, n)
	}
	return out
}

// convTransposeCPU takes the positions of the result by their remainder of the stride: those of one remainder meet the same taps,
// and x one by one, so that they are a convolution of stride 1 and each element of the result is summed and rounded once.
func convTransposeCPU[T cpu.Float](c *Call) {
	x, w, win := c.In[0], c.In[1], c.Window
	j := convJob[T]{src: x, out: c.Out, bias: convBiasOf[T](c), step: spatial(win.Stride, 1), outSize: spatial(c.Out.shape[2:], 1), m: c.Out.shape[1] / win.Groups}
	kernel, dilation, padding := spatial(win.Kernel, 1), spatial(win.Dilation, 1), spatial(win.Padding[:len(win.Kernel)], 0)
	var phases [3][]tapPhase
	all := true
	for d := range phases {
		phases[d] = phasesOf(padding[d], kernel[d], dilation[d], j.step[d], j.outSize[d])
		all = all && len(phases[d]) == min(j.step[d], j.outSize[d])
	}
	if !all { // positions that no tap reaches
		fillChannels(c.Out, j.bias)
	}
	size := kernel[0] * kernel[1] * kernel[2]
	turned := turnedWeights[T]{w: w}
	defer turned.done()
	for _, p := range phases[0] {
		for _, q := range phases[1] {
			for _, r := range phases[2] {
				j.lattice = lattice{images: x.shape[0], groups: win.Groups, channels: x.shape[1] / win.Groups, size: spatial(x.shape[2:], 1), step: [3]int{1, 1, 1}}
				var place []int // of each tap in the weight
				for _, a := range p.taps {
					for _, b := range q.taps {
						for _, e := range r.taps {
							j.taps = append(j.taps, [3]int{a.off, b.off, e.off})
							place = append(place, (a.index*kernel[1]+b.index)*kernel[2]+e.index)
						}
					}
				}
				j.start = [3]int{p.start, q.start, r.start}
				for d := range 3 {
					j.grid[d] = (j.outSize[d] - j.start[d] + j.step[d] - 1) / j.step[d]
				}
				j.kernel = kernelLayout{w: w, group: j.channels * j.m * size, out: size, in: j.m * size, place: place, size: size}
				if !j.fast() {
					j.weights = turned.sorted(place, j.groups, j.channels, j.m, size)
					j.run()
				}
			}
		}
	}
}

// A tapPhase is a remainder of the stride with the taps that its positions meet.
type tapPhase struct {
	start int
	taps  []tap
}

// A tap is an element of the kernel and the source position, relative to the position's own number, that it meets.
type tap struct{ index, off int }

// phasesOf sorts the elements of the kernel by the remainder at which they meet a result of size elements.
func phasesOf(pad, kernel, dilation, stride, size int) []tapPhase {
	var out []tapPhase
	at := map[int]int{}
	for k := range kernel {
		start := (k*dilation - pad) % stride
		if start < 0 {
			start += stride
		}
		if start >= size {
			continue
		}
		i, ok := at[start]
		if !ok {
			i = len(out)
			at[start] = i
			out = append(out, tapPhase{start: start})
		}
		out[i].taps = append(out[i].taps, tap{k, (start + pad - k*dilation) / stride})
	}
	return out
}

// fillChannels sets every element of t [n c …] to the value of its channel, 0 without values.
func fillChannels[T cpu.Float](t *Tensor, values []T) {
	n, size := length(t.shape[2:]), t.dt.Size()
	cpu.Parallel(t.shape[0]*t.shape[1], grainOf(n), func(lo, hi int) {
		if values == nil {
			clear(t.st.mem[(t.off+lo*n)*size : (t.off+hi*n)*size])
			return
		}
		row := make([]T, min(n, chunk))
		for i := lo; i < hi; i++ {
			fill(row, values[i%t.shape[1]])
			for k := 0; k < n; k += chunk {
				store(t, t.off+i*n+k, row[:min(chunk, n-k)])
			}
		}
	})
}

// turn writes the weights, which lie as [in channels, out channels, kernel], as [out channels, in channels, taps] for each group. Rows
// are taken some at a time, so that what is read lies together.
func turn[T cpu.Float](dst, values []T, place []int, groups, channels, m, size int) {
	const rows = 16
	k := channels * len(place)
	tiles := (m + rows - 1) / rows
	cpu.Parallel(groups*tiles, max(1, grain/4/max(1, rows*k)), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			g, first := t/tiles, t%tiles*rows
			end := min(first+rows, m)
			for c := range channels {
				from := values[(g*channels+c)*m*size:][:m*size]
				for i := first; i < end; i++ {
					to := dst[((g*m+i)*channels+c)*len(place):][:len(place)]
					at := from[i*size : (i+1)*size]
					for x, p := range place {
						to[x] = at[p]
					}
				}
			}
		}
	})
}

// turnedWeights are the weights of a transposed convolution with channels exchanged.
type turnedWeights[T cpu.Float] struct {
	w      *Tensor
	work   *columns[T] // holds them
	values []T
	free   func()
}

// sorted returns the weights of the taps at these places as a matrix for each group.
func (t *turnedWeights[T]) sorted(place []int, groups, channels, m, size int) func(g int) cpu.Matrix[T] {
	if t.work == nil {
		t.values, t.free = weightValues[T](t.w)
		t.work = columnPool[T]().Get().(*columns[T])
	}
	k := channels * len(place)
	t.work.buf = resize(t.work.buf, groups*m*k)
	turn(t.work.buf, t.values, place, groups, channels, m, size)
	return func(g int) cpu.Matrix[T] {
		return cpu.Matrix[T]{Elems: t.work.buf, Off: g * m * k, Row: k, Col: 1, Half: halfFormat(t.w)}
	}
}

// done gives the memory back.
func (t *turnedWeights[T]) done() {
	if t.work != nil {
		t.free()
		columnPool[T]().Put(t.work)
	}
}

// weightValues returns the elements of a contiguous tensor as T: in place where they are, else from a pooled copy, which done returns.
func weightValues[T cpu.Float](t *Tensor) (values []T, done func()) {
	if v, ok := direct[T](t, t.off, 1, t.Len()); ok {
		return v, func() {}
	}
	pool := columnPool[T]()
	c := pool.Get().(*columns[T])
	c.buf = resize(c.buf, t.Len())
	load(c.buf, t, t.off, 1)
	return c.buf, func() { pool.Put(c) }
}
