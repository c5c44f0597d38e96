package amp

import (
	"maps"
	"strings"
	"testing"
)

// A torchCall calls a row with a case's arguments and inputs.
type torchCall func(s *Scope, a torchArgs, x []*Tensor) []*Tensor

// torchless says why a differentiable row has no vectors. Those that run within vectors of another op, such as the rows of gradients,
// need none of their own.
var torchless = map[string]string{
	"dropout":            "PyTorch draws other random numbers",
	"feature_dropout":    "PyTorch draws other random numbers",
	"alpha_dropout":      "PyTorch draws other random numbers",
	"rrelu":              "PyTorch draws other random numbers; where it draws none it has vectors",
	"max_pool_values":    "part of the second gradient of max pools",
	"ctc_loss_curvature": "PyTorch has no second derivative of ctc_loss; TestEveryOpSecondOrder has it",
	"abs_pow":            "part of the second gradients of norms, which have vectors of the first",
	"to_device":          "copies bits; TestGradientsCrossDevices has its gradients",
	"quantize":           "asks what a format would do; PyTorch has no such op",
	"quantize_scaled":    "PyTorch has no such op; TestTorchFP8 and TestTorchFP4 have the roundings of its casts",
	"hadamard":           "PyTorch has no such op; TestTorchFP4 has torchao's transform",
}

func addTorch(calls map[string]torchCall) { maps.Copy(torchCalls, calls) }

func torchUnary(f func(*Scope, *Tensor) *Tensor) torchCall {
	return func(s *Scope, _ torchArgs, x []*Tensor) []*Tensor { return []*Tensor{f(s, x[0])} }
}

func torchBinary(f func(*Scope, *Tensor, *Tensor) *Tensor) torchCall {
	return func(s *Scope, _ torchArgs, x []*Tensor) []*Tensor { return []*Tensor{f(s, x[0], x[1])} }
}

// torchOne calls a function with one result.
func torchOne(f func(s *Scope, a torchArgs, x []*Tensor) *Tensor) torchCall {
	return func(s *Scope, a torchArgs, x []*Tensor) []*Tensor { return []*Tensor{f(s, a, x)} }
}

func torchPair(f func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor)) torchCall {
	return func(s *Scope, a torchArgs, x []*Tensor) []*Tensor {
		y, z := f(s, a, x)
		return []*Tensor{y, z}
	}
}

func torchLoss(f func(s *Scope, x, t *Tensor, o ...LossOption) *Tensor) torchCall {
	return torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return f(s, x[0], x[1], a.reduction()) })
}

