package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Activations made of straight pieces: leaky_relu, hardtanh, relu6, hardsigmoid, hardshrink, softshrink, threshold.

var opLeakyReLU, opHardtanh, opReLU6, opHardsigmoid, opHardshrink, opSoftshrink, opThreshold *Op

// A polyline is three straight lines slope·x + offset: below lo, between, above hi. Where they meet, the outer pieces hold, or, if
// closed, the one between. NaN goes to a piece of slope other than 0.
type polyline struct {
	lo, hi        float64
	slope, offset [3]float64
	closed        bool
}

func init() {
	opLeakyReLU = piecewise("leaky_relu", "x above 0, slope·x below", func(a *Attrs) polyline {
		return polyline{slope: [3]float64{a.Scalar, 1, 1}}
	})
	opHardtanh = piecewise("hardtanh", "x held between two numbers, its slope 0 at both", func(a *Attrs) polyline {
		return polyline{lo: a.Pair[0], hi: a.Pair[1], slope: [3]float64{0, 1, 0}, offset: [3]float64{a.Pair[0], 0, a.Pair[1]}}
	})
	opHardtanh.Whole = wholeBetween
	opHardsigmoid = piecewise("hardsigmoid", "(x + 3)/6 held between 0 and 1", func(*Attrs) polyline {
		return polyline{lo: -3, hi: 3, slope: [3]float64{0, 1.0 / 6, 0}, offset: [3]float64{0, 0.5, 1}}
	})
	opHardshrink = piecewise("hardshrink", "x, and 0 where |x| ≤ lambda", func(a *Attrs) polyline {
		return polyline{lo: -a.Scalar, hi: a.Scalar, slope: [3]float64{1, 0, 1}, closed: true}
	})
	opSoftshrink = piecewise("softshrink", "x moved toward 0 by lambda, and 0 where |x| ≤ lambda", func(a *Attrs) polyline {
		return polyline{lo: -a.Scalar, hi: a.Scalar, slope: [3]float64{1, 0, 1}, offset: [3]float64{a.Scalar, 0, -a.Scalar}, closed: true}
	})
	opThreshold = piecewise("threshold", "x above a threshold, a value at it and below", func(a *Attrs) polyline {
		return polyline{lo: a.Pair[0], hi: a.Pair[0], slope: [3]float64{0, 1, 1}, offset: [3]float64{a.Pair[1], 0, 0}}
	})
	opThreshold.Whole = wholeThreshold
	opReLU6 = define(Op{
		Name: "relu6", Doc: "x held between 0 and 6", Args: []string{"x"}, Why: whyChoose, CUDA: "hardtanh", Composite: []string{"hardtanh"}, Parts: Apart,
	})
}

// piecewise defines a row of straight pieces and the row of its gradient, name_backward.
func piecewise(name, doc string, at func(a *Attrs) polyline) *Op {
	var slope *Op
	slope = define(Op{
		Name: name + "_backward", Doc: "dy times the slope of " + name + " at x", Args: []string{"dy", "x"}, Why: whyBackward, CUDA: name + "_backward", Saves: SaveIn1,
		Check: checkSlope,
		CPU: func(c *Call) {
			p := at(&c.Attrs)
			slopes32 := pieceSlopes[float32](p)
			if m := p.slope[0]; p.leaky() && m != 0 {
				if halfPass(&cpu.LineLeakyGrad, c.Out, c.In, m) {
					return
				}
				slopes32 = pass2(&cpu.LineLeakyGrad, m)
			}
			binary(slopes32, pieceSlopes[float64](p), nil)(c)
		},
		Backward: func(b *Back) { b.Set(0, b.S.apply(slope, b.Attrs(), b.DY, b.In(1))) }, // linear in dy, flat in x
	})
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: "straight pieces, in the range of its input", CUDA: name, Saves: SaveIn0, Check: checkUnary,
		CPU: func(c *Call) {
			p := at(&c.Attrs)
			values32 := pieceValues[float32](p)
			if m := p.slope[0]; p.leaky() && m != 0 {
				if halfPass(&cpu.LineLeaky, c.Out, c.In, m) {
					return
				}
				values32 = pass(&cpu.LineLeaky, m)
			}
			unary(values32, pieceValues[float64](p))(c)
		},
		Backward: func(b *Back) { b.Set(0, b.S.apply(slope, b.Attrs(), b.DY, b.In(0))) },
	})
}

