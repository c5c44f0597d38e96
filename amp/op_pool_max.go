package amp

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Max pools. Backward finds again where the maxima lie, so that no indices are kept.

var (
	opMaxPool, opAdaptiveMaxPool               [3]*Op
	opPoolIndices, opPoolValues, opPoolScatter *Op
)

func init() {
	row := Op{
		Doc: "largest element of each window; NaN counts as largest", Args: []string{"x"}, Why: whyPool, CUDA: "max_pool", Saves: SaveIn0,
		Check: checkPool, CPU: floatKernel(maxPoolLines, maxPoolCPU[float64]),
		Backward: func(b *Back) {
			index := b.S.apply(opPoolIndices, b.Attrs(), b.In(0))
			b.Set(0, b.S.apply(opPoolScatter, Attrs{Shape: b.Shape(0)}, Contiguous(b.S, b.DY), index))
		},
	}
	opMaxPool = ranked("max_pool%dd", row)
	opMaxPool[2].CPUList = FP32
	row.Doc = "largest element of each window, whose size follows from that of the result; NaN counts as largest"
	opAdaptiveMaxPool = ranked("adaptive_max_pool%dd", row)
	opAdaptiveMaxPool[2].CPUList = FP32
	opPoolIndices = define(Op{
		Name: "max_pool_indices", Doc: "place of the largest element of each window within its plane, -1 for a window of padding alone", Args: []string{"x"}, Why: whyChoose, CUDA: "max_pool_indices",
		Check: checkPool, Result: func(*Call) DType { return Int64 }, CPU: floatKernel(poolIndicesCPU[float32], poolIndicesCPU[float64]),
	})
	opPoolValues = define(Op{
		Name: "max_pool_values", Doc: "elements of each plane at given places, 0 for place -1", Args: []string{"x", "index"}, Why: whyChoose, CUDA: "max_pool_values", Saves: SaveIn1,
		Check: func(c *Call) []int { return c.In[1].shape }, CPU: floatKernel(poolValuesCPU[float32], poolValuesCPU[float64]),
		Backward: func(b *Back) {
			b.Set(0, b.S.apply(opPoolScatter, Attrs{Shape: b.Shape(0)}, Contiguous(b.S, b.DY), b.In(1)))
		},
	})
	opPoolScatter = define(Op{
		Name: "max_pool_backward", Doc: "dy added up at the places of the maxima in each plane, but for place -1", Args: []string{"dy", "index"}, Why: "runs in the dtype its forward ran in", CUDA: "max_pool_backward", Saves: SaveIn1,
		Check: func(c *Call) []int { return c.Shape }, CPU: floatKernel(poolScatterCPU[float32], poolScatterCPU[float64]),
		Backward: func(b *Back) { b.Set(0, b.S.apply(opPoolValues, Attrs{}, Contiguous(b.S, b.DY), b.In(1))) },
	})
}

// MaxPool1d is the largest element of windows of kernel elements, for x [n c w] or [c w]; see MaxPool2d.
func MaxPool1d(s *Scope, x *Tensor, kernel int, opts ...WindowOption) *Tensor {
	return maxPool(s, 1, x, kernel, opts)
}

// MaxPool2d returns the largest element of each window of kernel × kernel elements, for x [n c h w], or [c h w] without a batch. NaN
// counts as largest; padding counts as -∞. Options: Kernel, Stride (the kernel's size unless given), Padding (at most half a window),
// Dilation, CeilMode. Sizes are those of Conv2d. In the dtype of x. It panics with ErrShape where a window does not fit, and with
// ErrArgument for an option out of range.
func MaxPool2d(s *Scope, x *Tensor, kernel int, opts ...WindowOption) *Tensor {
	return maxPool(s, 2, x, kernel, opts)
}

// MaxPool3d is the largest element of windows of kernel × kernel × kernel elements, for x [n c d h w] or [c d h w]; see MaxPool2d.
func MaxPool3d(s *Scope, x *Tensor, kernel int, opts ...WindowOption) *Tensor {
	return maxPool(s, 3, x, kernel, opts)
}