// torchCalls holds the call of every op in the vectors.
var torchCalls = map[string]torchCall{
	"add": torchBinary(Add), "sub": torchBinary(Sub), "mul": torchBinary(Mul), "div": torchBinary(Div), "pow": torchBinary(Pow), "atan2": torchBinary(Atan2),
	"neg": torchUnary(Neg), "exp": torchUnary(Exp), "log": torchUnary(Log), "sqrt": torchUnary(Sqrt), "abs": torchUnary(Abs), "sign": torchUnary(Sign),
	"sin": torchUnary(Sin), "cos": torchUnary(Cos), "tan": torchUnary(Tan), "sinh": torchUnary(Sinh), "cosh": torchUnary(Cosh), "tanh": torchUnary(Tanh),
	"asin": torchUnary(Asin), "acos": torchUnary(Acos), "erf": torchUnary(Erf), "expm1": torchUnary(Expm1), "log1p": torchUnary(Log1p), "log2": torchUnary(Log2),
	"log10": torchUnary(Log10), "reciprocal": torchUnary(Reciprocal), "rsqrt": torchUnary(Rsqrt), "sigmoid": torchUnary(Sigmoid), "relu": torchUnary(ReLU), "silu": torchUnary(SiLU),
	"eq": torchBinary(Eq), "ne": torchBinary(Ne), "lt": torchBinary(Lt), "le": torchBinary(Le), "gt": torchBinary(Gt), "ge": torchBinary(Ge),
	"add_scalar": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return AddScalar(s, x[0], a.float("c")) }),
	"mul_scalar": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return MulScalar(s, x[0], a.float("c")) }),
	"pow_scalar": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return PowScalar(s, x[0], a.float("exponent")) }),
	"addcmul": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return Addcmul(s, x[0], x[1], x[2], a.float("value"))
	}),
	"addcdiv": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return Addcdiv(s, x[0], x[1], x[2], a.float("value"))
	}),
	"where": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Where(s, x[0], x[1], x[2]) }),
	"clamp": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		switch {
		case !a.has("min"):
			return ClampMax(s, x[0], a.float("max"))
		case !a.has("max"):
			return ClampMin(s, x[0], a.float("min"))
		}
		return Clamp(s, x[0], a.float("min"), a.float("max"))
	}),

	"sum": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		if a.bool("keepdim") {
			return SumKeep(s, x[0], a.ints("dim")...)
		}
		return Sum(s, x[0], a.ints("dim")...)
	}),
	"mean":        torchReduction(Mean),
	"logsumexp":   torchReduction(LogSumExp),
	"var":         torchSpread(VarCorrection),
	"std":         torchSpread(StdCorrection),
	"norm":        torchReduction(Norm),
	"cumsum":      torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Cumsum(s, x[0], a.int("dim")) }),
	"softmax":     torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Softmax(s, x[0], a.int("dim")) }),
	"log_softmax": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return LogSoftmax(s, x[0], a.int("dim")) }),
	"max":         torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) { return Max(s, x[0], a.int("dim")) }),
	"min":         torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) { return Min(s, x[0], a.int("dim")) }),
	"argmax":      torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return ArgMax(s, x[0], a.int("dim")) }),
	"argmin":      torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return ArgMin(s, x[0], a.int("dim")) }),

	"reshape":    torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Reshape(s, x[0], a.ints("shape")...) }),
	"transpose":  torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Permute(s, x[0], a.ints("dims")...) }),
	"expand":     torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Expand(s, x[0], a.ints("shape")...) }),
	"contiguous": torchUnary(func(s *Scope, x *Tensor) *Tensor { return Contiguous(s, Transpose(s, x, 0, 1)) }),
	"cast": torchUnary(func(s *Scope, x *Tensor) *Tensor {
		return To(s, x, map[DType]DType{BFloat16: Float32, Float32: Float32, Float64: Float64}[x.dt])
	}),
	"narrow": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return Narrow(s, x[0], a.int("dim"), a.int("start"), a.int("length"))
	}),
	"cat":    torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Cat(s, a.int("dim"), x...) }),
	"stack":  torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Stack(s, a.int("dim"), x...) }),
	"split":  func(s *Scope, a torchArgs, x []*Tensor) []*Tensor { return Split(s, x[0], a.int("size"), a.int("dim")) },
	"gather": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Gather(s, x[0], a.int("dim"), x[1]) }),
	"embedding": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		if a.has("padding_idx") {
			return EmbeddingPadded(s, x[0], x[1], a.int("padding_idx"))
		}
		return Embedding(s, x[0], x[1])
	}),

	"matmul": torchBinary(MatMul), "mm": torchBinary(MM), "bmm": torchBinary(BMM), "mv": torchBinary(MV), "dot": torchBinary(Dot),
	"linear":       torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Linear(s, x[0], x[1], x[2]) }),
	"addmm":        torchScaled(Addmm),
	"addmv":        torchScaled(Addmv),
	"addr":         torchScaled(Addr),
	"addbmm":       torchScaled(Addbmm),
	"baddbmm":      torchScaled(Baddbmm),
	"chain_matmul": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return ChainMatMul(s, x...) }),

	"layer_norm": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return LayerNorm(s, x[0], x[1], x[2], a.float("eps"))
	}),
	"rms_norm": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return RMSNorm(s, x[0], x[1], a.float("eps")) }),

	"mse_loss": torchLoss(MSELoss), "l1_loss": torchLoss(L1Loss), "binary_cross_entropy": torchLoss(BCE), "binary_cross_entropy_with_logits": torchLoss(BCEWithLogits),
	"nll_loss": torchLoss(NLLLoss), "cross_entropy": torchLoss(CrossEntropy),
	"smooth_l1_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return SmoothL1Loss(s, x[0], x[1], a.float("beta"), a.reduction())
	}),
	"huber_loss": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return HuberLoss(s, x[0], x[1], a.float("delta"), a.reduction())
	}),
	"gelu":     torchUnary(GELU),
	"softplus": torchUnary(Softplus),
}

func torchReduction(f func(s *Scope, x *Tensor, dims ...int) *Tensor) torchCall {
	return torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		y := f(s, x[0], a.ints("dim")...)
		if a.has("keepdim") && a.bool("keepdim") {
			kept := x[0].Shape()
			for _, d := range a.ints("dim") {
				kept[d] = 1
			}
			y = Reshape(s, y, kept...)
		}
		return y
	})
}

// torchSpread calls var or std.
func torchSpread(f func(s *Scope, x *Tensor, correction float64, dims ...int) *Tensor) torchCall {
	return func(s *Scope, a torchArgs, x []*Tensor) []*Tensor {
		return torchReduction(func(s *Scope, x *Tensor, dims ...int) *Tensor { return f(s, x, a.or("correction", 1), dims...) })(s, a, x)
	}
}

func torchScaled(f func(s *Scope, x, a, b *Tensor, beta, alpha float64) *Tensor) torchCall {
	return torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return f(s, x[0], x[1], x[2], a.float("beta"), a.float("alpha"))
	})
}

// torchGaps reports differentiable rows and composites of which no vector tells anything.
func torchGaps(t *testing.T, cases map[string]int, ran map[string]bool) {
	for o := range Ops() {
		if o.InPlace || !o.Differentiable() && len(o.Composite) == 0 || cases[o.Name] > 0 || ran[o.Name] || torchless[strings.TrimSuffix(o.Name, "_backward")] != "" {
			continue
		}
		t.Errorf("row %s has no vectors of torch: add a case to testdata/torch and its call here, or the reason to torchless", o.Name)
	}
}
