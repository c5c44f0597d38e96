package amp

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// var and std; layer_norm and rms_norm.

var opVar, opStd, opLayerNorm, opRMSNorm *Op

const whyNorm = "mean and variance of many numbers need float32's digits and range"

func init() {
	opVar = spreadOf("var", "variance over dimensions: Σ(x - mean)² / (n - correction)", func(v float64) float64 { return v }, 0, func(b *Back, c *Tensor) *Tensor {
		return MulScalar(b.S, c, 2/b.freedom())
	})
	opStd = spreadOf("std", "standard deviation over dimensions: √var", math.Sqrt, SaveOut, func(b *Back, c *Tensor) *Tensor {
		// Where std is 0 all numbers are equal, and the slope and its own slopes are 0, as in PyTorch, though the mean may be rounded. The
		// quotient comes first: it is small where both are, and 1/std is not.
		return MulScalar(b.S, divNonzero(b.S, c, b.repeat(b.Out())), 1/b.freedom())
	})
	opLayerNorm = define(Op{
		Name: "layer_norm", Doc: "(x - mean) / √(variance + eps) · weight + bias over the last dimensions", Args: []string{"x", "weight", "bias"},
		Class: FP32, Why: whyNorm, CUDA: "layer_norm", Saves: SaveIn0 | SaveIn1, Check: checkNorm, CPU: func(c *Call) { normalize(c, true) },
		Wide:     true,
		Backward: func(b *Back) { normBackward(b, opLayerNormBackward, true) },
	})
	opRMSNorm = define(Op{
		Name: "rms_norm", Doc: "x / √(mean x² + eps) · weight over the last dimensions", Args: []string{"x", "weight"},
		Class: FP32, Why: whyNorm, CUDA: "rms_norm", Saves: SaveIn0 | SaveIn1, Check: checkNorm, CPU: func(c *Call) { normalize(c, false) },
		Wide:     true,
		Backward: func(b *Back) { normBackward(b, opRMSNormBackward, false) },
	})
}

// spreadOf defines var or std: finish turns a variance into the result, slope the centered input into ∂result/∂x.
func spreadOf(name, doc string, finish func(float64) float64, saves Saved, slope func(b *Back, centered *Tensor) *Tensor) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: "the spread stays near the range of its inputs; accumulated wide", CUDA: name, Wide: true, Saves: SaveIn0 | saves,
		Check: func(c *Call) []int { c.floats(); return reducedShape(c) },
		CPU: func(c *Call) {
			eachGroup(c.In[0], c.Dims, func(i int, group []float64) {
				mean, sum := average(group), 0.0
				if allEqual(group) { // whose mean may be rounded
					mean = group[0]
				}
				for _, v := range group {
					sum += float64((v - mean) * (v - mean))
				}
				store(c.Out, c.Out.off+i, []float64{finish(sum / (float64(len(group)) - c.Scalar))})
			})
		},
		Backward: func(b *Back) {
			x := b.In(0)
			centered := Sub(b.S, x, meanKeep(b.S, x, b.Attrs().Dims))
			b.Set(0, Mul(b.S, b.repeat(b.DY), slope(b, centered)))
		},
	})
}

// freedom is the number that var divides by, with the correction that was asked for.
func (b *Back) freedom() float64 {
	n := 1
	for _, d := range b.Attrs().Dims {
		n *= b.Shape(0)[d]
	}
	return float64(n) - b.Attrs().Pair[0]
}

// repeat gives the result of a reduction its reduced dimensions back, as size 1.
func (b *Back) repeat(g *Tensor) *Tensor {
	if b.Attrs().Keep {
		return g
	}
	kept := slices.Clone(b.Shape(0))
	for _, d := range b.Attrs().Dims {
		kept[d] = 1
	}
	return Reshape(b.S, g, kept...)
}

func meanKeep(s *Scope, x *Tensor, dims []int) *Tensor {
	return s.apply(opMean, Attrs{Dims: dims, Keep: true}, x)
}

// allEqual says whether there is one number, however often.
func allEqual(v []float64) bool {
	return len(v) > 0 && !slices.ContainsFunc(v, func(x float64) bool { return x != v[0] })
}

func average(v []float64) float64 { return sumOf(v) / float64(len(v)) }

// Groups of columns are read together, some neighbors of each row at a time: at most columnsTogether, in up to columnRoom numbers of buffers.
// Buffers lie columnGap numbers apart, or powers of 2 would fall on the same lines of the cache.
const (
	columnsTogether = 16
	columnRoom      = 1 << 17
	columnGap       = 8
)

