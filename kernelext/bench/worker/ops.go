package main

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// rows and columns are the size of x in single.
const rows, columns = 4096, 1024

// single prepares a case of opCases; nil if there is none of the name. The peers' form of each is in ../peers.py.
func single(root *amp.Scope, name string, dt amp.DType, backward bool) func() {
	if f := updates(root, name, dt); f != nil {
		return f
	}
	op, params := one(root, name, dt)
	if op == nil {
		return nil
	}
	f := pass(root, backward, op, params...)
	return func() {
		s := root.Child()
		f(s)
		s.Close()
	}
}

type (
	tensor = *amp.Tensor
	unary  = func(s *amp.Scope, x tensor) tensor
	binary = func(s *amp.Scope, a, b tensor) tensor
)

func first(a, _ tensor) tensor { return a }

// ofOne are ops of x alone.
var ofOne = map[string]unary{
	"relu": amp.ReLU, "silu": amp.SiLU, "sigmoid": amp.Sigmoid, "tanh": amp.Tanh, "softplus": amp.Softplus, "mish": amp.Mish, "hardswish": amp.Hardswish,
	"leaky_relu":   func(s *amp.Scope, x tensor) tensor { return amp.LeakyReLU(s, x, 0.01) },
	"elu":          func(s *amp.Scope, x tensor) tensor { return amp.ELU(s, x, 1) },
	"exp":          amp.Exp,
	"sin":          amp.Sin,
	"abs":          amp.Abs,
	"square":       amp.Square,
	"clamp":        func(s *amp.Scope, x tensor) tensor { return amp.Clamp(s, x, -1, 1) },
	"add_scalar":   func(s *amp.Scope, x tensor) tensor { return amp.AddScalar(s, x, 2) },
	"sum":          func(s *amp.Scope, x tensor) tensor { return amp.Sum(s, x) },
	"mean":         func(s *amp.Scope, x tensor) tensor { return amp.Mean(s, x) },
	"mean_rows":    func(s *amp.Scope, x tensor) tensor { return amp.Mean(s, x, 1) },
	"mean_columns": func(s *amp.Scope, x tensor) tensor { return amp.Mean(s, x, 0) },
	"var_rows":     func(s *amp.Scope, x tensor) tensor { return amp.Var(s, x, 1) },
	"std_columns":  func(s *amp.Scope, x tensor) tensor { return amp.Std(s, x, 0) },
	"norm":         func(s *amp.Scope, x tensor) tensor { return amp.Norm(s, x) },
	"max_rows":     func(s *amp.Scope, x tensor) tensor { return first(amp.Max(s, x, 1)) },
	"amax_columns": func(s *amp.Scope, x tensor) tensor { return amp.Amax(s, x, 0) },
	"logsumexp":    func(s *amp.Scope, x tensor) tensor { return amp.LogSumExp(s, x, 1) },
	"cumsum":       func(s *amp.Scope, x tensor) tensor { return amp.Cumsum(s, x, 1) },
	"prod_rows":    func(s *amp.Scope, x tensor) tensor { return amp.ProdDim(s, x, 1) },
	"sort":         func(s *amp.Scope, x tensor) tensor { return first(amp.Sort(s, x, 1, false)) },
	"argsort":      func(s *amp.Scope, x tensor) tensor { return amp.Argsort(s, x, 1, false) },
	"topk":         func(s *amp.Scope, x tensor) tensor { return first(amp.Topk(s, x, 5, 1, true)) },
	"topk_many":    func(s *amp.Scope, x tensor) tensor { return first(amp.Topk(s, x, 100, 1, true)) },
	"median":       func(s *amp.Scope, x tensor) tensor { return first(amp.Median(s, x, 1)) },
	"tril":         func(s *amp.Scope, x tensor) tensor { return amp.Tril(s, x, 0) },
	"transpose":    func(s *amp.Scope, x tensor) tensor { return amp.Contiguous(s, amp.Transpose(s, x, 0, 1)) },
	"cast_transposed": func(s *amp.Scope, x tensor) tensor {
		return amp.Contiguous(s, amp.To(s, amp.Transpose(s, x, 0, 1), amp.BFloat16))
	},
	"split":       func(s *amp.Scope, x tensor) tensor { return amp.Contiguous(s, amp.Split(s, x, columns/4, 1)[1]) },
	"pad":         func(s *amp.Scope, x tensor) tensor { return amp.Pad(s, x, []int{1, 1, 1, 1}, "constant", 0) },
	"flip":        func(s *amp.Scope, x tensor) tensor { return amp.Flip(s, x, 1) },
	"roll":        func(s *amp.Scope, x tensor) tensor { return amp.Roll(s, x, []int{3}, []int{1}) },
	"repeat":      func(s *amp.Scope, x tensor) tensor { return amp.Repeat(s, x, 2, 1) },
	"softmax":     func(s *amp.Scope, x tensor) tensor { return amp.Softmax(s, x, -1) },
	"log_softmax": func(s *amp.Scope, x tensor) tensor { return amp.LogSoftmax(s, x, -1) },
	"gelu":        amp.GELU,
	"dropout":     func(s *amp.Scope, x tensor) tensor { return amp.Dropout(s, x, 0.1) },
}