func maxPool(s *Scope, rank int, x *Tensor, kernel int, opts []WindowOption) *Tensor {
	o := opMaxPool[rank-1]
	w := poolWindow(o.Name, rank, kernel, opts, maxPoolOptions)
	return unbatched(s, o, rank, x, func(x *Tensor) *Tensor {
		return s.apply(o, Attrs{Window: &w.Window}, Contiguous(s, x))
	})
}

// MaxPool1dIndices is MaxPool1d that also returns where the maxima lie; see MaxPool2dIndices.
func MaxPool1dIndices(s *Scope, x *Tensor, kernel int, opts ...WindowOption) (values, indices *Tensor) {
	return maxPoolIndices(s, 1, x, kernel, opts)
}

// MaxPool2dIndices is MaxPool2d that also returns where the maxima lie, as int64: h·width + w within each plane of x, of several the first,
// and -1 for a window of padding alone. MaxUnpool2d puts them back there.
func MaxPool2dIndices(s *Scope, x *Tensor, kernel int, opts ...WindowOption) (values, indices *Tensor) {
	return maxPoolIndices(s, 2, x, kernel, opts)
}

// MaxPool3dIndices is MaxPool3d that also returns where the maxima lie: (d·height + h)·width + w; see MaxPool2dIndices.
func MaxPool3dIndices(s *Scope, x *Tensor, kernel int, opts ...WindowOption) (values, indices *Tensor) {
	return maxPoolIndices(s, 3, x, kernel, opts)
}

func maxPoolIndices(s *Scope, rank int, x *Tensor, kernel int, opts []WindowOption) (values, indices *Tensor) {
	w := poolWindow(opMaxPool[rank-1].Name, rank, kernel, opts, maxPoolOptions)
	return withIndices(s, opMaxPool[rank-1], Attrs{Window: &w.Window}, x, rank)
}

// withIndices returns what a max pool makes of x, and where.
func withIndices(s *Scope, o *Op, a Attrs, x *Tensor, rank int) (values, indices *Tensor) {
	values = unbatched(s, o, rank, x, func(x *Tensor) *Tensor {
		x = Contiguous(s, x)
		indices = s.apply(opPoolIndices, a, x)
		return s.apply(o, a, x)
	})
	return values, Reshape(s, indices, values.shape...)
}

// AdaptiveMaxPool1d is the largest element of as many windows as size says, for x [n c w] or [c w]; see AdaptiveMaxPool2d.
func AdaptiveMaxPool1d(s *Scope, x *Tensor, size int) *Tensor {
	return adaptivePool(s, opAdaptiveMaxPool[0], 1, x, []int{size})
}

// AdaptiveMaxPool2d returns [n c size…] of x [n c h w], or without n: the largest element of each of size windows per dimension, one
// number for both or two. Window i of n spans elements ⌊i·h/n⌋ … ⌈(i+1)·h/n⌉-1. In the dtype of x.
func AdaptiveMaxPool2d(s *Scope, x *Tensor, size ...int) *Tensor {
	return adaptivePool(s, opAdaptiveMaxPool[1], 2, x, size)
}

// AdaptiveMaxPool3d is AdaptiveMaxPool2d for x [n c d h w] or [c d h w].
func AdaptiveMaxPool3d(s *Scope, x *Tensor, size ...int) *Tensor {
	return adaptivePool(s, opAdaptiveMaxPool[2], 3, x, size)
}

// AdaptiveMaxPool1dIndices is AdaptiveMaxPool1d that also returns where the maxima lie; see MaxPool2dIndices.
func AdaptiveMaxPool1dIndices(s *Scope, x *Tensor, size int) (values, indices *Tensor) {
	return adaptiveIndices(s, 1, x, []int{size})
}

// AdaptiveMaxPool2dIndices is AdaptiveMaxPool2d that also returns where the maxima lie; see MaxPool2dIndices.
func AdaptiveMaxPool2dIndices(s *Scope, x *Tensor, size ...int) (values, indices *Tensor) {
	return adaptiveIndices(s, 2, x, size)
}

// AdaptiveMaxPool3dIndices is AdaptiveMaxPool3d that also returns where the maxima lie; see MaxPool3dIndices.
func AdaptiveMaxPool3dIndices(s *Scope, x *Tensor, size ...int) (values, indices *Tensor) {
	return adaptiveIndices(s, 3, x, size)
}

