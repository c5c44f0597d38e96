package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Inverse and power functions beside those of op_transcendental.go and op_math.go.

var opErfinv, opAtan, opAsinh, opAcosh, opAtanh, opExp2, opSquare, opScalarPow, opScalarDiv *Op

func init() {
	opErfinv = elementwise("erfinv", "inverse of the error function", FP32, whySlope, cpu.Erfinv, SaveOut, func(b *Back) *Tensor { // √π/2·e^y²
		return Mul(b.S, b.DY, MulScalar(b.S, Exp(b.S, Mul(b.S, b.Out(), b.Out())), math.Sqrt(math.Pi)/2))
	})
	opErfinv.Bound = 4                                                                                                                                 // of cpu.Erfinv, a quotient of polynomials
	opAtan = elementwise("atan", "inverse tangent", Unlisted, "bounded by π/2, so half precision holds it", cpu.Atan, SaveIn0, func(b *Back) *Tensor { // 1/(1+x²)
		return Div(b.S, b.DY, AddScalar(b.S, Mul(b.S, b.In(0), b.In(0)), 1))
	})
	opAsinh = elementwise("asinh", "inverse hyperbolic sine", Unlisted, "grows like a logarithm, so it stays in range", cpu.Asinh, SaveIn0, func(b *Back) *Tensor { // 1/√(x²+1)
		return Div(b.S, b.DY, Sqrt(b.S, AddScalar(b.S, Mul(b.S, b.In(0), b.In(0)), 1)))
	})
	opAcosh = elementwise("acosh", "inverse hyperbolic cosine", Unlisted, "grows like a logarithm, so it stays in range", cpu.Acosh, SaveIn0, func(b *Back) *Tensor { // 1/√(x²-1)
		return Div(b.S, b.DY, Sqrt(b.S, AddScalar(b.S, Mul(b.S, b.In(0), b.In(0)), -1)))
	})
	opAtanh = elementwise("atanh", "inverse hyperbolic tangent", Unlisted, "grows like a logarithm of the distance to 1, so it stays in range", cpu.Atanh, SaveIn0, func(b *Back) *Tensor { // 1/(1-x²)
		return Div(b.S, b.DY, oneMinus(b.S, Mul(b.S, b.In(0), b.In(0))))
	})
	opExp2 = elementwise("exp2", "2^x", Unlisted, "not on the reference's list, unlike exp: overflows float16 at 16", cpu.Exp2, SaveOut, func(b *Back) *Tensor {
		return Mul(b.S, b.DY, MulScalar(b.S, b.Out(), math.Ln2))
	})
	opSquare = define(Op{
		Name: "square", Doc: "x²", Args: []string{"x"}, Why: "PyTorch makes it of pow, which runs in float32", CUDA: "pow_scalar", Composite: []string{"pow_scalar"}, Parts: Apart,
	})
	opScalarPow = define(Op{
		Name: "__rpow__", Doc: "c^x for a number c", Args: []string{"x"}, Class: FP32, Why: whyExponential, CUDA: "rpow_scalar", Check: checkUnary, Whole: withInteger(func(s *Scope, x, c *Tensor) *Tensor { return Pow(s, c, x) }), Floats: true, Saves: SaveIn0 | SaveOut,
		CPU: func(c *Call) {
			base := c.Scalar
			mapped(func(x float64) float64 { return cpu.Pow(base, x) })(c)
		},
		Backward: func(b *Back) { // c^x·log c, and 0 for c = 0 at x = 0 and above
			g := Mul(b.S, b.DY, MulScalar(b.S, b.Out(), cpu.Log.Of(b.Attrs().Scalar)))
			if b.Attrs().Scalar == 0 {
				g = positivePart(b.S, g, Neg(b.S, b.In(0)))
			}
			b.Set(0, g)
		},
	})
	opScalarDiv = define(Op{
		Name: "__rdiv__", Doc: "c/x for a number c; __rtruediv__ is the same", Args: []string{"x"}, Class: FP32, Why: "made of reciprocal, which runs in float32", CUDA: "reciprocal",
		Composite: []string{"reciprocal", "mul_scalar"}, Parts: ApartOnCUDA,
	})
}

// Erfinv returns the inverse of Erf on (-1, 1), infinities at the ends and NaN beyond; float32 under autocast.
func Erfinv(s *Scope, x *Tensor) *Tensor { return s.apply(opErfinv, Attrs{}, x) }

// Atan returns the inverse tangent in radians.
func Atan(s *Scope, x *Tensor) *Tensor { return s.apply(opAtan, Attrs{}, x) }

// Asinh returns the inverse hyperbolic sine.
func Asinh(s *Scope, x *Tensor) *Tensor { return s.apply(opAsinh, Attrs{}, x) }

// Acosh returns the inverse hyperbolic cosine, NaN below 1.
func Acosh(s *Scope, x *Tensor) *Tensor { return s.apply(opAcosh, Attrs{}, x) }

// Atanh returns the inverse hyperbolic tangent, infinities at ±1 and NaN beyond.
func Atanh(s *Scope, x *Tensor) *Tensor { return s.apply(opAtanh, Attrs{}, x) }

// Exp2 returns 2^x. Unlike Exp it follows its input's dtype under autocast, as in PyTorch.
func Exp2(s *Scope, x *Tensor) *Tensor { return s.apply(opExp2, Attrs{}, x) }

// Square returns x². Like PyTorch's it is PowScalar(x, 2), which is float32 under autocast; Mul(x, x) is not.
func Square(s *Scope, x *Tensor) *Tensor {
	s, in := s.enter(opSquare, x)
	return PowScalar(s, in[0], 2)
}

// ScalarPow returns c^x, a number to the power of a tensor; float32 under autocast. Integers and booleans give int64 for a whole number
// c, float32 for any other.
func ScalarPow(s *Scope, c float64, x *Tensor) *Tensor {
	return s.apply(opScalarPow, Attrs{Scalar: c}, x)
}

// ScalarDiv returns c/x, a number divided by a tensor: the reciprocal times c, as PyTorch computes it; float32 under autocast, and of
// integers and booleans.
func ScalarDiv(s *Scope, c float64, x *Tensor) *Tensor {
	s, in := s.enter(opScalarDiv, x)
	return MulScalar(s, Reciprocal(s, in[0]), c)
}