// ofPositive are ops of a positive x.
var ofPositive = map[string]unary{
	"log": amp.Log, "sqrt": amp.Sqrt, "rsqrt": amp.Rsqrt,
	"pow": func(s *amp.Scope, x tensor) tensor { return amp.PowScalar(s, x, 1.5) },
}

// ofTwo are ops of x and another of its shape.
var ofTwo = map[string]binary{
	"add": amp.Add, "mul": amp.Mul, "div": amp.Div, "maximum": amp.Maximum, "gt": amp.Gt,
	"cat":        func(s *amp.Scope, a, b tensor) tensor { return amp.Cat(s, 1, a, b) },
	"cat_rows":   func(s *amp.Scope, a, b tensor) tensor { return amp.Cat(s, 0, a, b) },
	"stack":      func(s *amp.Scope, a, b tensor) tensor { return amp.Stack(s, 1, a, b) },
	"mse":        func(s *amp.Scope, a, b tensor) tensor { return amp.MSELoss(s, a, b) },
	"l1":         func(s *amp.Scope, a, b tensor) tensor { return amp.L1Loss(s, a, b) },
	"smooth_l1":  func(s *amp.Scope, a, b tensor) tensor { return amp.SmoothL1Loss(s, a, b, 1) },
	"add_bias":   amp.Add,
	"mul_column": amp.Mul,
}

// ofImages are ops of 32 images of 64 channels, 32×32.
var ofImages = map[string]unary{
	"mean_images": func(s *amp.Scope, x tensor) tensor { return amp.Mean(s, x, 0, 2, 3) },
	"nhwc":        func(s *amp.Scope, x tensor) tensor { return amp.Contiguous(s, amp.Permute(s, x, 0, 2, 3, 1)) },
	"nearest": func(s *amp.Scope, x tensor) tensor {
		return amp.Interpolate(s, x, amp.Interpolation{Scale: []float64{2}, Mode: "nearest"})
	},
	"bilinear": func(s *amp.Scope, x tensor) tensor {
		return amp.Interpolate(s, x, amp.Interpolation{Scale: []float64{2}, Mode: "bilinear"})
	},
	"global_pool":  func(s *amp.Scope, x tensor) tensor { return amp.AdaptiveAvgPool2d(s, x, 1) },
	"max_pool":     func(s *amp.Scope, x tensor) tensor { return amp.MaxPool2d(s, x, 2) },
	"avg_pool":     func(s *amp.Scope, x tensor) tensor { return amp.AvgPool2d(s, x, 2) },
	"max_pool_3x3": func(s *amp.Scope, x tensor) tensor { return amp.MaxPool2d(s, x, 3, amp.Stride(2), amp.Padding(1)) },
	"avg_pool_3x3": func(s *amp.Scope, x tensor) tensor { return amp.AvgPool2d(s, x, 3, amp.Stride(2), amp.Padding(1)) },
}

// one returns an op and its parameters.
func one(root *amp.Scope, name string, dt amp.DType) (func(s *amp.Scope) tensor, []tensor) {
	randn := func(shape ...int) tensor { return amp.To(root, amp.Randn(root, amp.Float32, 0, 1, shape...), dt) }
	uniform := func(shape ...int) tensor {
		return amp.To(root, amp.Rand(root, amp.Float32, 0.001, 0.999, shape...), dt)
	}
	apply := func(f unary, x tensor) (func(s *amp.Scope) tensor, []tensor) {
		return func(s *amp.Scope) tensor { return f(s, x) }, []tensor{x}
	}
	if f := ofOne[name]; f != nil {
		return apply(f, randn(rows, columns))
	}
	if f := ofPositive[name]; f != nil {
		return apply(f, uniform(rows, columns))
	}
	if f := ofImages[name]; f != nil {
		return apply(f, randn(32, 64, 32, 32))
	}
	if f := ofTwo[name]; f != nil {
		x, y := randn(rows, columns), tensor(nil)
		params := []tensor{x}
		switch name {
		case "add_bias":
			y = randn(columns)
		case "mul_column":
			y = randn(rows, 1)
		default:
			y = randn(rows, columns)
		}
		if name != "mse" && name != "l1" && name != "smooth_l1" {
			params = append(params, y)
		}
		return func(s *amp.Scope) tensor { return f(s, x, y) }, params
	}
	if op, params := layer(root, name, randn, uniform); op != nil {
		return op, params
	}
	return indexed(root, name, randn)
}

