package amp

// Calls of the activations and other functions of one or two tensors.

// torchNumber calls a function of a tensor and a number.
func torchNumber(f func(*Scope, *Tensor, float64) *Tensor, name string, v float64) torchCall {
	return torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return f(s, x[0], a.or(name, v)) })
}

func init() {
	addTorch(map[string]torchCall{
		"__rpow__": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return ScalarPow(s, a.float("c"), x[0]) }),
		"__rdiv__": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return ScalarDiv(s, a.float("c"), x[0]) }),
		"relu6":    torchUnary(ReLU6), "selu": torchUnary(SELU), "mish": torchUnary(Mish), "hardswish": torchUnary(Hardswish), "hardsigmoid": torchUnary(Hardsigmoid),
		"softsign": torchUnary(Softsign), "logsigmoid": torchUnary(LogSigmoid), "tanhshrink": torchUnary(Tanhshrink), "prelu": torchBinary(PReLU),
		"leaky_relu": torchNumber(LeakyReLU, "negative_slope", 0.01), "elu": torchNumber(ELU, "alpha", 1), "celu": torchNumber(CELU, "alpha", 1),
		"softshrink": torchNumber(Softshrink, "lambd", 0.5), "hardshrink": torchNumber(Hardshrink, "lambd", 0.5),
		"rrelu": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return RReLU(s.Eval(), x[0], a.float("lower"), a.float("upper"))
		}),
		"clamp_tensor": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			if len(x) == 2 {
				return ClampTensors(s, x[0], nil, x[1])
			}
			return ClampTensors(s, x[0], x[1], x[2])
		}),
		"quantile": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Quantile(s, x[0], a.floats("q"), a.int("dim"))
		}),
		"hardtanh": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Hardtanh(s, x[0], a.or("min_val", -1), a.or("max_val", 1))
		}),
		"threshold": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Threshold(s, x[0], a.float("threshold"), a.float("value"))
		}),
		"gelu": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			if a.has("approximate") {
				return GELUTanh(s, x[0])
			}
			return GELU(s, x[0])
		}),
		"softplus": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return SoftplusBeta(s, x[0], a.or("beta", 1), a.or("threshold", 20))
		}),
		"glu":     torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return GLU(s, x[0], a.int("dim")) }),
		"softmin": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Softmin(s, x[0], a.int("dim")) }),
		"floor":   torchUnary(Floor), "ceil": torchUnary(Ceil), "round": torchUnary(Round), "trunc": torchUnary(Trunc), "frac": torchUnary(Frac),
		"fmod": torchBinary(Fmod), "remainder": torchBinary(Remainder), "floor_divide": torchBinary(FloorDivide), "square": torchUnary(Square), "exp2": torchUnary(Exp2),
		"lgamma": torchUnary(Lgamma), "digamma": torchUnary(Digamma),
		"polygamma": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Polygamma(s, a.int("n"), x[0]) }),
		"erfinv":    torchUnary(Erfinv), "atan": torchUnary(Atan), "asinh": torchUnary(Asinh), "acosh": torchUnary(Acosh), "atanh": torchUnary(Atanh),
		"bitwise_and": torchBinary(BitwiseAnd), "bitwise_or": torchBinary(BitwiseOr), "bitwise_xor": torchBinary(BitwiseXor), "bitwise_not": torchUnary(BitwiseNot),
		"bitwise_left_shift": torchBinary(BitwiseLeftShift), "bitwise_right_shift": torchBinary(BitwiseRightShift),
		"isnan": torchUnary(IsNaN), "isinf": torchUnary(IsInf), "isfinite": torchUnary(IsFinite), "logical_not": torchUnary(LogicalNot),
		"logical_and": torchBinary(LogicalAnd), "logical_or": torchBinary(LogicalOr), "logical_xor": torchBinary(LogicalXor),
	})
}
