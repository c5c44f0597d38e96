package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Elementwise functions of one input. Those on the fp32 list leave the half range, or lose their digits in it.

var opSigmoid, opTanh, opSin, opCos, opExpm1, opLog1p, opLog2, opLog10, opReciprocal, opRsqrt, opTan, opSinh, opCosh, opAsin, opAcos, opErf *Op

const (
	whyExponential = "grows exponentially, so it leaves the half range early"
	whyLogarithm   = "steep near zero, where half precision has few digits"
	whyPole        = "has a pole, where half precision overflows"
	whySlope       = "its slope is infinite at the ends, where half precision has few digits"
	whyBounded     = "bounded by 1, so half precision holds it"
)

// elementwise defines a row of one function of math; backward gives dx of the call.
func elementwise[F aFunction | func(c *Call)](name, doc string, class Class, why string, f F, saves Saved, backward func(b *Back) *Tensor) *Op {
	var kernel func(c *Call)
	switch f := any(f).(type) {
	case func(c *Call):
		kernel = f
	case func(float64) float64:
		kernel = mapped(f)
	case *cpu.Function:
		kernel = mapped(f)
	}
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Class: class, Why: why, CUDA: name, Floats: true, Wide: true, Check: checkUnary, CPU: kernel, Saves: saves,
		Backward: func(b *Back) { b.Set(0, backward(b)) },
	})
}

func init() {
	opSigmoid = elementwise("sigmoid", "1 / (1 + e^-x)", Unlisted, whyBounded, cpu.Sigmoid, SaveOut, slopeAtOut(&opSigmoidBackward))
	opTanh = elementwise("tanh", "hyperbolic tangent", Unlisted, whyBounded, cpu.Tanh, SaveOut, slopeAtOut(&opTanhBackward))
	opSigmoid.Wide, opTanh.Wide = false, false // one row, which computes wide itself
	opTanh.Bound = 4                           // of its slope, which cancels where y is near 1
	opSin = elementwise("sin", "sine", Unlisted, whyBounded, cpu.Sin, SaveIn0, func(b *Back) *Tensor { return Mul(b.S, b.DY, Cos(b.S, b.In(0))) })
	opCos = elementwise("cos", "cosine", Unlisted, whyBounded, cpu.Cos, SaveIn0, func(b *Back) *Tensor { return Neg(b.S, Mul(b.S, b.DY, Sin(b.S, b.In(0)))) })
	opErf = elementwise("erf", "error function", Unlisted, whyBounded, cpu.Erf, SaveIn0, func(b *Back) *Tensor { // 2/√π·e^-x²
		x := b.In(0)
		return Mul(b.S, b.DY, MulScalar(b.S, Exp(b.S, Neg(b.S, Mul(b.S, x, x))), 2/math.Sqrt(math.Pi)))
	})
	opExpm1 = elementwise("expm1", "e^x - 1", FP32, whyExponential, cpu.Expm1, SaveOut, func(b *Back) *Tensor {
		return Mul(b.S, b.DY, AddScalar(b.S, b.Out(), 1))
	})
	opLog1p = elementwise("log1p", "log(1 + x)", FP32, whyLogarithm, cpu.Log1p, SaveIn0, func(b *Back) *Tensor {
		return Div(b.S, b.DY, AddScalar(b.S, b.In(0), 1))
	})
	opLog2 = elementwise("log2", "logarithm to base 2", FP32, whyLogarithm, cpu.Log2, SaveIn0, func(b *Back) *Tensor {
		return Div(b.S, b.DY, MulScalar(b.S, b.In(0), math.Ln2))
	})
	opLog10 = elementwise("log10", "logarithm to base 10", FP32, whyLogarithm, cpu.Log10, SaveIn0, func(b *Back) *Tensor {
		return Div(b.S, b.DY, MulScalar(b.S, b.In(0), math.Ln10))
	})
	opReciprocal = elementwise("reciprocal", "1 / x", FP32, whyPole, mappedBy(&cpu.LineReciprocal, func(x float64) float64 { return 1 / x }), SaveIn0|SaveOut, func(b *Back) *Tensor { // -y²
		y := b.again(Reciprocal)
		return Neg(b.S, Mul(b.S, b.DY, Mul(b.S, y, y)))
	})
	opRsqrt = elementwise("rsqrt", "1 / √x", FP32, whyPole, mappedBy(&cpu.LineRsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }), SaveIn0|SaveOut, func(b *Back) *Tensor { // -y³/2
		y := b.again(Rsqrt)
		return MulScalar(b.S, Mul(b.S, b.DY, Mul(b.S, y, Mul(b.S, y, y))), -0.5)
	})
	opTan = elementwise("tan", "tangent", FP32, whyPole, cpu.Tan, SaveIn0|SaveOut, func(b *Back) *Tensor { // 1+y²
		y := b.again(Tan)
		return Mul(b.S, b.DY, AddScalar(b.S, Mul(b.S, y, y), 1))
	})
	opSinh = elementwise("sinh", "hyperbolic sine", FP32, whyExponential, cpu.Sinh, SaveIn0, func(b *Back) *Tensor { return Mul(b.S, b.DY, Cosh(b.S, b.In(0))) })
	opCosh = elementwise("cosh", "hyperbolic cosine", FP32, whyExponential, cpu.Cosh, SaveIn0, func(b *Back) *Tensor { return Mul(b.S, b.DY, Sinh(b.S, b.In(0))) })
	opAsin = elementwise("asin", "inverse sine", FP32, whySlope, cpu.Asin, SaveIn0, func(b *Back) *Tensor { // 1/√(1-x²)
		return Mul(b.S, b.DY, Rsqrt(b.S, oneMinus(b.S, Mul(b.S, b.In(0), b.In(0)))))
	})
	opAcos = elementwise("acos", "inverse cosine", FP32, whySlope, cpu.Acos, SaveIn0, func(b *Back) *Tensor {
		return Neg(b.S, Mul(b.S, b.DY, Rsqrt(b.S, oneMinus(b.S, Mul(b.S, b.In(0), b.In(0))))))
	})
}