// layer returns an op of a layer or a loss.
func layer(root *amp.Scope, name string, randn, uniform func(shape ...int) tensor) (func(s *amp.Scope) tensor, []tensor) {
	apply := func(f func(s *amp.Scope) tensor, params ...tensor) (func(s *amp.Scope) tensor, []tensor) {
		return f, params
	}
	switch name {
	case "bce_logits":
		x, y := randn(rows, columns), uniform(rows, columns)
		return apply(func(s *amp.Scope) tensor { return amp.BCEWithLogits(s, x, y) }, x)
	case "kl_div":
		x, y := amp.LogSoftmax(root, randn(rows, columns), -1), amp.Softmax(root, randn(rows, columns), -1)
		x = amp.Detach(root, x)
		return apply(func(s *amp.Scope) tensor { return amp.KLDiv(s, x, y) }, x)
	case "cross_entropy", "smoothed_cross_entropy":
		x, y := randn(rows, columns), amp.RandInt(root, 0, columns, rows)
		smoothing := 0.0
		if name != "cross_entropy" {
			smoothing = 0.1
		}
		return apply(func(s *amp.Scope) tensor { return amp.CrossEntropy(s, x, y, amp.LabelSmoothing(smoothing)) }, x)
	case "layer_norm", "rms_norm":
		x, w, b := randn(rows, columns), randn(columns), randn(columns)
		if name == "rms_norm" {
			return apply(func(s *amp.Scope) tensor { return amp.RMSNorm(s, x, w, 1e-5) }, x, w)
		}
		return apply(func(s *amp.Scope) tensor { return amp.LayerNorm(s, x, w, b, 1e-5) }, x, w, b)
	case "group_norm", "instance_norm":
		x, w, b := randn(32, 64, 32, 32), randn(64), randn(64)
		if name == "instance_norm" {
			return apply(func(s *amp.Scope) tensor { return amp.InstanceNorm(s, x, w, b, 1e-5) }, x, w, b)
		}
		return apply(func(s *amp.Scope) tensor { return amp.GroupNorm(s, x, 8, w, b, 1e-5) }, x, w, b)
	case "linear": // 512 rows of 512
		x, w, b := randn(512, 512), randn(512, 512), randn(512)
		return apply(func(s *amp.Scope) tensor { return amp.Linear(s, x, w, b) }, x, w, b)
	case "lstm_cell", "gru_cell": // 64 sequences, 256 features
		gates := 4
		if name == "gru_cell" {
			gates = 3
		}
		x, h, c := randn(64, 256), randn(64, 256), randn(64, 256)
		w := amp.CellWeights{IH: randn(gates*256, 256), HH: randn(gates*256, 256), BiasIH: randn(gates * 256), BiasHH: randn(gates * 256)}
		if name == "gru_cell" {
			return apply(func(s *amp.Scope) tensor { return amp.GRUCell(s, x, h, w) }, x, w.IH, w.HH, w.BiasIH, w.BiasHH)
		}
		return apply(func(s *amp.Scope) tensor { return first(amp.LSTMCell(s, x, h, c, w)) }, x, w.IH, w.HH, w.BiasIH, w.BiasHH)
	case "lstm": // 32 steps of 64 sequences, 128 features
		x, net := randn(32, 64, 128), nn.NewLSTM(root, 128, 128, nn.RecurrentOptions{})
		return apply(func(s *amp.Scope) tensor { return net.Forward(s, x) }, append(net.Parameters(), x)...)
	case "stem": // of ResNet-50: 4 images of 224×224
		x, w := randn(4, 3, 224, 224), randn(64, 3, 7, 7)
		return apply(func(s *amp.Scope) tensor { return amp.Conv2d(s, x, w, nil, amp.Stride(2), amp.Padding(3)) }, w)
	case "conv1d": // 16 sequences of 64 channels and 1024 steps
		x, w := randn(16, 64, 1024), randn(64, 64, 3)
		return apply(func(s *amp.Scope) tensor { return amp.Conv1d(s, x, w, nil, amp.Padding(1)) }, x, w)
	}
	return nil, nil
}

