package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// prod and cumprod. Their gradients are written without dividing by x, so that they hold at zeros, one or several, to any order:
// what a product lacks of x[i] is the product of what is before it and of what is behind it, and the gradient of cumprod is a
// linear recurrence, which is a row of its own.

var opProd, opCumprod, opRecurrence *Op

const whyProd = "a product of many half numbers leaves the half range"

func init() {
	opProd = define(Op{
		Name: "prod", Doc: "product along a dimension, accumulated in float64", Args: []string{"x"}, Class: FP32Output, CPUList: FP32, Why: whyProd, Ints: true, CUDA: "prod", Wide: true, Saves: SaveIn0,
		Check: reducedShape, Result: sumResult, CPU: prodCPU, Backward: prodBackward,
	})
	opCumprod = define(Op{
		Name: "cumprod", Doc: "products of the elements so far along a dimension", Args: []string{"x"}, Class: FP32Output, Why: whyProd, Ints: true, CUDA: "cumprod", Line: LikeFirst, Wide: true, Saves: SaveIn0 | SaveOut,
		Check: func(c *Call) []int { return c.In[0].shape }, Result: sumResult,
		CPU: func(c *Call) {
			if c.Out.dt.IsFloat() {
				cumprods[float64]().run(c)
				return
			}
			cumprods[int64]().run(c)
		},
		Backward: func(b *Back) { // dx[i] = y[i-1] · Σ over k ≥ i of dy[k]·x[i+1]·…·x[k]
			d := b.Attrs().Dims[0]
			x := To(b.S, b.In(0), b.DY.dt)
			g := b.S.recurrence(shiftAlong(b.S, x, d, true, 0), b.DY, d, true)
			b.Set(0, To(b.S, Mul(b.S, shiftAlong(b.S, b.Out(), d, false, 1), g), b.DType(0)))
		},
	})
	opRecurrence = define(Op{
		Name: "recurrence", Doc: "h[i] = a[i]·h[i-1] + b[i] along a dimension, from h = 0 before the first", Args: []string{"a", "b"}, Why: "runs in the dtype its forward ran in", CUDA: "recurrence", Wide: true, Saves: SaveIn0 | SaveOut,
		Check: func(c *Call) []int { c.floats(); c.sameShape(); return c.In[0].shape },
		CPU:   recurrences.run,
		Backward: func(b *Back) { // the same from the other end
			d, reverse := b.Attrs().Dims[0], b.Attrs().Reverse
			g := b.S.recurrence(shiftAlong(b.S, b.In(0), d, !reverse, 0), b.DY, d, !reverse)
			b.Set(1, g)
			if b.Needs(0) {
				b.Set(0, Mul(b.S, g, shiftAlong(b.S, b.Out(), d, reverse, 0)))
			}
		},
	})
}

// prodBackward: dy times the product of all other elements.
func prodBackward(b *Back) {
	shape, a := b.Shape(0), b.Attrs()
	x := To(b.S, b.In(0), b.DY.dt)
	if length(shape) == 0 {
		b.Set(0, To(b.S, x, b.DType(0)))
		return
	}
	d := 0
	if len(a.Dims) == 1 {
		d = a.Dims[0]
	} else { // all of them: one line
		x = Reshape(b.S, x, -1)
	}
	before := Cumprod(b.S, shiftAlong(b.S, x, d, false, 1), d)
	behind := Flip(b.S, Cumprod(b.S, Flip(b.S, shiftAlong(b.S, x, d, true, 1), d), d), d)
	others := Reshape(b.S, Mul(b.S, before, behind), shape...)
	b.Set(0, To(b.S, Mul(b.S, b.repeat(b.DY), others), b.DType(0)))
}

func prodCPU(c *Call) {
	if r := newReduction(c.In[0], c.Dims); prodLines(c, &r) || prodColumns(c, &r) {
		return
	}
	if c.Out.dt.IsFloat() {
		eachGroup(c.In[0], c.Dims, func(i int, group []float64) {
			p := 1.0
			for _, v := range group {
				p *= v
			}
			store(c.Out, c.Out.off+i, []float64{p})
		})
		return
	}
	r := newReduction(c.In[0], c.Dims)
	out, one := elements[int64](c.Out)[c.Out.off:], make([]int64, 1)
	for i := range r.nKept {
		p := int64(1)
		for j := range r.nReduced {
			load(one, c.In[0], c.In[0].off+offset(i, r.kept, r.keptStride)+offset(j, r.reduced, r.reducedStride), 1)
			p *= one[0]
		}
		out[i] = p
	}
}

