package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// amax and amin, whose gradients are shared by equals; cummax and cummin; any and all.

var opAmax, opAmin, opCummaxIndex, opCumminIndex, opCummax, opCummin, opAny, opAll *Op

func init() {
	opAmax = extremes("amax", "largest element over dimensions; NaN if there is one", math.Inf(-1), func(a, b float64) bool { return a > b })
	opAmin = extremes("amin", "smallest element over dimensions; NaN if there is one", math.Inf(1), func(a, b float64) bool { return a < b })
	same := func(c *Call) int { return c.In[0].shape[c.Dims[0]] }
	opCummaxIndex = indexRow("cummax_index", "index of the largest element so far along a dimension, the last of several; a NaN stays", same,
		func(*Call) lineKernels {
			return lineKernels{sofar(func(a, b float32) bool { return a >= b }), sofar(func(a, b float64) bool { return a >= b }), sofar(func(a, b int64) bool { return a >= b })}
		})
	opCumminIndex = indexRow("cummin_index", "index of the smallest element so far along a dimension, the last of several; a NaN stays", same,
		func(*Call) lineKernels {
			return lineKernels{sofar(func(a, b float32) bool { return a <= b }), sofar(func(a, b float64) bool { return a <= b }), sofar(func(a, b int64) bool { return a <= b })}
		})
	opCummax = define(Op{
		Name: "cummax", Doc: "largest element so far along a dimension, with its index", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "cummax", Line: LikeFirst,
		Composite: []string{"cummax_index", "gather"},
	})
	opCummin = define(Op{
		Name: "cummin", Doc: "smallest element so far along a dimension, with its index", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "cummin", Line: LikeFirst,
		Composite: []string{"cummin_index", "gather"},
	})
	opAny = truth("any", "whether an element over dimensions is not 0, as bool", true)
	opAll = truth("all", "whether no element over dimensions is 0, as bool", false)
}

// extremesOfLines is the kernel where the numbers to choose from are neighbors; it says whether they are.
func extremesOfLines(c *Call, largest bool) bool {
	x, out := c.In[0], c.Out
	r := newReduction(x, c.Dims)
	if extremesOfColumns(c, r, largest) {
		return true
	}
	if len(r.reduced) != 1 || r.reducedStride[0] != 1 || !largest {
		return false
	}
	cpu.Parallel(r.nKept, grainOf(r.nReduced), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for i := lo; i < hi; i++ {
			row := w.read(0, x, x.off+offset(i, r.kept, r.keptStride), 1, r.nReduced)
			w.F32[0], w.Acc[1] = row, cpu.Lanes{}
			w.Acc[0].Fill(math.Inf(-1))
			cpu.LineMaxNaN.Run(len(row), &w.Line)
			best := w.Acc[0].Max()
			if w.Acc[1].Sum() > 0 {
				best = math.NaN()
			}
			store(out, out.off+i, []float64{best})
		}
	})
	return true
}

// extremesOfColumns is the kernel where neighbors are in one row of a matrix, whose rows are compared.
func extremesOfColumns(c *Call, r reduction, largest bool) bool {
	x, out := c.In[0], c.Out
	if len(r.kept) != 1 || r.keptStride[0] != 1 || r.nKept < shortLine || len(r.reduced) != 1 {
		return false
	}
	kernel, rows, worst := &cpu.LineMaximum, (*cpu.Line).MaximumRows, float32(math.Inf(-1))
	if !largest {
		kernel, rows, worst = &cpu.LineMinimum, (*cpu.Line).MinimumRows, -worst
	}
	block := min(max(columnBlock, r.nKept/4), 8*columnBlock) // neighbors that are read together, and enough to share out
	cpu.Parallel(r.nKept, block, func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		best := w.buffer(1, hi-lo)
		fill(best, worst)
		if x.dt == Float32 && r.reducedStride[0] > 0 {
			rows(&w.Line, best, elements[float32](x)[x.off+lo:], r.nReduced, r.reducedStride[0])
			store(out, out.off+lo, best)
			return
		}
		for i := range r.nReduced {
			w.F32[0], w.F32[1], w.F32[2] = best, w.read(0, x, x.off+lo+i*r.reducedStride[0], 1, hi-lo), best
			kernel.Run(hi-lo, &w.Line)
		}
		store(out, out.off+lo, best)
	})
	return true
}