// eachGroup calls f with the elements that a reduction over dims brings together, in float64 and row-major order, for every
// element i of its result. Groups are spread over the workers.
func eachGroup(x *Tensor, dims []int, f func(i int, group []float64)) {
	r := newReduction(x, dims)
	width, near, _, _ := last(r.kept, r.keptStride)
	together := 1
	if _, stride, _, _ := last(r.reduced, r.reducedStride); near == 1 && stride != 1 {
		together = max(1, min(width, columnsTogether, columnRoom/max(1, r.nReduced)))
	}
	length := r.nReduced + columnGap
	cpu.Parallel(r.nKept, max(grainOf(4*r.nReduced), together), func(lo, hi int) {
		p := rowPool.Get().(*[]float64)
		defer rowPool.Put(p)
		room := sized(p, together*length)
		for count := 0; lo < hi; lo += count {
			count = min(together, hi-lo, width-lo%width)
			r.fill(room, x, lo, count, length)
			for j := range count {
				f(lo+j, room[j*length:][:r.nReduced])
			}
		}
	})
}

// fill puts the elements that belong to count neighbors of the result, from element i on, into buffers of the given length, in row-major order.
func (r *reduction) fill(room []float64, x *Tensor, i, count, length int) {
	n, stride, outer, outerStride := last(r.reduced, r.reducedStride)
	base := x.off + offset(i, r.kept, r.keptStride)
	var line [columnsTogether]float64
	for at := 0; at < r.nReduced; at += n {
		from := base + offset(at/n, outer, outerStride)
		if count == 1 {
			load(room[at:at+n], x, from, stride)
			continue
		}
		for k := range n {
			load(line[:count], x, from+k*stride, 1)
			for j, v := range line[:count] {
				room[j*length+at+k] = v
			}
		}
	}
}

func checkNorm(c *Call) []int {
	c.floatParameters()
	x := c.In[0]
	tail := x.shape[len(x.shape)-len(c.Dims):]
	for i, t := range c.In[1:] {
		if t != nil && !slices.Equal(t.shape, tail) {
			fail(c.Op.Name, ErrShape, "weight and bias have the shape that is normalized", "%s: %s must be %v", c.shapes(), c.Op.argName(i+1), tail)
		}
	}
	return x.shape
}

// Var returns the variance over dims, over all dimensions without any, with Bessel's correction (n - 1); reduced dimensions go. In
// the dtype of x.
func Var(s *Scope, x *Tensor, dims ...int) *Tensor { return VarCorrection(s, x, 1, dims...) }

// VarCorrection is Var divided by n - correction: 0 gives the variance of the numbers themselves rather than an estimate. With a
// correction of n or more it is +Inf, and NaN where there are no differences to divide by 0.
func VarCorrection(s *Scope, x *Tensor, correction float64, dims ...int) *Tensor {
	x.live("var")
	return s.spread(opVar, x, correction, dims)
}

// Std returns the square root of Var; its gradient is 0 where all numbers are equal.
func Std(s *Scope, x *Tensor, dims ...int) *Tensor { return StdCorrection(s, x, 1, dims...) }

// StdCorrection returns the square root of VarCorrection.
func StdCorrection(s *Scope, x *Tensor, correction float64, dims ...int) *Tensor {
	x.live("std")
	return s.spread(opStd, x, correction, dims)
}

// spread runs var or std. Where the correction leaves nothing to divide by, the divisor is 0, as PyTorch's, and never negative; the
// gradient goes by the correction that was asked for, as PyTorch's too, which makes it finite.
func (s *Scope) spread(o *Op, x *Tensor, correction float64, dims []int) *Tensor {
	axes, n := reducedAxes(o.Name, x, dims), 1
	for _, d := range axes {
		n *= x.shape[d]
	}
	return s.apply(o, Attrs{Dims: axes, Scalar: min(correction, float64(n)), Pair: [2]float64{correction}}, x)
}

// LayerNorm normalizes x over its last dimensions, as many as weight has (the last one if weight is nil), to mean 0 and variance 1,
// then multiplies by weight and adds bias, either of which may be nil. float32 under autocast.
func LayerNorm(s *Scope, x, weight, bias *Tensor, eps float64) *Tensor {
	return s.apply(opLayerNorm, Attrs{Dims: normDims("layer_norm", x, weight), Scalar: eps}, x, weight, bias)
}

// RMSNorm divides x by its root mean square over its last dimensions, as many as weight has (the last one if weight is nil), and
// multiplies by weight. float32 under autocast.
func RMSNorm(s *Scope, x, weight *Tensor, eps float64) *Tensor {
	return s.apply(opRMSNorm, Attrs{Dims: normDims("rms_norm", x, weight), Scalar: eps}, x, weight)
}

func normDims(op string, x, weight *Tensor) []int {
	x.live(op)
	k := 1
	if weight != nil {
		k = len(weight.shape)
	}
	if k < 1 || k > len(x.shape) {
		fail(op, ErrShape, "weight has the last dimensions of x, at least one", "x %v, normalized over %d dimensions", x.shape, k)
	}
	dims := make([]int, k)
	for i := range dims {
		dims[i] = len(x.shape) - k + i
	}
	return dims
}