// prodLines is prodCPU where the factors of each product are neighbors, in float32 or halves; it says whether it has done it.
func prodLines(c *Call, r *reduction) bool {
	x := c.In[0]
	if !x.dt.IsFloat() || x.dt == Float64 || !c.Out.dt.IsFloat() || len(r.reduced) != 1 || r.reducedStride[0] != 1 || r.nReduced < shortLine {
		return false
	}
	room, y := cleared(r.nKept)
	defer rowPool.Put(room)
	cpu.Parallel(r.nKept, grainOf(r.nReduced), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for i := lo; i < hi; i++ {
			y[i] = cpu.Product(w.read(0, x, x.off+offset(i, r.kept, r.keptStride), 1, r.nReduced))
		}
	})
	store(c.Out, c.Out.off, y)
	return true
}

// prodRun is how many columns one task multiplies.
const prodRun = 256

// prodColumns is prodCPU where products lie side by side, in float32 or halves: each in the order of its factors. It says whether it has done it.
func prodColumns(c *Call, r *reduction) bool {
	x := c.In[0]
	if !x.dt.IsFloat() || x.dt == Float64 || !c.Out.dt.IsFloat() || len(r.reduced) != 1 || len(r.kept) == 0 {
		return false
	}
	n, stride, outer, outerStride := last(r.kept, r.keptStride)
	if stride != 1 || n < shortLine {
		return false
	}
	room, y := cleared(r.nKept)
	defer rowPool.Put(room)
	fill(y, 1)
	runs := (n + prodRun - 1) / prodRun
	cpu.Parallel(r.nKept/n*runs, grainOf(r.nReduced*prodRun), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for i := lo; i < hi; i++ {
			first := i % runs * prodRun
			own := y[i/runs*n+first:][:min(prodRun, n-first)]
			at := x.off + offset(i/runs, outer, outerStride) + first
			for range r.nReduced {
				cpu.MulWide(own, w.read(0, x, at, 1, len(own)))
				at += r.reducedStride[0]
			}
		}
	})
	store(c.Out, c.Out.off, y)
	return true
}

func (s *Scope) recurrence(a, b *Tensor, dim int, reverse bool) *Tensor {
	return s.apply(opRecurrence, Attrs{Dims: []int{dim}, Reverse: reverse}, a, b)
}

// Prod returns the product of all elements, accumulated in float64: float32 under autocast, int64 for integers. Its gradient holds at
// zeros too. An explicit dtype wins over autocast; as in PyTorch, x is brought to it first.
func Prod(s *Scope, x *Tensor, dtype ...DType) *Tensor {
	x.live("prod")
	x, a := s.asked(opProd, x, dtype)
	a.Dims = reducedAxes("prod", x, nil)
	return s.apply(opProd, a, x)
}

// ProdDim returns the products along dim, which goes; see Prod.
func ProdDim(s *Scope, x *Tensor, dim int, dtype ...DType) *Tensor {
	x.live("prod")
	x, a := s.asked(opProd, x, dtype)
	a.Dims = reducedAxes("prod", x, []int{dim})
	return s.apply(opProd, a, x)
}

// Cumprod returns the products of the elements so far along dim: float32 under autocast, int64 for integers. Its gradient holds at
// zeros too. An explicit dtype wins over autocast; as in PyTorch, x is brought to it first.
func Cumprod(s *Scope, x *Tensor, dim int, dtype ...DType) *Tensor {
	x.live("cumprod")
	x, a := s.asked(opCumprod, x, dtype)
	a.Dims = []int{opCumprod.axis(x, dim)}
	return s.apply(opCumprod, a, x)
}

// asked brings x to the dtype that a caller of a reduction asked for. Widening is left to the kernel, whose accumulator is wide.
func (s *Scope) asked(o *Op, x *Tensor, dtype []DType) (*Tensor, Attrs) {
	if len(dtype) == 0 || dtype[0] == NoDType {
		return x, Attrs{}
	}
	to := dtype[0]
	if to == Bool || to.Size() == 0 {
		fail(o.Name, ErrDType, "use a float dtype or amp.Int64", "result dtype %v", to)
	}
	if x.dt != to && (promoteTypes(x.dt, to) != to || kindOf(x.dt) != kindOf(to)) {
		x = To(s, x, to)
	}
	return x, Attrs{DType: to}
}