// indexed returns an op that picks, places or draws.
func indexed(root *amp.Scope, name string, randn func(shape ...int) tensor) (func(s *amp.Scope) tensor, []tensor) {
	apply := func(f func(s *amp.Scope) tensor, params ...tensor) (func(s *amp.Scope) tensor, []tensor) {
		return f, params
	}
	switch name {
	case "rand":
		return apply(func(s *amp.Scope) tensor { return amp.Rand(s, amp.Float32, 0, 1, rows, columns) })
	case "randint":
		return apply(func(s *amp.Scope) tensor { return amp.RandInt(s, 0, 1000, rows, columns) })
	case "randperm":
		return apply(func(s *amp.Scope) tensor { return amp.RandPerm(s, 60000) })
	case "nchw": // from images whose channels lie innermost
		x := randn(32, 32, 32, 64)
		return apply(func(s *amp.Scope) tensor { return amp.Contiguous(s, amp.Permute(s, x, 0, 3, 1, 2)) }, x)
	case "heads": // 8 sequences of 512 positions, 16 heads of 64
		x := randn(8, 512, 16, 64)
		return apply(func(s *amp.Scope) tensor { return amp.Contiguous(s, amp.Transpose(s, x, 1, 2)) }, x)
	case "embedding_few": // 16384 of 256 rows
		table, index := randn(256, 256), amp.RandInt(root, 0, 256, 16384)
		return apply(func(s *amp.Scope) tensor { return amp.Embedding(s, table, index) }, table)
	case "one_hot":
		index := amp.RandInt(root, 0, 256, rows)
		return apply(func(s *amp.Scope) tensor { return amp.OneHot(s, index, 256) })
	}
	x := randn(rows, columns)
	switch name {
	case "where", "masked_fill", "masked_select", "nonzero":
		y := randn(rows, columns)
		mask := amp.Gt(root, x, amp.From([]float32{0}))
		return apply(func(s *amp.Scope) tensor {
			switch name {
			case "where":
				return amp.Where(s, mask, x, y)
			case "masked_fill":
				return amp.MaskedFill(s, x, mask, 0)
			case "masked_select":
				return amp.MaskedSelect(s, x, mask)
			}
			return amp.Nonzero(s, mask)
		}, x, y)
	case "gather", "scatter_add":
		index := amp.RandInt(root, 0, columns, rows, columns)
		y := randn(rows, columns)
		return apply(func(s *amp.Scope) tensor {
			if name == "gather" {
				return amp.Gather(s, x, 1, index)
			}
			return amp.ScatterAdd(s, x, 1, index, y)
		}, x)
	case "index_select":
		index := amp.RandInt(root, 0, rows, rows)
		return apply(func(s *amp.Scope) tensor { return amp.IndexSelect(s, x, 0, index) }, x)
	}
	return nil, nil
}

// updates returns a step of an optimizer, or what is done with gradients before; nil if name is none of them.
func updates(root *amp.Scope, name string, dt amp.DType) func() {
	params, few := []tensor{}, [][]int{{rows, columns}}
	switch name {
	case "clip_grad", "adam", "sgd_momentum":
	case "adam_many", "sgd_many", "clip_many", "unscale_many": // 200 parameters of 32×32
		few = make([][]int, 200)
		for i := range few {
			few[i] = []int{32, 32}
		}
	default:
		return nil
	}
	for _, shape := range few {
		p := amp.To(root, amp.Randn(root, amp.Float32, 0, 1, shape...), dt).RequireGrad()
		p.SetGrad(amp.To(root, amp.Randn(root, amp.Float32, 0, 1, shape...), dt))
		params = append(params, p)
	}
	switch name {
	case "adam", "adam_many":
		return optim.NewAdam(params, optim.LR(1e-6)).Step
	case "sgd_momentum":
		return optim.NewSGD(params, optim.LR(1e-6), optim.Momentum(0.9)).Step
	case "sgd_many":
		return optim.NewSGD(params, optim.LR(1e-6)).Step
	case "clip_grad", "clip_many":
		return func() { optim.ClipGradNorm(params, 1) }
	}
	return unscaling(root, params)
}