func adaptiveIndices(s *Scope, rank int, x *Tensor, size []int) (values, indices *Tensor) {
	o := opAdaptiveMaxPool[rank-1]
	return withIndices(s, o, Attrs{Shape: adaptiveShape(o.Name, rank, size)}, x, rank)
}

func adaptivePool(s *Scope, o *Op, rank int, x *Tensor, size []int) *Tensor {
	shape := adaptiveShape(o.Name, rank, size)
	return unbatched(s, o, rank, x, func(x *Tensor) *Tensor {
		return s.apply(o, Attrs{Shape: shape}, Contiguous(s, x))
	})
}

// maxima sets at to the place of the largest element of each window: of several the first, of several NaN the last, as PyTorch's.
func maxima[T cpu.Float](g *poolGrid, x []T, at []int64, room *[]int64) {
	if short, ok := any(x).([]float32); ok && len(x) <= math.MaxInt32 && g.close() {
		maxima32(g, short, at, room)
		return
	}
	i := 0
	for _, a := range g.span[0] {
		for _, b := range g.span[1] {
			for _, c := range g.span[2] {
				best, most := -1, T(math.Inf(-1))
				for p := a.lo; p < a.hi; p += a.step {
					for q := b.lo; q < b.hi; q += b.step {
						row := (p*g.size[1] + q) * g.size[2]
						for r := row + c.lo; r < row+c.hi; r += c.step {
							if v := x[r]; v > most || v != v || best < 0 {
								best, most = r, v
							}
						}
					}
				}
				at[i] = int64(best)
				i++
			}
		}
	}
}

// maxima32 is maxima without branches that would be as good as random: an element and its place are one number, whose largest is what is sought. The
// largest of the rows of a window at each place come first, by vectors, then of those the windows'.
func maxima32(g *poolGrid, x []float32, at []int64, room *[]int64) {
	width := g.size[2]
	*room = resize(*room, 2*width)
	for _, a := range g.span[0] {
		for _, b := range g.span[1] {
			keys := (*room)[:0]
			for p := a.lo; p < a.hi && b.lo < b.hi; p += a.step {
				some, first := (*room)[len(keys):][:width], (p*g.size[1]+b.lo)*width
				cpu.PlacedMaxima(b.elements(), width, x[first:], b.step*width, first, some)
				for i, v := range some[:len(keys)] {
					keys[i] = max(keys[i], v)
				}
				keys = (*room)[:width]
			}
			for k, c := range g.span[2] {
				most := int64(math.MinInt64)
				for r := c.lo; r < min(c.hi, len(keys)); r += c.step {
					most = max(most, keys[r])
				}
				at[k] = cpu.PlaceOfKey(most)
			}
			at = at[len(g.span[2]):]
		}
	}
}

// close says whether the windows read an element once or more on average, so that it pays to look at rows as a whole.
func (g *poolGrid) close() bool {
	reads := 1
	for d := range g.span {
		sum := 0
		for _, p := range g.span[d] {
			sum += p.elements()
		}
		reads *= sum
	}
	return reads >= g.inputs()
}

func poolOf(c *Call) (g *poolGrid, n, in, out int) {
	x := c.In[0]
	g = newPoolGrid(c.Window, x.shape[2:], c.Out.shape[2:])
	return g, x.shape[0] * x.shape[1], g.inputs(), g.outputs()
}

// maxPoolCPU needs no places: the built-in max knows NaN, and does without a branch that would be as good as random.
func maxPoolCPU[T cpu.Float](c *Call) {
	g, n, in, out := poolOf(c)
	eachPlane(n, in+4*out, func(p *planes[T], i int) {
		x := plane(&p.in, c.In[0], c.In[0].off+i*in, in)
		dst := p.target(c.Out, i, out)
		k := 0
		for _, a := range g.span[0] {
			for _, b := range g.span[1] {
				for _, e := range g.span[2] {
					dst[k] = largestIn(g, x, a, b, e)
					k++
				}
			}
		}
		p.finish(c.Out, i, dst)
	})
}