// find returns the piece that x lies on; counting without branches, which random signs would mispredict.
func find(x, lo, hi float64, closed bool) int {
	k := 1
	if closed {
		if x < lo {
			k = 0
		}
		if x > hi || x != x {
			k = 2
		}
		return k
	}
	if x >= hi {
		k = 2
	}
	if x <= lo {
		k = 0
	}
	return k
}

// flat returns the bounds within which x is multiplied: 0·∞ would be NaN where a piece is flat.
func (p *polyline) flat() (lowest, highest float64) {
	lowest, highest = math.Inf(-1), math.Inf(1)
	if p.slope[0] == 0 {
		lowest = math.Max(p.lo, -math.MaxFloat64)
	}
	if p.slope[2] == 0 {
		highest = math.Min(p.hi, math.MaxFloat64)
	}
	return lowest, highest
}

// leaky says whether it is leaky_relu.
func (p *polyline) leaky() bool { return *p == polyline{slope: [3]float64{p.slope[0], 1, 1}} }

func pieceValues[T float32 | float64](p polyline) func(dst, x []T) {
	lo, hi := float64(T(p.lo)), float64(T(p.hi))
	lowest, highest := p.flat()
	if m := p.slope[0]; p.leaky() {
		return func(dst, x []T) {
			for i, v := range x {
				w := float64(v)
				dst[i] = T(max(w, 0) + float64(m*min(w, 0)))
			}
		}
	}
	return func(dst, x []T) {
		for i, v := range x {
			w := float64(v)
			k := find(w, lo, hi, p.closed)
			dst[i] = T(float64(p.slope[k]*min(max(w, lowest), highest)) + p.offset[k])
		}
	}
}

func pieceSlopes[T float32 | float64](p polyline) func(dst, dy, x []T) {
	lo, hi := float64(T(p.lo)), float64(T(p.hi))
	return func(dst, dy, x []T) {
		for i, v := range dy {
			dst[i] = 0
			if m := p.slope[find(float64(x[i]), lo, hi, p.closed)]; m != 0 {
				dst[i] = T(m * float64(v))
			}
		}
	}
}

// LeakyReLU returns x above 0 and slope·x below; PyTorch's slope is 0.01.
func LeakyReLU(s *Scope, x *Tensor, slope float64) *Tensor {
	return s.apply(opLeakyReLU, Attrs{Scalar: slope}, x)
}

// Hardtanh returns x held between lo and hi; PyTorch's bounds are -1 and 1; for integers they are truncated, as there. It panics with ErrArgument
// unless lo ≤ hi.
func Hardtanh(s *Scope, x *Tensor, lo, hi float64) *Tensor {
	if !(lo <= hi) {
		fail("hardtanh", ErrArgument, "give the smaller bound first", "bounds %v and %v", lo, hi)
	}
	return s.apply(opHardtanh, Attrs{Pair: [2]float64{lo, hi}}, x)
}

// ReLU6 returns x held between 0 and 6.
func ReLU6(s *Scope, x *Tensor) *Tensor {
	s, in := s.enter(opReLU6, x)
	return Hardtanh(s, in[0], 0, 6)
}

// Hardsigmoid returns (x + 3)/6 held between 0 and 1.
func Hardsigmoid(s *Scope, x *Tensor) *Tensor { return s.apply(opHardsigmoid, Attrs{}, x) }

// Hardshrink returns x, and 0 where |x| ≤ lambda; PyTorch's lambda is 0.5.
func Hardshrink(s *Scope, x *Tensor, lambda float64) *Tensor {
	return s.apply(opHardshrink, Attrs{Scalar: lambda}, x)
}

// Softshrink returns x moved toward 0 by lambda, and 0 where |x| ≤ lambda; PyTorch's lambda is 0.5. It panics with ErrArgument for
// a lambda below 0.
func Softshrink(s *Scope, x *Tensor, lambda float64) *Tensor {
	if !(lambda >= 0) || math.IsInf(lambda, 1) {
		fail("softshrink", ErrArgument, "use a lambda of 0 or above; the usual one is 0.5", "lambda %v", lambda)
	}
	return s.apply(opSoftshrink, Attrs{Scalar: lambda}, x)
}

// Threshold returns x where it is above threshold, else value. Integers stay integers, for a whole value.
func Threshold(s *Scope, x *Tensor, threshold, value float64) *Tensor {
	return s.apply(opThreshold, Attrs{Pair: [2]float64{threshold, value}}, x)
}
