package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// elu and its kin, mish, softsign, tanhshrink, logsigmoid and hardswish.

// The numbers that make selu keep mean 0 and variance 1.
const (
	seluAlpha = 1.6732632423543772848170429916717
	seluScale = 1.0507009873554804934193349852946
)

func init() {
	opELU = exponential("elu", "x above 0, alpha·(e^x - 1) below", func(a *Attrs) (outer, inner, scale float64) { return a.Scalar, 1, 1 })
	opSELU = exponential("selu", "scale·x above 0, scale·alpha·(e^x - 1) below, alpha 1.67326 and scale 1.0507", func(*Attrs) (outer, inner, scale float64) { return seluAlpha, 1, seluScale })
	opCELU = exponential("celu", "x above 0, alpha·(e^(x/alpha) - 1) below", func(a *Attrs) (outer, inner, scale float64) { return a.Scalar, 1 / a.Scalar, 1 })
	opMish = smooth("mish", "x·tanh(log(1 + e^x))", Unlisted, whyCloseToX, curve{
		f: func(_ *Attrs, x float64) float64 { return x * cpu.Tanh.Of(softplus(x)) },
		slope: func(_ *Attrs, x float64) float64 {
			t := cpu.Tanh.Of(softplus(x))
			if bend := sigmoid(x) * (1 - float64(t*t)); bend != 0 { // 0·∞ is 0 here
				t += float64(x * bend)
			}
			return t
		},
		by: byPass(&cpu.LineMish), slopesBy: slopesByPass(&cpu.LineMishGrad),
		bend: func(s *Scope, _ *Attrs, x, g *Tensor) *Tensor { // t'·(2 + x·(1 - σ - 2·t·σ)), t' = σ·(1 - t²)
			y := Sigmoid(s, x)
			t := Tanh(s, Softplus(s, x))
			rate := Mul(s, y, oneMinus(s, Mul(s, t, t)))
			inner := Sub(s, oneMinus(s, y), MulScalar(s, Mul(s, t, y), 2))
			return Mul(s, g, Mul(s, rate, AddScalar(s, Mul(s, x, inner), 2)))
		},
	})
	opSoftsign = smooth("softsign", "x / (1 + |x|)", Unlisted, whyBounded, curve{
		bound: 2, // its slope rounds three times
		f:     func(_ *Attrs, x float64) float64 { return x / (1 + math.Abs(x)) },
		slope: func(_ *Attrs, x float64) float64 {
			d := 1 + math.Abs(x)
			return 1 / (d * d)
		},
		bend: func(s *Scope, _ *Attrs, x, g *Tensor) *Tensor { // -2·sign x / (1 + |x|)³
			d := AddScalar(s, Abs(s, x), 1)
			return Div(s, MulScalar(s, Mul(s, g, Sign(s, x)), -2), Mul(s, d, Mul(s, d, d)))
		},
	})
}

func init() {
	opTanhshrink = smooth("tanhshrink", "x - tanh x", Unlisted, whyCloseToX, curve{
		bound: 4, // PyTorch's own float64 number cancels near 0
		f:     func(_ *Attrs, x float64) float64 { return tanhshrink(x) },
		slope: func(_ *Attrs, x float64) float64 {
			t := cpu.Tanh.Of(x)
			return t * t
		},
		bend: func(s *Scope, _ *Attrs, x, g *Tensor) *Tensor { // 2·t·(1 - t²)
			t := Tanh(s, x)
			return Mul(s, g, MulScalar(s, Mul(s, t, oneMinus(s, Mul(s, t, t))), 2))
		},
	})
	opLogSigmoid = smooth("logsigmoid", "log(1 / (1 + e^-x))", Unlisted, whyCloseToX, curve{
		f:     func(_ *Attrs, x float64) float64 { return -softplus(-x) },
		slope: func(_ *Attrs, x float64) float64 { return sigmoid(-x) },
		by:    byPass(&cpu.LineLogSigmoid), slopesBy: slopesByPass(&cpu.LineLogSigmoidGrad),
		bend: func(s *Scope, _ *Attrs, x, g *Tensor) *Tensor { // -σ·(1 - σ)
			y := Sigmoid(s, x)
			return Neg(s, Mul(s, g, Mul(s, y, oneMinus(s, y))))
		},
	})
	opHardswish = smooth("hardswish", "x·(x + 3)/6 held to 0 below -3 and to x above 3", Unlisted, whyCloseToX, curve{
		f: func(_ *Attrs, x float64) float64 {
			switch {
			case x <= -3:
				return 0
			case x >= 3:
				return x
			}
			return x * (x + 3) / 6
		},
		slope: func(_ *Attrs, x float64) float64 {
			switch {
			case x <= -3:
				return 0
			case x >= 3:
				return 1
			}
			return x/3 + 0.5
		},
		by: byPass(&cpu.LineHardswish), slopesBy: slopesByPass(&cpu.LineHardswishGrad),
		bend: func(s *Scope, _ *Attrs, x, g *Tensor) *Tensor { // 1/3 between
			return positivePart(s, MulScalar(s, g, 1.0/3), AddScalar(s, Neg(s, Abs(s, x)), 3))
		},
	})
}

