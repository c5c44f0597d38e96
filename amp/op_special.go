package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// erfc, hypot, logaddexp, and clamp between tensors.

var opErfc, opHypot, opLogAddExp, opClampTensor *Op

func init() {
	opErfc = elementwise("erfc", "1 - erf x, with the digits that the difference loses", Unlisted, "bounded by 2, so half precision holds it", cpu.Erfc, SaveIn0, func(b *Back) *Tensor { // -2/√π·e^-x²
		x := b.In(0)
		return Mul(b.S, b.DY, MulScalar(b.S, Exp(b.S, Neg(b.S, Mul(b.S, x, x))), -2/math.Sqrt(math.Pi)))
	})
	opHypot = define(Op{
		Name: "hypot", Doc: "√(a² + b²) without overflow of the squares, broadcast", Args: []string{"a", "b"}, Why: "near the larger of its inputs", Widens: true, CUDA: "hypot", Wide: true,
		Bound: 2, // the quotient, the square, the root and the product round
		Check: checkBinary, CPU: binary(pairwiseK[float32](hypot), pairwiseK[float64](hypot), nil), Saves: SaveIn0 | SaveIn1 | SaveOut,
		Backward: func(b *Back) { // a/y and b/y, 0 at the origin
			for i := range 2 {
				if b.Needs(i) {
					b.Set(i, b.sumTo(i, Mul(b.S, b.DY, divNonzero(b.S, b.In(i), b.Out()))))
				}
			}
		},
	})
	opLogAddExp = define(Op{
		Name: "logaddexp", Doc: "log(e^a + e^b), broadcast", Args: []string{"a", "b"}, Why: "near the larger of its inputs", Widens: true, CUDA: "logaddexp", Wide: true,
		Check: checkBinary, CPU: binary(pairwiseK[float32](logAddExp), pairwiseK[float64](logAddExp), nil), Saves: SaveIn0 | SaveIn1,
		Backward: func(b *Back) { // σ(a-b) and σ(b-a)
			for i := range 2 {
				if b.Needs(i) {
					b.Set(i, b.sumTo(i, Mul(b.S, b.DY, Sigmoid(b.S, Sub(b.S, b.In(i), b.In(1-i))))))
				}
			}
		},
	})
	opClampTensor = define(Op{
		Name: "clamp_tensor", Doc: "x held between low and high elementwise, high where they cross; broadcast", Args: []string{"x", "low", "high"}, Why: whyChoose, Widens: true, CUDA: "clamp_tensor", Whole: wholeClampTensor,
		Check: checkThree, Saves: SaveIn0 | SaveIn1 | SaveIn2,
		CPU:      threeLines(&cpu.LineClampTo, func(_ *Call, x, lo, hi float64) float64 { return smaller(larger(x, lo), hi) }),
		Backward: clampTensorBackward,
	})
}

// clampTensorBackward gives the gradient to what was taken, half of it to each where x is at a bound, and to x where a NaN was taken or all
// three are equal.
func clampTensorBackward(b *Back) {
	s, x, lo, hi := b.S, b.In(0), b.In(1), b.In(2)
	zero, half := constant(s, b.DY.dt, 0), MulScalar(s, b.DY, 0.5)
	apart, ordered := Lt(s, lo, hi), Le(s, lo, hi)
	low := LogicalAnd(s, Lt(s, x, lo), ordered)
	high := LogicalOr(s, LogicalAnd(s, Gt(s, x, hi), ordered), Gt(s, lo, hi))
	atLow, atHigh := LogicalAnd(s, Eq(s, x, lo), apart), LogicalAnd(s, Eq(s, x, hi), apart)
	if b.Needs(0) {
		rest := Where(s, LogicalOr(s, atLow, atHigh), half, b.DY)
		b.Set(0, b.sumTo(0, Where(s, LogicalOr(s, low, high), zero, rest)))
	}
	if b.Needs(1) {
		b.Set(1, b.sumTo(1, Where(s, low, b.DY, Where(s, atLow, half, zero))))
	}
	if b.Needs(2) {
		b.Set(2, b.sumTo(2, Where(s, high, b.DY, Where(s, atHigh, half, zero))))
	}
}

// pairwiseK makes the kernel of a function of two numbers.
func pairwiseK[T float32 | float64](f func(a, b float64) float64) func(dst, x, y []T) {
	return func(dst, x, y []T) {
		for i, v := range x {
			dst[i] = T(f(float64(v), float64(y[i])))
		}
	}
}

func hypot(a, b float64) float64 {
	a, b = math.Abs(a), math.Abs(b)
	if a < b {
		a, b = b, a
	}
	switch {
	case math.IsInf(a, 1) || math.IsInf(b, 1): // even against NaN
		return math.Inf(1)
	case a == 0 && b == 0:
		return 0
	}
	q := b / a
	return a * math.Sqrt(1+float64(q*q))
}

func logAddExp(a, b float64) float64 {
	if a == b && math.IsInf(a, 0) {
		return a
	}
	return larger(a, b) + cpu.Log1p.Of(cpu.Exp.Of(-math.Abs(a-b)))
}

// larger and smaller are NaN where either is.
func larger(a, b float64) float64 {
	if b > a || b != b {
		return b
	}
	return a
}

func smaller(a, b float64) float64 {
	if b < a || b != b {
		return b
	}
	return a
}

// Erfc returns 1 - Erf(x), exact to the last digits where that is small.
func Erfc(s *Scope, x *Tensor) *Tensor { return s.apply(opErfc, Attrs{}, x) }

// Hypot returns √(a² + b²) elementwise, broadcast. Its gradient at the origin is 0.
func Hypot(s *Scope, a, b *Tensor) *Tensor { return s.apply(opHypot, Attrs{}, a, b) }

// LogAddExp returns log(e^a + e^b) elementwise, broadcast, without overflow.
func LogAddExp(s *Scope, a, b *Tensor) *Tensor { return s.apply(opLogAddExp, Attrs{}, a, b) }

// ClampTensors returns x held between low and high elementwise, broadcast; one of them may be nil for no bound, which makes it Minimum or
// Maximum. Where they cross it is high. The gradient goes to what was taken; where x is at a bound, half of it to each.
func ClampTensors(s *Scope, x, low, high *Tensor) *Tensor {
	opClampTensor.need(x)
	switch {
	case low == nil && high == nil:
		fail("clamp_tensor", ErrArgument, "give a low bound, a high one or both", "both bounds are nil")
	case low == nil:
		return Minimum(s, x, high)
	case high == nil:
		return Maximum(s, x, low)
	}
	return s.apply(opClampTensor, Attrs{}, x, low, high)
}
