package amp

import (
	"fmt"
	"testing"
)

// An opCase says how a test calls a row: every row needs at least one, which TestEveryOpHasCase checks.
type opCase struct {
	name   string  // of the variant, "" if there is one
	inputs []input // float tensors the call takes
	call   func(s *Scope, in []*Tensor) *Tensor
	flat   bool // piecewise linear: the second derivative is zero
	// through marks a straight-through estimator: the gradient is that of the identity, whatever differences say.
	through bool
	// terms counts the products of numbers up to 1 that a float32 accumulator sums and that may cancel: each may round once more.
	terms int
	// ties marks a choice among sums that halves round: many large ones are then equal, and the gradient goes to another than float64's.
	ties bool
	// products marks sums of products of more than two numbers up to 1: products of two are rounded to the dtype on the way, and what is summed may cancel.
	products bool
	// compute is the widest dtype of the row's inputs where the call itself makes one that is the same whatever it is given: factors.
	compute DType
}

// An input is a shape and the range its values are drawn from, kept off kinks and poles.
type input struct {
	shape  []int
	lo, hi float64
}

func in(lo, hi float64, shape ...int) input { return input{shape, lo, hi} }

func unaryCase(f func(*Scope, *Tensor) *Tensor, x input) opCase {
	return opCase{inputs: []input{x}, call: func(s *Scope, in []*Tensor) *Tensor { return f(s, in[0]) }}
}

func binaryCase(name string, f func(*Scope, *Tensor, *Tensor) *Tensor, x, y input) opCase {
	return opCase{name: name, inputs: []input{x, y}, call: func(s *Scope, in []*Tensor) *Tensor { return f(s, in[0], in[1]) }}
}

// lossCases are the three reductions of a loss of two tensors.
func lossCases(f func(s *Scope, x, y *Tensor, r Reduction) *Tensor, x, y input, flat bool) []opCase {
	var out []opCase
	for i, name := range []string{"mean", "sum", "none"} {
		c := binaryCase(name, func(s *Scope, a, b *Tensor) *Tensor { return f(s, a, b, Reduction(i)) }, x, y)
		c.flat = flat
		out = append(out, c)
	}
	return out
}

func classes() *Tensor { return fixed([]int64{2, 0, IgnoreIndex, 1}) }

