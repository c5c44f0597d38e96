package main

import (
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

var dtypes = map[string]amp.DType{"f32": amp.Float32, "f64": amp.Float64, "f16": amp.Float16, "bf16": amp.BFloat16}

// build prepares the case of a name like gemm/f32/512; nil if there is none.
func build(root *amp.Scope, name string) func() {
	part := strings.Split(name, "/")
	num := func(i int) int {
		if i >= len(part) {
			return 0
		}
		n, _ := strconv.Atoi(part[i])
		return n
	}
	randn := func(dt string, shape ...int) *amp.Tensor {
		return amp.To(root, amp.Randn(root, amp.Float32, 0, 1, shape...), dtypes[dt])
	}
	in := func(f func(s *amp.Scope)) func() {
		return func() {
			s := root.Child()
			f(s)
			s.Close()
		}
	}
	switch part[0] {
	case "gemm": // gemm/dtype/m/n/k/transposes
		m, n, k := num(2), num(3), num(4)
		if n == 0 {
			n, k = m, m
		}
		a, b := randn(part[1], m, k), randn(part[1], k, n)
		if part[len(part)-1] == "nt" {
			b = amp.Transpose(root, randn(part[1], n, k), 0, 1)
		}
		return in(func(s *amp.Scope) { amp.MatMul(s, a, b) })
	case "cast": // cast/from/to/elements
		x := randn(part[1], num(3))
		return in(func(s *amp.Scope) { amp.To(s, x, dtypes[part[2]]) })
	case "conv", "pointwise", "depthwise": // conv/dtype/pass/channels/size/batch
		c, size, batch := num(3), num(4), num(5)
		kernel, opts := []int{c, c, 3, 3}, []amp.WindowOption{amp.Padding(1)}
		switch part[0] {
		case "pointwise":
			kernel, opts = []int{c, c, 1, 1}, nil
		case "depthwise":
			kernel, opts = []int{c, 1, 3, 3}, append(opts, amp.Groups(c))
		}
		x, w := randn(part[1], batch, c, size, size), randn(part[1], kernel...)
		return in(pass(root, part[2] == "step", func(s *amp.Scope) *amp.Tensor { return amp.Conv2d(s, x, w, nil, opts...) }, x, w))
	case "softmax", "layer_norm", "gelu", "cross_entropy", "batch_norm": // op/dtype/pass, and of batch_norm channels/size/batch
		shape := []int{4096, 1024}
		if len(part) > 3 {
			shape = []int{num(5), num(3), num(4), num(4)}
		}
		return in(lines(root, part[0], randn(part[1], shape...), part[2] == "step"))
	case "mlp", "resnet18", "gpt":
		return step(root, part[0], part[1])
	case "op":
		return overhead(part[1])
	case "sgd", "adamw", "unscale":
		return optimizer(root, part[0])
	case "ops":
		return single(root, part[1], dtypes[part[2]], part[3] == "step")
	}
	if f := other(root, part[0], part[1], part[len(part)-1] == "step"); f != nil {
		return in(f)
	}
	return nil
}

// lines is one op on x, 4096 rows of 1024 or images, forward or forward and backward.
func lines(root *amp.Scope, name string, x *amp.Tensor, backward bool) func(s *amp.Scope) {
	n := x.Shape()[1]
	w, b := amp.To(root, amp.Randn(root, amp.Float32, 0, 1, n), x.DType()), amp.To(root, amp.Randn(root, amp.Float32, 0, 1, n), x.DType())
	target := amp.RandInt(root, 0, int64(n), x.Shape()[0])
	running := amp.BatchNormState{RunningMean: amp.Zeros(root, amp.Float32, n), RunningVar: amp.Ones(root, amp.Float32, n), Momentum: 0.1, Eps: 1e-5}
	return pass(root, backward, func(s *amp.Scope) *amp.Tensor {
		switch name {
		case "softmax":
			return amp.Softmax(s, x, -1)
		case "layer_norm":
			return amp.LayerNorm(s, x, w, b, 1e-5)
		case "gelu":
			return amp.GELU(s, x)
		case "batch_norm":
			return amp.BatchNorm(s.Train(), x, w, b, running)
		}
		return amp.CrossEntropy(s, x, target)
	}, x, w, b)
}

// pass runs an op without a tape, or with one and then backward: from a gradient of the result's shape, or from 1 where that is one number.
func pass(root *amp.Scope, backward bool, op func(s *amp.Scope) *amp.Tensor, params ...*amp.Tensor) func(s *amp.Scope) {
	if !backward {
		return func(s *amp.Scope) { op(s.NoGrad()) }
	}
	for _, p := range params {
		p.RequireGrad()
	}
	var from []amp.BackwardOption
	return func(s *amp.Scope) {
		for _, p := range params { // as the peers do: a second gradient would be added to the first
			p.ZeroGrad()
		}
		y := op(s)
		if from == nil && len(y.Shape()) > 0 {
			from = append(from, amp.GradOutputs(amp.To(root, amp.Randn(root, amp.Float32, 0, 1, y.Shape()...), y.DType())))
		}
		y.Backward(from...)
	}
}

// held is the tensor memory in bytes that the last step held between forward and backward, beyond what was there before: its
// activations. Negative is not measured yet.
var held int64

// step is a training step: forward, backward, optimizer. f16 has a gradient scaler.
func step(root *amp.Scope, model, dtype string) func() {
	var loss func(s *amp.Scope) *amp.Tensor
	var params []*amp.Tensor
	switch model {
	case "mlp":
		net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
		x, y := amp.Randn(root, amp.Float32, 0, 1, 512, 8), amp.Randn(root, amp.Float32, 0, 1, 512, 1)
		params, loss = net.Parameters(), func(s *amp.Scope) *amp.Tensor { return nn.MSELoss(s, net.Forward(s, x), y) }
	case "resnet18":
		net := nn.NewResNet18(root, 10, nn.SmallImages())
		x, y := amp.Randn(root, amp.Float32, 0, 1, 32, 3, 32, 32), amp.RandInt(root, 0, 10, 32)
		params, loss = net.Parameters(), func(s *amp.Scope) *amp.Tensor { return nn.CrossEntropyLoss(s, net.Forward(s, x), y) }
	case "gpt":
		net := nn.NewGPT(root, nn.GPTConfig{Context: 128, Features: 256, Layers: 4, Heads: 4})
		x, y := amp.RandInt(root, 0, 256, 8, 128), amp.RandInt(root, 0, 256, 8*128)
		params, loss = net.Parameters(), func(s *amp.Scope) *amp.Tensor {
			return nn.CrossEntropyLoss(s, amp.Reshape(s, net.Forward(s, x), -1, 256), y)
		}
	}
	var opt optim.Optimizer = optim.NewSGD(params, optim.LR(1e-3))
	if model == "gpt" {
		opt = optim.NewAdamW(params, optim.LR(1e-4))
	}
	held = -1
	dt := dtypes[dtype]
	scaler := amp.NewGradScaler(amp.ScalerEnabled(dt == amp.Float16))
	return func() {
		for s := range root.Steps(1) {
			opt.ZeroGrad()
			before := int64(0)
			if held < 0 {
				before = amp.MemStats()["cpu"].Bytes
			}
			l := loss(s.Autocast(dt, amp.Enabled(dt != amp.Float32)))
			if held < 0 {
				held = amp.MemStats()["cpu"].Bytes - before
			}
			scaler.Scale(s, l).Backward()
			scaler.Step(opt)
			scaler.Update()
		}
	}
}