func sigmoid(x float64) float64 { return cpu.Sigmoid.Of(x) }

func oneMinus(s *Scope, x *Tensor) *Tensor { return ScalarSub(s, 1, x) }

// Sigmoid returns 1 / (1 + e^-x).
func Sigmoid(s *Scope, x *Tensor) *Tensor { return s.apply(opSigmoid, Attrs{}, x) }

// Tanh returns the hyperbolic tangent.
func Tanh(s *Scope, x *Tensor) *Tensor { return s.apply(opTanh, Attrs{}, x) }

// Sin returns the sine of x in radians.
func Sin(s *Scope, x *Tensor) *Tensor { return s.apply(opSin, Attrs{}, x) }

// Cos returns the cosine of x in radians.
func Cos(s *Scope, x *Tensor) *Tensor { return s.apply(opCos, Attrs{}, x) }

// Erf returns the error function.
func Erf(s *Scope, x *Tensor) *Tensor { return s.apply(opErf, Attrs{}, x) }

// Expm1 returns e^x - 1, accurate near 0; float32 under autocast.
func Expm1(s *Scope, x *Tensor) *Tensor { return s.apply(opExpm1, Attrs{}, x) }

// Log1p returns log(1 + x), accurate near 0; float32 under autocast.
func Log1p(s *Scope, x *Tensor) *Tensor { return s.apply(opLog1p, Attrs{}, x) }

// Log2 returns the logarithm to base 2; float32 under autocast.
func Log2(s *Scope, x *Tensor) *Tensor { return s.apply(opLog2, Attrs{}, x) }

// Log10 returns the logarithm to base 10; float32 under autocast.
func Log10(s *Scope, x *Tensor) *Tensor { return s.apply(opLog10, Attrs{}, x) }

// Reciprocal returns 1 / x; float32 under autocast.
func Reciprocal(s *Scope, x *Tensor) *Tensor { return s.apply(opReciprocal, Attrs{}, x) }

// Rsqrt returns 1 / √x; float32 under autocast.
func Rsqrt(s *Scope, x *Tensor) *Tensor { return s.apply(opRsqrt, Attrs{}, x) }

// Tan returns the tangent of x in radians; float32 under autocast.
func Tan(s *Scope, x *Tensor) *Tensor { return s.apply(opTan, Attrs{}, x) }

// Sinh returns the hyperbolic sine; float32 under autocast.
func Sinh(s *Scope, x *Tensor) *Tensor { return s.apply(opSinh, Attrs{}, x) }

// Cosh returns the hyperbolic cosine; float32 under autocast.
func Cosh(s *Scope, x *Tensor) *Tensor { return s.apply(opCosh, Attrs{}, x) }

// Asin returns the inverse sine, NaN outside [-1,1]; float32 under autocast.
func Asin(s *Scope, x *Tensor) *Tensor { return s.apply(opAsin, Attrs{}, x) }

// Acos returns the inverse cosine, NaN outside [-1,1]; float32 under autocast.
func Acos(s *Scope, x *Tensor) *Tensor { return s.apply(opAcos, Attrs{}, x) }