// opCases holds the calls of every differentiable row.
var opCases = map[string][]opCase{
	"add": {
		binaryCase("same", Add, in(-2, 2, 2, 3), in(-2, 2, 2, 3)),
		binaryCase("broadcast", Add, in(-2, 2, 2, 3), in(-2, 2, 3)),
		binaryCase("both", Add, in(-2, 2, 2, 1), in(-2, 2, 1, 3)),
	},
	"sub":        {binaryCase("", Sub, in(-2, 2, 2, 3), in(-2, 2, 2, 1))},
	"mul":        {binaryCase("", Mul, in(-2, 2, 2, 3), in(-2, 2, 3)), binaryCase("scalar", Mul, in(-2, 2, 2, 3), in(-2, 2))},
	"div":        {binaryCase("", Div, in(-2, 2, 2, 3), in(0.5, 2, 3))},
	"neg":        {unaryCase(Neg, in(-2, 2, 2, 3))},
	"add_scalar": {unaryCase(func(s *Scope, x *Tensor) *Tensor { return AddScalar(s, x, 1.5) }, in(-2, 2, 2, 3))},
	"mul_scalar": {unaryCase(func(s *Scope, x *Tensor) *Tensor { return MulScalar(s, x, 1.5) }, in(-2, 2, 2, 3))},
	"exp":        {unaryCase(Exp, in(-1, 1, 2, 3))},
	"log":        {unaryCase(Log, in(0.5, 3, 2, 3))},
	"sqrt":       {unaryCase(Sqrt, in(0.5, 3, 2, 3))},
	"pow":        {binaryCase("", Pow, in(0.5, 2, 2, 3), in(-2, 2, 3))},
	"pow_scalar": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return PowScalar(s, x, 2.5) }, in(0.5, 2, 2, 3)),
		{name: "cube", inputs: []input{in(-2, 2, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return PowScalar(s, x[0], 3) }},
	},
	"xmul": {binaryCase("", zeroTimes, in(0.5, 2, 2, 3), in(-2, 2, 3))},
	"relu": {{name: "", inputs: []input{in(0.1, 2, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return ReLU(s, MulScalar(s, x[0], -1.5)) }, flat: true}, {name: "positive", inputs: []input{in(0.1, 2, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return ReLU(s, x[0]) }, flat: true}},
	"relu_backward": {{inputs: []input{in(-2, 2, 4)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor {
		return s.apply(opReLUBackward, Attrs{}, x[0], castLike(x[0], []float64{1, 0, 2, 0}))
	}}},
	"sum": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return Sum(s, x) }, in(-2, 2, 2, 3)),
		{name: "first", inputs: []input{in(-2, 2, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return Sum(s, x[0], 0) }},
		{name: "ends", inputs: []input{in(-2, 2, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return Sum(s, x[0], 0, -1) }},
		{name: "keep", inputs: []input{in(-2, 2, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return SumKeep(s, x[0], 1) }},
	},
	"mean": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return Mean(s, x) }, in(-2, 2, 2, 3)),
		{name: "middle", inputs: []input{in(-2, 2, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return Mean(s, x[0], 1) }},
		{name: "keep", inputs: []input{in(-2, 2, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return Mul(s, x[0], MeanKeep(s, x[0], 1)) }},
	},
	"softmax": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return Softmax(s, x, -1) }, in(-2, 2, 2, 3)),
		{name: "first", inputs: []input{in(-2, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return Softmax(s, x[0], 0) }},
	},
	"log_softmax": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return LogSoftmax(s, x, -1) }, in(-2, 2, 2, 3)),
		{name: "middle", inputs: []input{in(-2, 2, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return LogSoftmax(s, x[0], 1) }},
	},
	"reshape":    {unaryCase(func(s *Scope, x *Tensor) *Tensor { return Reshape(s, x, 3, -1) }, in(-2, 2, 2, 3))},
	"transpose":  {unaryCase(func(s *Scope, x *Tensor) *Tensor { return Permute(s, x, 2, 0, 1) }, in(-2, 2, 2, 3, 2))},
	"expand":     {unaryCase(func(s *Scope, x *Tensor) *Tensor { return Expand(s, x, 4, 2, 3) }, in(-2, 2, 2, 1))},
	"contiguous": {unaryCase(func(s *Scope, x *Tensor) *Tensor { return Contiguous(s, Transpose(s, x, 0, 1)) }, in(-2, 2, 2, 3))},
	"to_device":  {unaryCase(func(s *Scope, x *Tensor) *Tensor { return s.apply(opToDevice, Attrs{}, x) }, in(-2, 2, 2, 3))},
	"cast":       {unaryCase(func(s *Scope, x *Tensor) *Tensor { return s.cast(x, x.dt, ruleCastUser, nil, 0, 0) }, in(-2, 2, 2, 3))},
	"matmul": {
		binaryCase("2d", MatMul, in(-1, 1, 2, 3), in(-1, 1, 3, 4)),
		binaryCase("batched", MatMul, in(-1, 1, 2, 2, 3), in(-1, 1, 3, 2)),
		binaryCase("broadcast", MatMul, in(-1, 1, 2, 1, 2, 3), in(-1, 1, 3, 3, 2)),
		binaryCase("vectors", MatMul, in(-1, 1, 3), in(-1, 1, 3)),
		binaryCase("column", MatMul, in(-1, 1, 2, 3), in(-1, 1, 3)),
	},
	"linear": {
		{name: "2d", inputs: []input{in(-1, 1, 2, 3), in(-1, 1, 4, 3), in(-1, 1, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return Linear(s, x[0], x[1], x[2]) }},
		{name: "3d", inputs: []input{in(-1, 1, 2, 2, 3), in(-1, 1, 2, 3), in(-1, 1, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return Linear(s, x[0], x[1], x[2]) }},
		{name: "vector", inputs: []input{in(-1, 1, 3), in(-1, 1, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return Linear(s, x[0], x[1], nil) }},
		{name: "transposed", inputs: []input{in(-1, 1, 3, 2), in(-1, 1, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return Linear(s, Transpose(s, x[0], 0, 1), x[1], nil) }},
	},
	"mse_loss": {
		binaryCase("mean", func(s *Scope, x, y *Tensor) *Tensor { return MSELoss(s, x, y) }, in(-2, 2, 2, 3), in(-2, 2, 2, 3)),
		binaryCase("sum", func(s *Scope, x, y *Tensor) *Tensor { return MSELoss(s, x, y, ReduceSum) }, in(-2, 2, 2, 3), in(-2, 2, 2, 3)),
		binaryCase("none", func(s *Scope, x, y *Tensor) *Tensor { return MSELoss(s, x, y, ReduceNone) }, in(-2, 2, 2, 3), in(-2, 2, 2, 3)),
	},
	"nll_loss": {
		{name: "mean", inputs: []input{in(-3, 0, 4, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return NLLLoss(s, x[0], classes()) }},
		{name: "none", inputs: []input{in(-3, 0, 4, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return NLLLoss(s, x[0], classes(), ReduceNone) }},
	},
	"nll_loss_backward": {{inputs: []input{in(-2, 2)}, call: func(s *Scope, x []*Tensor) *Tensor {
		return s.apply(opNLLLossBackward, Attrs{Shape: []int{4, 3}, Ignore: IgnoreIndex}, x[0], classes())
	}}},
	"sigmoid":    {unaryCase(Sigmoid, in(-3, 3, 2, 3))},
	"tanh":       {unaryCase(Tanh, in(-2, 2, 2, 3))},
	"sin":        {unaryCase(Sin, in(-3, 3, 2, 3))},
	"cos":        {unaryCase(Cos, in(-3, 3, 2, 3))},
	"erf":        {unaryCase(Erf, in(-2, 2, 2, 3))},
	"expm1":      {unaryCase(Expm1, in(-1, 1, 2, 3))},
	"log1p":      {unaryCase(Log1p, in(-0.5, 2, 2, 3))},
	"log2":       {unaryCase(Log2, in(0.5, 3, 2, 3))},
	"log10":      {unaryCase(Log10, in(0.5, 3, 2, 3))},
	"reciprocal": {unaryCase(Reciprocal, in(0.5, 3, 2, 3))},
	"rsqrt":      {unaryCase(Rsqrt, in(0.5, 3, 2, 3))},
	"tan":        {unaryCase(Tan, in(-1, 1, 2, 3))},
	"sinh":       {unaryCase(Sinh, in(-1, 1, 2, 3))},
	"cosh":       {unaryCase(Cosh, in(-1, 1, 2, 3))},
	"asin":       {unaryCase(Asin, in(-0.8, 0.8, 2, 3))},
	"acos":       {unaryCase(Acos, in(-0.8, 0.8, 2, 3))},
	"gelu":       {unaryCase(GELU, in(-2, 2, 2, 3))},
	"silu":       {unaryCase(SiLU, in(-2, 2, 2, 3))},
	"softplus":   {unaryCase(Softplus, in(-2, 2, 2, 3))},
	"sign":       {{inputs: []input{in(0.1, 2, 2, 3)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor { return Sign(s, Neg(s, x[0])) }}},
	"abs":        {{inputs: []input{in(0.1, 2, 2, 3)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor { return Abs(s, MulScalar(s, x[0], -1.5)) }}},
	"where": {{inputs: []input{in(-2, 2, 2, 3), in(-2, 2, 3)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor {
		return Where(s, fixed([]bool{true, false, true, false, false, true}, 2, 3), x[0], x[1])
	}}},
	"narrow": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 1, 1, 2) }, in(-2, 2, 2, 4)),
		{name: "twice", inputs: []input{in(-2, 2, 4, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
			return Narrow(s, Transpose(s, Narrow(s, x[0], 0, 1, 3), 0, 1), -1, 0, 2)
		}},
	},
	"narrow_backward": {unaryCase(func(s *Scope, x *Tensor) *Tensor {
		return s.apply(opNarrowBackward, Attrs{Dims: []int{1}, Start: 1, Shape: []int{2, 5}}, x)
	}, in(-2, 2, 2, 3))},
	"cat": {
		binaryCase("first", func(s *Scope, x, y *Tensor) *Tensor { return Cat(s, 0, x, y, x) }, in(-2, 2, 2, 3), in(-2, 2, 1, 3)),
		binaryCase("last", func(s *Scope, x, y *Tensor) *Tensor { return Cat(s, -1, x, y) }, in(-2, 2, 2, 3), in(-2, 2, 2, 1)),
	},
	"stack": {binaryCase("", func(s *Scope, x, y *Tensor) *Tensor { return Stack(s, 1, x, y) }, in(-2, 2, 2, 3), in(-2, 2, 2, 3))},
	"gather": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return Gather(s, x, 1, fixed([]int64{2, 0, 2, 1}, 2, 2)) }, in(-2, 2, 2, 3)),
		{name: "max", inputs: []input{in(-2, 2, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { v, _ := Max(s, x[0], 0); return v }},
	},
	"gather_backward": {unaryCase(func(s *Scope, x *Tensor) *Tensor {
		return s.apply(opGatherBackward, Attrs{Dims: []int{0}, Shape: []int{3, 2}}, x, fixed([]int64{2, 0, 2, 1}, 2, 2))
	}, in(-2, 2, 2, 2))},
	"embedding": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return Embedding(s, x, fixed([]int64{2, 0, 2, 3, 3, 3}, 3, 2)) }, in(-2, 2, 4, 3)),
		{name: "some", inputs: []input{in(-2, 2, 4, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return EmbeddingPadded(s, x[0], fixed([]int64{2, 0, 2}), 3) }},
	},
	"embedding_backward": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor {
			return s.apply(opEmbeddingBackward, Attrs{Shape: []int{4, 2}}, x, fixed([]int64{2, 0, 2}))
		}, in(-2, 2, 3, 2)),
		{name: "padded", inputs: []input{in(-2, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor {
			return s.apply(opEmbeddingBackward, Attrs{Shape: []int{4, 2}, Mode: padded, Ignore: 2}, x[0], fixed([]int64{2, 0, 2}))
		}},
	},
	"var": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return Var(s, x) }, in(-2, 2, 2, 3)),
		{name: "ends", inputs: []input{in(-2, 2, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return Var(s, x[0], 0, 2) }},
	},
	"std": {{name: "correction", inputs: []input{in(-2, 2, 3, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return StdCorrection(s, x[0], 0.5, 1) }}, {inputs: []input{in(-2, 2, 3, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return Std(s, x[0], 0) }}},
	"layer_norm": {
		{name: "affine", inputs: []input{in(-2, 2, 3, 4), in(0.5, 1.5, 4), in(-1, 1, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return LayerNorm(s, x[0], x[1], x[2], 1e-3) },
			terms: 1}, // the product and the bias may cancel
		{name: "two", inputs: []input{in(-2, 2, 2, 2, 3), in(0.5, 1.5, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return LayerNorm(s, x[0], x[1], nil, 1e-3) }},
		{name: "bare", inputs: []input{in(-2, 2, 3, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return LayerNorm(s, x[0], nil, nil, 1e-3) }},
	},
	"rms_norm": {
		{name: "weight", inputs: []input{in(-2, 2, 3, 4), in(0.5, 1.5, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return RMSNorm(s, x[0], x[1], 1e-3) }},
		{name: "bare", inputs: []input{in(-2, 2, 3, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return RMSNorm(s, x[0], nil, 1e-3) }},
	},
	"addcmul": {{inputs: []input{in(-2, 2, 2, 3), in(-2, 2, 3), in(-2, 2, 2, 1)}, call: func(s *Scope, x []*Tensor) *Tensor { return Addcmul(s, x[0], x[1], x[2], 0.7) }}},
	"addcdiv": {{inputs: []input{in(-2, 2, 2, 3), in(-2, 2, 3), in(0.5, 2, 2, 1)}, call: func(s *Scope, x []*Tensor) *Tensor { return Addcdiv(s, x[0], x[1], x[2], 0.7) }}},
	"atan2":   {binaryCase("", Atan2, in(0.2, 2, 2, 3), in(-2, -0.2, 3))},
	"dot":     {binaryCase("", Dot, in(-2, 2, 4), in(-2, 2, 4))},
	"logsumexp": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return LogSumExp(s, x) }, in(-2, 2, 2, 3)),
		{name: "ends", inputs: []input{in(-2, 2, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return LogSumExp(s, x[0], 0, -1) }},
	},
	"norm": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return Norm(s, x) }, in(-2, 2, 2, 3)),
		{name: "rows", inputs: []input{in(-2, 2, 2, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return Norm(s, x[0], 1) }},
	},
	"cumsum": {
		unaryCase(func(s *Scope, x *Tensor) *Tensor { return Cumsum(s, x, -1) }, in(-2, 2, 2, 3)),
		{name: "first", inputs: []input{in(-2, 2, 3, 2, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return Cumsum(s, x[0], 0) }},
	},
	"mm":  {binaryCase("", MM, in(-1, 1, 2, 3), in(-1, 1, 3, 4))},
	"bmm": {binaryCase("", BMM, in(-1, 1, 2, 2, 3), in(-1, 1, 2, 3, 4))},
	"mv":  {binaryCase("", MV, in(-1, 1, 2, 3), in(-1, 1, 3))},
	"addmm": {
		{name: "bias", terms: 4, inputs: []input{in(-1, 1, 4), in(-1, 1, 2, 3), in(-1, 1, 3, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return Addmm(s, x[0], x[1], x[2], 0.5, 1.5) }},
		{name: "full", terms: 4, inputs: []input{in(-1, 1, 2, 4), in(-1, 1, 2, 3), in(-1, 1, 3, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return Addmm(s, x[0], x[1], x[2], 1, 1) }},
	},
	"baddbmm":      {{terms: 4, inputs: []input{in(-1, 1, 2, 1, 4), in(-1, 1, 2, 2, 3), in(-1, 1, 2, 3, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return Baddbmm(s, x[0], x[1], x[2], 0.5, 1.5) }}},
	"addmv":        {{terms: 4, inputs: []input{in(-1, 1, 2), in(-1, 1, 2, 3), in(-1, 1, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return Addmv(s, x[0], x[1], x[2], 0.5, 1.5) }}},
	"addr":         {{inputs: []input{in(-1, 1, 3), in(-1, 1, 2), in(-1, 1, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return Addr(s, x[0], x[1], x[2], 0.5, 1.5) }}},
	"addbmm":       {{terms: 10, inputs: []input{in(-1, 1, 2, 4), in(-1, 1, 3, 2, 3), in(-1, 1, 3, 3, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return Addbmm(s, x[0], x[1], x[2], 0.5, 1.5) }}},
	"chain_matmul": {{inputs: []input{in(-1, 1, 2, 5), in(-1, 1, 5, 1), in(-1, 1, 1, 4)}, call: func(s *Scope, x []*Tensor) *Tensor { return ChainMatMul(s, x...) }}},
	"clamp": {
		{inputs: []input{in(-0.9, 0.9, 2, 3)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor { return Clamp(s, x[0], -1, 1) }},
		{name: "outside", inputs: []input{in(1.1, 2, 2, 3)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor { return Clamp(s, x[0], -1, 1) }},
	},
	"l1_loss":                          lossCases(func(s *Scope, x, y *Tensor, r Reduction) *Tensor { return L1Loss(s, x, y, r) }, in(1, 2, 2, 3), in(-2, 0.9, 2, 3), true),
	"smooth_l1_loss":                   lossCases(func(s *Scope, x, y *Tensor, r Reduction) *Tensor { return SmoothL1Loss(s, x, y, 0.8, r) }, in(0, 0.7, 2, 3), in(0, 0.7, 2, 3), false),
	"huber_loss":                       lossCases(func(s *Scope, x, y *Tensor, r Reduction) *Tensor { return HuberLoss(s, x, y, 0.5, r) }, in(2, 3, 2, 3), in(0, 1, 2, 3), true),
	"binary_cross_entropy_with_logits": lossCases(func(s *Scope, x, y *Tensor, r Reduction) *Tensor { return BCEWithLogits(s, x, y, r) }, in(-3, 3, 2, 3), in(0, 1, 2, 3), false),
	"binary_cross_entropy":             lossCases(func(s *Scope, x, y *Tensor, r Reduction) *Tensor { return BCE(s, x, y, r) }, in(0.2, 0.8, 2, 3), in(0, 1, 2, 3), false),
	"cross_entropy":                    {{inputs: []input{in(-2, 2, 4, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return CrossEntropy(s, x[0], classes()) }}},
}

// addCases adds the cases of a family of rows, from the init of its own file.
func addCases(cases map[string][]opCase) {
	for name, list := range cases {
		opCases[name] = append(opCases[name], list...)
	}
}

// castLike returns data in x's dtype.
func castLike(x *Tensor, data []float64) *Tensor {
	return fixedAs(x.dt, data, x.shape)
}

// eachCase runs f for every case of every row that can be called with float inputs.
func eachCase(t *testing.T, f func(t *testing.T, o *Op, c opCase)) {
	for o := range Ops() {
		for _, c := range opCases[o.Name] {
			name := o.Name
			if c.name != "" {
				name += "/" + c.name
			}
			t.Run(name, func(t *testing.T) { f(t, o, c) })
		}
	}
}

// draws returns the inputs of a case in a dtype; the same seed gives the same numbers.
func (c opCase) draws(s *Scope, dt DType, seed uint64) []*Tensor {
	r := NewScope(Seed(seed))
	defer r.Close()
	out := make([]*Tensor, len(c.inputs))
	for i, in := range c.inputs {
		x := Rand(r, Float64, in.lo, in.hi, in.shape...)
		out[i] = fromFloat64s(dt, x.Float64s(), in.shape).SetName(fmt.Sprintf("in%d", i))
		if dt.IsFloat() {
			out[i].RequireGrad()
		}
	}
	return out
}
