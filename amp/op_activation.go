package amp

import "math"

// Activations. None is listed but softplus: they run in the dtype of their inputs.

var opGELU, opSiLU, opSoftplus *Op

func init() {
	opGELU = elementwise("gelu", "x·Φ(x), Φ the normal distribution function", Unlisted, "close to x or 0, so it stays in the range of its input",
		func(x float64) float64 { return x * normalCDF(x) }, SaveIn0, func(b *Back) *Tensor { // Φ(x) + x·φ(x)
			x := b.In(0)
			cdf := MulScalar(b.S, AddScalar(b.S, Erf(b.S, MulScalar(b.S, x, math.Sqrt2/2)), 1), 0.5)
			density := MulScalar(b.S, Exp(b.S, MulScalar(b.S, Mul(b.S, x, x), -0.5)), 1/math.Sqrt(2*math.Pi))
			return Mul(b.S, b.DY, Add(b.S, cdf, Mul(b.S, x, density)))
		})
	opSiLU = elementwise("silu", "x / (1 + e^-x)", Unlisted, "close to x or 0, so it stays in the range of its input",
		func(x float64) float64 { return x * sigmoid(x) }, SaveIn0, func(b *Back) *Tensor { // σ·(1 + x·(1-σ))
			x := b.In(0)
			y := Sigmoid(b.S, x)
			return Mul(b.S, b.DY, Mul(b.S, y, AddScalar(b.S, Mul(b.S, x, oneMinus(b.S, y)), 1)))
		})
	opSoftplus = elementwise("softplus", "log(1 + e^x)", FP32, whyExponential, softplus, SaveIn0, func(b *Back) *Tensor {
		return Mul(b.S, b.DY, Sigmoid(b.S, b.In(0)))
	})
}

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// softplus in the form that neither overflows nor loses small values.
func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// GELU returns x·Φ(x), by the error function as PyTorch's default.
func GELU(s *Scope, x *Tensor) *Tensor { return s.apply(opGELU, Attrs{}, x) }

// SiLU returns x·sigmoid(x), also called swish.
func SiLU(s *Scope, x *Tensor) *Tensor { return s.apply(opSiLU, Attrs{}, x) }

// Softplus returns log(1 + e^x); float32 under autocast.
func Softplus(s *Scope, x *Tensor) *Tensor { return s.apply(opSoftplus, Attrs{}, x) }
