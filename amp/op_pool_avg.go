package amp

import (
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Average pools, linear in x: the gradient of the gradient is the pool again.

var (
	opAvgPool, opAdaptiveAvgPool [3]*Op
	opAvgPoolBackward            *Op
)

func init() {
	row := Op{
		Doc: "mean of each window", Args: []string{"x"}, Why: whyPool, CUDA: "avg_pool",
		Check: checkPool, CPU: floatKernel(avgPoolCPU[float32], avgPoolCPU[float64]),
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Dims = b.Shape(0)
			b.Set(0, b.S.apply(opAvgPoolBackward, a, Contiguous(b.S, b.DY)))
		},
	}
	opAvgPool = ranked("avg_pool%dd", row)
	opAvgPool[2].CPUList = FP32
	row.Doc = "mean of each window, whose size follows from that of the result"
	opAdaptiveAvgPool = ranked("adaptive_avg_pool%dd", row)
	opAdaptiveAvgPool[2].CPUList = FP32
	opAvgPoolBackward = define(Op{
		Name: "avg_pool_backward", Doc: "dy spread evenly over each window", Args: []string{"dy"}, Why: "runs in the dtype its forward ran in", CUDA: "avg_pool_backward",
		Check: func(c *Call) []int { return c.Dims },
		CPU:   floatKernel(avgPoolBackwardCPU[float32], avgPoolBackwardCPU[float64]),
		Backward: func(b *Back) {
			a := b.Attrs()
			rows := &opAvgPool
			if a.Window == nil {
				rows = &opAdaptiveAvgPool
			}
			o := rows[len(a.Dims)-3]
			a.Dims = nil
			b.Set(0, b.S.apply(o, a, Contiguous(b.S, b.DY)))
		},
	})
}

// AvgPool1d is the mean of windows of kernel elements, for x [n c w] or [c w]; see AvgPool2d.
func AvgPool1d(s *Scope, x *Tensor, kernel int, opts ...WindowOption) *Tensor {
	return avgPool(s, 1, x, kernel, opts)
}

// AvgPool2d returns the mean of each window of kernel × kernel elements, for x [n c h w], or [c h w] without a batch. Padding is zeros
// and counts as elements unless ExcludePadding. Options: Kernel, Stride (the kernel's size unless given), Padding (at most half a
// window), CeilMode, ExcludePadding, Divisor. In the dtype of x; halves are added up in float32 and rounded once. It panics with
// ErrShape where a window does not fit, and with ErrArgument for an option out of range.
func AvgPool2d(s *Scope, x *Tensor, kernel int, opts ...WindowOption) *Tensor {
	return avgPool(s, 2, x, kernel, opts)
}

// AvgPool3d is the mean of windows of kernel × kernel × kernel elements, for x [n c d h w] or [c d h w]; see AvgPool2d.
func AvgPool3d(s *Scope, x *Tensor, kernel int, opts ...WindowOption) *Tensor {
	return avgPool(s, 3, x, kernel, opts)
}

func avgPool(s *Scope, rank int, x *Tensor, kernel int, opts []WindowOption) *Tensor {
	o := opAvgPool[rank-1]
	w := poolWindow(o.Name, rank, kernel, opts, avgPoolOptions)
	if w.set["Divisor"] && w.divisor == 0 {
		fail(o.Name, ErrArgument, "use another divisor than 0", "divisor 0")
	}
	return unbatched(s, o, rank, x, func(x *Tensor) *Tensor {
		return s.apply(o, Attrs{Window: &w.Window, Scalar: float64(w.divisor)}, Contiguous(s, x))
	})
}

// AdaptiveAvgPool1d is the mean of as many windows as size says, for x [n c w] or [c w]; see AdaptiveAvgPool2d.
func AdaptiveAvgPool1d(s *Scope, x *Tensor, size int) *Tensor {
	return adaptivePool(s, opAdaptiveAvgPool[0], 1, x, []int{size})
}

// AdaptiveAvgPool2d returns [n c size…] of x [n c h w], or without n: the mean of each of size windows per dimension, one number for
// both or two. Window i of n spans elements ⌊i·h/n⌋ … ⌈(i+1)·h/n⌉-1. In the dtype of x; halves are added up in float32 and
// rounded once.
func AdaptiveAvgPool2d(s *Scope, x *Tensor, size ...int) *Tensor {
	return adaptivePool(s, opAdaptiveAvgPool[1], 2, x, size)
}

// AdaptiveAvgPool3d is AdaptiveAvgPool2d for x [n c d h w] or [c d h w].
func AdaptiveAvgPool3d(s *Scope, x *Tensor, size ...int) *Tensor {
	return adaptivePool(s, opAdaptiveAvgPool[2], 3, x, size)
}

