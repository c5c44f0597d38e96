package amp

// Activations and other functions of one or two tensors.
func init() {
	addTorch(map[string]torchCall{
		"__rpow__": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return ScalarPow(s, a.float("c"), x[0]) }),
		"__rdiv__": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return ScalarDiv(s, a.float("c"), x[0]) }),
		"atan":     torchUnary(Atan), "asinh": torchUnary(Asinh), "acosh": torchUnary(Acosh), "atanh": torchUnary(Atanh),
		"erfinv": torchUnary(Erfinv), "exp2": torchUnary(Exp2), "square": torchUnary(Square),
		"floor": torchUnary(Floor), "ceil": torchUnary(Ceil), "round": torchUnary(Round), "trunc": torchUnary(Trunc), "frac": torchUnary(Frac),
		"fmod": torchBinary(Fmod), "remainder": torchBinary(Remainder),
		"isnan": torchUnary(IsNaN), "isinf": torchUnary(IsInf), "isfinite": torchUnary(IsFinite), "logical_not": torchUnary(LogicalNot),
		"logical_and": torchBinary(LogicalAnd), "logical_or": torchBinary(LogicalOr), "logical_xor": torchBinary(LogicalXor),

		"relu6": torchUnary(ReLU6), "hardsigmoid": torchUnary(Hardsigmoid), "hardswish": torchUnary(Hardswish), "selu": torchUnary(SELU), "mish": torchUnary(Mish),
		"softsign": torchUnary(Softsign), "tanhshrink": torchUnary(Tanhshrink), "logsigmoid": torchUnary(LogSigmoid),
		"gelu": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			if a.has("approximate") {
				return GELUTanh(s, x[0])
			}
			return GELU(s, x[0])
		}),
		"softplus": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return SoftplusBeta(s, x[0], a.floatOr("beta", 1), a.floatOr("threshold", 20))
		}),
		"leaky_relu": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return LeakyReLU(s, x[0], a.floatOr("negative_slope", 0.01))
		}),
		"hardtanh": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Hardtanh(s, x[0], a.floatOr("min_val", -1), a.floatOr("max_val", 1))
		}),
		"hardshrink": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Hardshrink(s, x[0], a.floatOr("lambd", 0.5)) }),
		"softshrink": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Softshrink(s, x[0], a.floatOr("lambd", 0.5)) }),
		"threshold": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Threshold(s, x[0], a.float("threshold"), a.float("value"))
		}),
		"elu":     torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return ELU(s, x[0], a.floatOr("alpha", 1)) }),
		"celu":    torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return CELU(s, x[0], a.floatOr("alpha", 1)) }),
		"prelu":   torchBinary(PReLU),
		"glu":     torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return GLU(s, x[0], a.int("dim")) }),
		"softmin": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Softmin(s, x[0], a.int("dim")) }),
	})
}