// maxPoolLines is maxPoolCPU where windows share elements and rows are long: first the largest of the rows of a window at each place, by
// vectors, then of those the windows'.
func maxPoolLines(c *Call) {
	g, n, in, out := poolOf(c)
	width := g.size[2]
	if width < shortLine || !g.close() || !slices.ContainsFunc(g.span[1], func(b span) bool { return b.elements() > 1 }) {
		maxPoolCPU[float32](c)
		return
	}
	eachPlane(n, in+4*out, func(p *planes[float32], i int) {
		x := plane(&p.in, c.In[0], c.In[0].off+i*in, in)
		dst := p.target(c.Out, i, out)
		rest := dst
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for _, a := range g.span[0] {
			for _, b := range g.span[1] {
				row := w.largestRow(g, x, a, b)
				for k, e := range g.span[2] {
					most := float32(math.Inf(-1))
					if row != nil {
						for r := e.lo; r < e.hi; r += e.step {
							most = max(most, row[r])
						}
					}
					rest[k] = most
				}
				rest = rest[len(g.span[2]):]
			}
		}
		p.finish(c.Out, i, dst)
	})
}

// largestRow is the largest of the rows of a plane that two spans name, place by place; nil of none.
func (w *lineWork) largestRow(g *poolGrid, x []float32, a, b span) (most []float32) {
	width := g.size[2]
	room := w.buffer(3, width)
	for p := a.lo; p < a.hi; p += a.step {
		for q := b.lo; q < b.hi; q += b.step {
			row := x[(p*g.size[1]+q)*width:][:width]
			if most == nil {
				most = row
				continue
			}
			w.F32[0], w.F32[1], w.F32[2] = most, row, room
			cpu.LineMaximum.Run(width, &w.Line)
			most = w.F32[2]
		}
	}
	return most
}

// largestIn is the largest element of a window, -∞ of one that sees no element.
func largestIn[T cpu.Float](g *poolGrid, x []T, a, b, c span) T {
	most := T(math.Inf(-1))
	for p := a.lo; p < a.hi; p += a.step {
		for q := b.lo; q < b.hi; q += b.step {
			row := (p*g.size[1] + q) * g.size[2]
			for r := row + c.lo; r < row+c.hi; r += c.step {
				most = max(most, x[r])
			}
		}
	}
	return most
}

func poolIndicesCPU[T cpu.Float](c *Call) {
	g, n, in, out := poolOf(c)
	index := elements[int64](c.Out)[c.Out.off:]
	eachPlane(n, in+4*out, func(p *planes[T], i int) {
		maxima(g, plane(&p.in, c.In[0], c.In[0].off+i*in, in), index[i*out:(i+1)*out], &p.keys)
	})
}

// planeSizes are the number of planes of two tensors of shape [n c …] and their elements per plane.
func planeSizes(a, b *Tensor) (n, inA, inB int) {
	n = a.shape[0] * a.shape[1]
	return n, length(a.shape[2:]), length(b.shape[2:])
}

func poolValuesCPU[T cpu.Float](c *Call) {
	x, index := c.In[0], elements[int64](c.In[1])[c.In[1].off:]
	n, in, out := planeSizes(x, c.Out)
	eachPlane(n, 4*out, func(p *planes[T], i int) {
		src := plane(&p.in, x, x.off+i*in, in)
		p.out = resize(p.out, out)
		for k, j := range index[i*out : (i+1)*out] {
			p.out[k] = 0 // of a gradient: no element to take it from
			if j >= 0 {
				p.out[k] = src[j]
			}
		}
		store(c.Out, c.Out.off+i*out, p.out)
	})
}

func poolScatterCPU[T cpu.Float](c *Call) {
	dy, index := c.In[0], elements[int64](c.In[1])[c.In[1].off:]
	n, out, in := planeSizes(dy, c.Out)
	eachPlane(n, in+2*out, func(p *planes[T], i int) {
		dst := p.target(c.Out, i, in)
		clear(dst)
		src := plane(&p.in, dy, dy.off+i*out, out)
		for k, j := range index[i*out : (i+1)*out] {
			if j >= 0 {
				dst[j] += src[k]
			}
		}
		p.finish(c.Out, i, dst)
	})
}