// divisors holds what the windows of a plane divide by; 0 for a window of padding alone, whose mean is 0.
func (g *poolGrid) divisors(c *Call) []float64 {
	out := make([]float64, 0, g.outputs())
	for _, p := range g.span[0] {
		for _, q := range g.span[1] {
			for _, r := range g.span[2] {
				n := p.elements() * q.elements() * r.elements()
				switch {
				case n == 0:
				case c.Scalar != 0:
					n = int(c.Scalar)
				case c.Window != nil && c.Window.CountPadding:
					n = p.size * q.size * r.size
				}
				out = append(out, float64(n))
			}
		}
	}
	return out
}

// whole says whether there is one window, which is the plane.
func (g *poolGrid) whole() bool {
	for d, list := range g.span {
		if len(list) != 1 || list[0].lo != 0 || list[0].hi != g.size[d] || list[0].step != 1 {
			return false
		}
	}
	return true
}

// divisorsOf is divisors in T.
func divisorsOf[T cpu.Float](g *poolGrid, c *Call) []T {
	wide := g.divisors(c)
	by := make([]T, len(wide))
	for i, n := range wide {
		by[i] = T(n)
	}
	return by
}

func avgPoolCPU[T cpu.Float](c *Call) {
	g, n, in, out := poolOf(c)
	whole := g.whole()
	by := divisorsOf[T](g, c)
	if whole && by[0] != 0 && wholePlanes(c, n, in, float64(by[0])) {
		return
	}
	eachPlane(n, in+out, func(p *planes[T], i int) {
		x := plane(&p.in, c.In[0], c.In[0].off+i*in, in)
		dst := p.target(c.Out, i, out)
		if short, ok := any(x).([]float32); ok && whole && by[0] != 0 {
			w := lineWorks.Get().(*lineWork)
			dst[0] = T(w.SumOf(short) / float64(by[0]))
			w.release()
			p.finish(c.Out, i, dst)
			return
		}
		k := 0
		for _, a := range g.span[0] {
			for _, b := range g.span[1] {
				for _, e := range g.span[2] {
					var sum T
					for z := a.lo; z < a.hi; z++ {
						for y := b.lo; y < b.hi; y++ {
							at := (z*g.size[1]+y)*g.size[2] + e.lo
							switch e.hi - e.lo { // the commonest without a loop
							case 2:
								sum = sum + x[at] + x[at+1]
							case 3:
								sum = sum + x[at] + x[at+1] + x[at+2]
							default:
								for _, v := range x[at : at+max(0, e.hi-e.lo)] {
									sum += v
								}
							}
						}
					}
					if by[k] != 0 {
						sum /= by[k]
					}
					dst[k] = sum
					k++
				}
			}
		}
		p.finish(c.Out, i, dst)
	})
}

// wholePlanes is avgPoolCPU in float32 where there is one window, which is the plane: sums of rows. It says whether it has done it.
func wholePlanes(c *Call, n, in int, by float64) bool {
	if !elementsAre[float32](c.In[0]) || !elementsAre[float32](c.Out) || in == 0 {
		return false
	}
	x, out := elements[float32](c.In[0])[c.In[0].off:], elements[float32](c.Out)[c.Out.off:]
	room, sums := cleared(n)
	defer rowPool.Put(room)
	cpu.Parallel(n, grainOf(in), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		own := sums[lo:hi]
		w.SumRows(own, x[lo*in:], in, in)
		for i, v := range own {
			out[lo+i] = float32(v / by)
		}
	})
	return true
}

func avgPoolBackwardCPU[T cpu.Float](c *Call) {
	dy := c.In[0]
	g := newPoolGrid(c.Window, c.Dims[2:], dy.shape[2:])
	n, out, in := planeSizes(dy, c.Out)
	by, whole := divisorsOf[T](g, c), g.whole()
	eachPlane(n, in+out, func(p *planes[T], i int) {
		dst := p.target(c.Out, i, in)
		if whole && by[0] != 0 {
			fill(dst, plane(&p.in, dy, dy.off+i*out, out)[0]/by[0])
			p.finish(c.Out, i, dst)
			return
		}
		clear(dst)
		src := plane(&p.in, dy, dy.off+i*out, out)
		k := 0
		for _, a := range g.span[0] {
			for _, b := range g.span[1] {
				for _, e := range g.span[2] {
					if by[k] != 0 {
						spreadWindow(g, dst, src[k]/by[k], a, b, e)
					}
					k++
				}
			}
		}
		p.finish(c.Out, i, dst)
	})
}

// spreadWindow adds v to the elements of a window.
func spreadWindow[T cpu.Float](g *poolGrid, dst []T, v T, a, b, c span) {
	for z := a.lo; z < a.hi; z++ {
		for y := b.lo; y < b.hi; y++ {
			at := (z*g.size[1]+y)*g.size[2] + c.lo
			switch c.hi - c.lo {
			case 2:
				dst[at] += v
				dst[at+1] += v
			case 3:
				dst[at] += v
				dst[at+1] += v
				dst[at+2] += v
			default:
				line := dst[at : at+max(0, c.hi-c.lo)]
				for x := range line {
					line[x] += v
				}
			}
		}
	}
}
