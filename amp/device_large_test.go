package amp

import (
	"fmt"
	"testing"
)

// Cases large enough for what kernels do with 16-byte accesses, splits, tiles and tensor cores, which the small cases of every row do not
// reach. Sizes are not round on purpose, except where they have to be.
func largeCases() map[string]opCase {
	one := func(f func(s *Scope, x *Tensor) *Tensor, shape ...int) opCase {
		return unaryCase(f, in(-2, 2, shape...))
	}
	two := func(f func(s *Scope, x, y *Tensor) *Tensor, x, y input) opCase { return binaryCase("", f, x, y) }
	three := func(f func(s *Scope, x []*Tensor) *Tensor, x ...input) opCase { return opCase{inputs: x, call: f} }
	t := func(s *Scope, x *Tensor) *Tensor { return Transpose(s, x, -1, -2) }
	cases := map[string]opCase{
		"exp/vectors": one(Exp, 3, 1031), "gelu/vectors": one(GELU, 64, 256), "gelu_tanh/odd": one(GELUTanh, 7, 333), "silu/vectors": one(SiLU, 4096),
		"tanh/transposed":  one(func(s *Scope, x *Tensor) *Tensor { return Tanh(s, t(s, x)) }, 40, 72),
		"add/row":          two(Add, in(-2, 2, 60, 128), in(-2, 2, 128)),
		"mul/column":       two(Mul, in(-2, 2, 60, 128), in(-2, 2, 60, 1)),
		"div/middle":       two(Div, in(-2, 2, 6, 10, 64), in(1, 2, 1, 10, 1)),
		"contiguous":       one(func(s *Scope, x *Tensor) *Tensor { return Contiguous(s, Permute(s, x, 2, 0, 1)) }, 6, 33, 40),
		"where":            two(func(s *Scope, x, y *Tensor) *Tensor { return Where(s, Lt(s, x, y), x, y) }, in(-2, 2, 37, 64), in(-2, 2, 64)),
		"sum/all":          one(func(s *Scope, x *Tensor) *Tensor { return Sum(s, x) }, 100003),
		"sum/split":        one(func(s *Scope, x *Tensor) *Tensor { return Sum(s, x) }, 256, 1024),
		"sum/rows":         one(func(s *Scope, x *Tensor) *Tensor { return Sum(s, x, 1) }, 37, 1000),
		"sum/columns":      one(func(s *Scope, x *Tensor) *Tensor { return Sum(s, x, 0) }, 1000, 70),
		"mean/ends":        one(func(s *Scope, x *Tensor) *Tensor { return Mean(s, x, 0, 2) }, 30, 17, 64),
		"var/rows":         one(func(s *Scope, x *Tensor) *Tensor { return Var(s, x, 1) }, 20, 515),
		"logsumexp":        one(func(s *Scope, x *Tensor) *Tensor { return LogSumExp(s, x, 1) }, 20, 515),
		"norm":             one(func(s *Scope, x *Tensor) *Tensor { return Norm(s, x) }, 3000),
		"amax":             one(func(s *Scope, x *Tensor) *Tensor { return Amax(s, x, 1) }, 20, 515),
		"bmm":              two(BMM, in(-1, 1, 3, 70, 64), in(-1, 1, 3, 64, 40)),
		"matmul/odd":       two(MatMul, in(-1, 1, 67, 45), in(-1, 1, 45, 51)),
		"matmul/split":     two(MatMul, in(-1, 1, 32, 2048), in(-1, 1, 2048, 24)),
		"matmul/stacked":   two(MatMul, in(-1, 1, 4, 40, 64), in(-1, 1, 64, 72)),
		"matmul/broadcast": two(MatMul, in(-1, 1, 4, 1, 40, 32), in(-1, 1, 3, 32, 24)),
		"linear":           three(func(s *Scope, x []*Tensor) *Tensor { return Linear(s, x[0], x[1], x[2]) }, in(-1, 1, 150, 96), in(-1, 1, 200, 96), in(-1, 1, 200)),
		"addmm":            three(func(s *Scope, x []*Tensor) *Tensor { return Addmm(s, x[0], x[1], x[2], 0.5, 2) }, in(-1, 1, 88), in(-1, 1, 72, 40), in(-1, 1, 40, 88)),
		"conv2d": three(func(s *Scope, x []*Tensor) *Tensor { return Conv2d(s, x[0], x[1], x[2], Stride(2), Padding(1)) },
			in(-1, 1, 3, 16, 15, 13), in(-1, 1, 24, 16, 3, 3), in(-1, 1, 24)),
		"conv2d/same": three(func(s *Scope, x []*Tensor) *Tensor { return Conv2d(s, x[0], x[1], nil, Padding(1)) }, in(-1, 1, 2, 32, 12, 12), in(-1, 1, 40, 32, 3, 3)),
		"conv2d/groups": three(func(s *Scope, x []*Tensor) *Tensor {
			return Conv2d(s, x[0], x[1], nil, Groups(2), Dilation(2), Padding(2))
		},
			in(-1, 1, 2, 32, 12, 12), in(-1, 1, 64, 16, 3, 3)),
		"conv_transpose2d": three(func(s *Scope, x []*Tensor) *Tensor {
			return ConvTranspose2d(s, x[0], x[1], x[2], Stride(2), Padding(1))
		},
			in(-1, 1, 2, 32, 7, 9), in(-1, 1, 32, 24, 4, 4), in(-1, 1, 24)),
		"max_pool2d": one(func(s *Scope, x *Tensor) *Tensor { return MaxPool2d(s, x, 3, Stride(2), Padding(1)) }, 2, 5, 17, 19),
		"avg_pool2d": one(func(s *Scope, x *Tensor) *Tensor { return AvgPool2d(s, x, 3, Stride(2), Padding(1)) }, 2, 5, 17, 19),
		"batch_norm": three(func(s *Scope, x []*Tensor) *Tensor { return BatchNorm(s, x[0], x[1], x[2], BatchNormState{Eps: 1e-5}) },
			in(-2, 2, 6, 20, 8, 8), in(0.5, 1, 20), in(-1, 1, 20)),
		"batch_norm/split": three(func(s *Scope, x []*Tensor) *Tensor { return BatchNorm(s, x[0], x[1], x[2], BatchNormState{Eps: 1e-5}) },
			in(-2, 2, 24, 4, 40, 40), in(0.5, 1, 4), in(-1, 1, 4)), // sums in parts
		"batch_norm/columns": three(func(s *Scope, x []*Tensor) *Tensor { return BatchNorm(s, x[0], x[1], x[2], BatchNormState{Eps: 1e-5}) },
			in(-2, 2, 300, 20), in(0.5, 1, 20), in(-1, 1, 20)),
		"group_norm": three(func(s *Scope, x []*Tensor) *Tensor { return GroupNorm(s, x[0], 4, x[1], x[2], 1e-5) }, in(-2, 2, 3, 20, 9, 7), in(0.5, 1, 20), in(-1, 1, 20)),
		"embedding": one(func(s *Scope, w *Tensor) *Tensor {
			index := make([]int64, 700)
			for i := range index {
				index[i] = int64(i * i % 41)
			}
			return Embedding(s, w, fixed(index, 7, 100))
		}, 50, 72),
		"cross_entropy": one(func(s *Scope, x *Tensor) *Tensor {
			target := make([]int64, x.Dim(0))
			for i := range target {
				target[i] = int64(i * 7 % x.Dim(1))
			}
			target[3] = IgnoreIndex
			return CrossEntropy(s, x, fixed(target))
		}, 60, 1000),
		"dropout": one(func(s *Scope, x *Tensor) *Tensor { return Dropout(s, x, 0.3) }, 1037),
		"mse":     two(func(s *Scope, x, y *Tensor) *Tensor { return MSELoss(s, x, y) }, in(-2, 2, 30, 512), in(-2, 2, 30, 512)),
	}
	attention := func(opts Attention, mask func(s *Scope) *Tensor, x ...input) opCase {
		return opCase{inputs: x, call: func(s *Scope, x []*Tensor) *Tensor {
			var m *Tensor
			if mask != nil {
				m = mask(s)
			}
			return ScaledDotProductAttention(s, x[0], x[1], x[2], m, opts)
		}}
	}
	lower := func(s *Scope) *Tensor { return Gt(s, Tril(s, Full(s, Float32, 1, 40, 90), 20), Zeros(s, Float32, 1)) }
	square, cross := in(-1, 1, 2, 3, 70, 64), []input{in(-1, 1, 3, 40, 24), in(-1, 1, 3, 90, 24), in(-1, 1, 3, 90, 40)}
	cases["attention"] = attention(Attention{Causal: true}, nil, square, square, square)
	cases["attention/cross"] = attention(Attention{}, nil, cross...)
	cases["attention/mask"] = attention(Attention{}, lower, cross...)
	cases["attention/wide"] = attention(Attention{Causal: true}, nil, in(-1, 1, 130, 128), in(-1, 1, 130, 128), in(-1, 1, 130, 96))
	for name, terms := range map[string]int{"sum/all": 1 << 18, "sum/split": 1 << 18, "batch_norm/split": 24 * 40 * 40} {
		c := cases[name]
		c.terms = terms
		cases[name] = c
	}
	for _, n := range []int{7, 100, 512, 1000, 4096, 10000} {
		name := fmt.Sprint(n)
		cases["softmax/"+name] = one(func(s *Scope, x *Tensor) *Tensor { return Softmax(s, x, 1) }, 5, n)
		cases["log_softmax/"+name] = one(func(s *Scope, x *Tensor) *Tensor { return LogSoftmax(s, x, 1) }, 5, n)
		cases["layer_norm/"+name] = three(func(s *Scope, x []*Tensor) *Tensor { return LayerNorm(s, x[0], x[1], x[2], 1e-5) }, in(-2, 2, 9, n), in(0.5, 1, n), in(-1, 1, n))
		cases["rms_norm/"+name] = three(func(s *Scope, x []*Tensor) *Tensor { return RMSNorm(s, x[0], x[1], 1e-5) }, in(-2, 2, 9, n), in(0.5, 1, n))
		cases["layer_norm/residual"+name] = three(residualNorm, in(-2, 2, 9, n), in(0.5, 1, n), in(-1, 1, n))
		cases["softmax/first"+name] = one(func(s *Scope, x *Tensor) *Tensor { return Softmax(s, x, 0) }, n, 3)
	}
	for _, lines := range []int{300, 1300} { // sums over lines in few parts and in many
		name := fmt.Sprintf("%d lines", lines)
		cases["layer_norm/"+name] = three(func(s *Scope, x []*Tensor) *Tensor { return LayerNorm(s, x[0], x[1], x[2], 1e-5) }, in(-2, 2, lines, 31), in(0.5, 1, 31), in(-1, 1, 31))
		cases["rms_norm/"+name] = three(func(s *Scope, x []*Tensor) *Tensor { return RMSNorm(s, x[0], x[1], 1e-5) }, in(-2, 2, lines, 64), in(0.5, 1, 64))
	}
	return cases
}

// residualNorm is a block of a residual network: its input has a gradient from elsewhere when the norm's comes.
func residualNorm(s *Scope, x []*Tensor) *Tensor {
	h := MulScalar(s, x[0], 1.5)
	return Add(s, h, LayerNorm(s, h, x[1], x[2], 1e-5))
}

// TestLargeOnDevice compares large cases, and their gradients, on the device of HALFTONE_COMPARE_DEVICE and on the CPU.
func TestLargeOnDevice(t *testing.T) {
	device := compared(t)
	for name, c := range largeCases() {
		c.terms = max(200, c.terms) // products, and long sums, cancel
		t.Run(name, func(t *testing.T) { c.compareOn(t, device, 4) })
	}
}