// tanhshrink by the continued fraction tanh x = x/(1 + r), r = x²/(3 + x²/(5 + …)), where x - tanh x would cancel.
func tanhshrink(x float64) float64 {
	if math.Abs(x) > 1.5 {
		return x - cpu.Tanh.Of(x)
	}
	square, r := x*x, 0.0
	for odd := 27.0; odd > 1; odd -= 2 {
		r = square / (odd + r)
	}
	return x * r / (1 + r)
}

// exponential defines elu, selu or celu: scale·x above 0, scale·outer·(e^(inner·x) - 1) at 0 and below.
func exponential(name, doc string, numbers func(a *Attrs) (outer, inner, scale float64)) *Op {
	return smooth(name, doc, Unlisted, whyCloseToX, curve{
		bound: 2, // an exponential of a product, times another
		f: func(a *Attrs, x float64) float64 {
			outer, inner, scale := numbers(a)
			if x > 0 {
				return scale * x
			}
			return scale * outer * cpu.Expm1.Of(inner*x)
		},
		slope: func(a *Attrs, x float64) float64 {
			outer, inner, scale := numbers(a)
			if x > 0 {
				return scale
			}
			return scale * outer * inner * cpu.Exp.Of(inner*x)
		},
		by: func(a *Attrs) func(dst, x []float32) {
			outer, inner, scale := numbers(a)
			if !(inner > 0) {
				return nil
			}
			return pass(&cpu.LineElu, scale*outer, inner, scale)
		},
		slopesBy: func(a *Attrs) func(dst, x, dy []float32) {
			outer, inner, scale := numbers(a)
			if !(inner > 0) {
				return nil
			}
			return pass2(&cpu.LineEluGrad, scale*outer*inner, inner, scale)
		},
		bend: func(s *Scope, a *Attrs, x, g *Tensor) *Tensor { // held at 0 first, so that no exponential overflows above it
			outer, inner, scale := numbers(a)
			e := Exp(s, MulScalar(s, ClampMax(s, x, 0), inner))
			return positivePart(s, MulScalar(s, Mul(s, g, e), scale*outer*inner*inner), Neg(s, x))
		},
	})
}

// ELU returns x above 0 and alpha·(e^x - 1) below; PyTorch's alpha is 1.
func ELU(s *Scope, x *Tensor, alpha float64) *Tensor {
	return s.apply(opELU, Attrs{Scalar: alpha}, x)
}

// SELU returns scale·(x above 0, alpha·(e^x - 1) below) with the numbers that keep mean 0 and variance 1 from layer to layer.
func SELU(s *Scope, x *Tensor) *Tensor { return s.apply(opSELU, Attrs{}, x) }

// CELU returns x above 0 and alpha·(e^(x/alpha) - 1) below; PyTorch's alpha is 1. It panics with ErrArgument for an alpha of 0.
func CELU(s *Scope, x *Tensor, alpha float64) *Tensor {
	if alpha == 0 || alpha != alpha {
		fail("celu", ErrArgument, "use an alpha other than 0; the usual one is 1", "alpha %v", alpha)
	}
	return s.apply(opCELU, Attrs{Scalar: alpha}, x)
}

// Mish returns x·tanh(softplus(x)).
func Mish(s *Scope, x *Tensor) *Tensor { return s.apply(opMish, Attrs{}, x) }

// Softsign returns x / (1 + |x|).
func Softsign(s *Scope, x *Tensor) *Tensor { return s.apply(opSoftsign, Attrs{}, x) }

// Tanhshrink returns x - tanh x.
func Tanhshrink(s *Scope, x *Tensor) *Tensor { return s.apply(opTanhshrink, Attrs{}, x) }

// LogSigmoid returns log(sigmoid(x)), finite however small the sigmoid is.
func LogSigmoid(s *Scope, x *Tensor) *Tensor { return s.apply(opLogSigmoid, Attrs{}, x) }

// Hardswish returns x·(x + 3)/6 between -3 and 3, 0 below and x above.
func Hardswish(s *Scope, x *Tensor) *Tensor { return s.apply(opHardswish, Attrs{}, x) }