// extremes defines amax or amin.
func extremes(name, doc string, worst float64, beats func(a, b float64) bool) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: whyChoose, CUDA: name, Wide: true, Saves: SaveIn0 | SaveOut,
		Check: func(c *Call) []int {
			c.floats()
			for _, d := range c.Dims {
				if c.In[0].shape[d] == 0 {
					fail(name, ErrShape, "use dimensions with elements", "dimension %d of shape %v is empty", d, c.In[0].shape)
				}
			}
			return reducedShape(c)
		},
		CPU: func(c *Call) {
			if narrowLines(c.In[0]) && extremesOfLines(c, worst < 0) {
				return
			}
			eachGroup(c.In[0], c.Dims, func(i int, group []float64) {
				best := [1]float64{worst}
				for _, v := range group {
					if beats(v, best[0]) || v != v {
						best[0] = v
					}
				}
				store(c.Out, c.Out.off+i, best[:])
			})
		},
		Backward: func(b *Back) { // shared by the elements that are equal to it
			mask := To(b.S, Eq(b.S, b.In(0), b.repeat(b.Out())), b.DType(0))
			share := Div(b.S, b.repeat(b.DY), SumKeep(b.S, mask, b.Attrs().Dims...))
			b.Set(0, Mul(b.S, mask, share))
		},
	})
}

func sofar[T number](beats func(a, b T) bool) func(out []int64, x []T, _, _ []uint64) {
	return func(out []int64, x []T, _, _ []uint64) {
		best := 0
		for i, v := range x {
			if w := x[best]; v != v || w == w && beats(v, w) {
				best = i
			}
			out[i] = int64(best)
		}
	}
}

// truth defines any, which looks for a truth, or all, which looks for a falsehood.
func truth(name, doc string, looks bool) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: "asks for zeros, which every dtype holds", Ints: true, CUDA: name,
		Check: reducedShape, Result: func(*Call) DType { return Bool },
		CPU: func(c *Call) {
			out := elements[bool](c.Out)[c.Out.off:]
			eachGroup(c.In[0], c.Dims, func(i int, group []float64) {
				out[i] = !looks
				for _, v := range group {
					if (v != 0) == looks {
						out[i] = looks
						return
					}
				}
			})
		},
	})
}

// Amax returns the largest elements over dims, over all dimensions without any; reduced dimensions go. NaN if there is one. Equal
// elements share the gradient, where Max gives it to the first. Integers and bools go by ArgMax and Gather.
func Amax(s *Scope, x *Tensor, dims ...int) *Tensor { return extremeOver(s, opAmax, ArgMax, x, dims) }

// Amin returns the smallest elements over dims; see Amax.
func Amin(s *Scope, x *Tensor, dims ...int) *Tensor { return extremeOver(s, opAmin, ArgMin, x, dims) }

// Aminmax returns Amin and Amax.
func Aminmax(s *Scope, x *Tensor, dims ...int) (low, high *Tensor) {
	return Amin(s, x, dims...), Amax(s, x, dims...)
}

// Cummax returns the largest elements so far along dim and their indices, the last of several. A NaN stays from where it stands on.
func Cummax(s *Scope, x *Tensor, dim int) (values, indices *Tensor) {
	return s.cumulative(opCummax, opCummaxIndex, x, dim)
}

// Cummin returns the smallest elements so far along dim and their indices; see Cummax.
func Cummin(s *Scope, x *Tensor, dim int) (values, indices *Tensor) {
	return s.cumulative(opCummin, opCumminIndex, x, dim)
}

func (s *Scope) cumulative(o, index *Op, x *Tensor, dim int) (values, indices *Tensor) {
	s, in := s.enter(o, x)
	x = in[0]
	indices = s.apply(index, Attrs{Dims: []int{o.axis(x, dim)}}, x)
	return Gather(s, x, dim, indices), indices
}

// Any says, as bool, whether an element over dims is not 0, over all dimensions without any; reduced dimensions go. NaN is not 0.
func Any(s *Scope, x *Tensor, dims ...int) *Tensor {
	x.live("any")
	return s.apply(opAny, Attrs{Dims: reducedAxes("any", x, dims)}, x)
}

// All says, as bool, whether no element over dims is 0; see Any.
func All(s *Scope, x *Tensor, dims ...int) *Tensor {
	x.live("all")
	return s.apply(opAll, Attrs{Dims: reducedAxes("all", x, dims)}, x)
}
