package main

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// other is an op of otherCases, forward or forward and backward; nil if there is none of the name.
func other(root *amp.Scope, name, dtype string, backward bool) func(s *amp.Scope) {
	randn := func(shape ...int) *amp.Tensor { return amp.Randn(root, amp.Float32, 0, 1, shape...) }
	switch name {
	case "attention":
		q, k, v := amp.To(root, randn(2, 8, 1024, 64), dtypes[dtype]), amp.To(root, randn(2, 8, 1024, 64), dtypes[dtype]), amp.To(root, randn(2, 8, 1024, 64), dtypes[dtype])
		return pass(root, backward, func(s *amp.Scope) *amp.Tensor {
			return amp.ScaledDotProductAttention(s, q, k, v, nil, amp.Attention{Causal: true})
		}, q, k, v)
	case "max_pool", "avg_pool":
		x, op := randn(32, 64, 32, 32), amp.MaxPool2d
		if name == "avg_pool" {
			op = amp.AvgPool2d
		}
		return pass(root, backward, func(s *amp.Scope) *amp.Tensor { return op(s, x, 2) }, x)
	case "sum", "sum_rows", "sum_columns", "argmax":
		x := randn(4096, 1024)
		return pass(root, backward, func(s *amp.Scope) *amp.Tensor {
			switch name {
			case "sum_rows":
				return amp.Sum(s, x, 1)
			case "sum_columns":
				return amp.Sum(s, x, 0)
			case "argmax":
				return amp.ArgMax(s, x, 1)
			}
			return amp.Sum(s, x)
		}, x)
	case "randn":
		return pass(root, backward, func(s *amp.Scope) *amp.Tensor { return amp.Randn(s, amp.Float32, 0, 1, 4096, 1024) })
	case "dropout":
		x := randn(4096, 1024)
		return pass(root, backward, func(s *amp.Scope) *amp.Tensor { return amp.Dropout(s, x, 0.1) }, x)
	case "embedding":
		table, index := randn(8192, 256), amp.RandInt(root, 0, 8192, 4096)
		return pass(root, backward, func(s *amp.Scope) *amp.Tensor { return amp.Embedding(s, table, index) }, table)
	case "transpose":
		x := randn(2048, 2048)
		return pass(root, backward, func(s *amp.Scope) *amp.Tensor { return amp.Contiguous(s, amp.Transpose(s, x, 0, 1)) }, x)
	case "cat":
		x, y := randn(4096, 512), randn(4096, 512)
		return pass(root, backward, func(s *amp.Scope) *amp.Tensor { return amp.Cat(s, 1, x, y) }, x, y)
	}
	return nil
}

// optimizer is one step of a parameter of 4 M numbers, or unscaling its gradient and looking for what is not finite.
func optimizer(root *amp.Scope, name string) func() {
	p := amp.Randn(root, amp.Float32, 0, 1, 4096, 1024).RequireGrad()
	p.SetGrad(amp.Randn(root, amp.Float32, 0, 1, 4096, 1024))
	params := []*amp.Tensor{p}
	switch name {
	case "adamw":
		return optim.NewAdamW(params, optim.LR(1e-6)).Step
	case "sgd":
		return optim.NewSGD(params, optim.LR(1e-6)).Step
	}
	return unscaling(root, params)
}

// unscaling divides the gradients of params and looks for what is not finite.
func unscaling(root *amp.Scope, params []*amp.Tensor) func() {
	opt, scaler := optim.NewSGD(params, optim.LR(1e-6)), amp.NewGradScaler(amp.InitScale(1), amp.GrowthInterval(1<<30))
	scaler.Scale(root.NoGrad(), amp.Randn(root, amp.Float32, 0, 1))
	scale := 2.0
	return func() { // by 1/2 and by 2 in turns, so that the gradient keeps its size
		scaler.UpdateTo(scale)
		scaler.Unscale(opt)
		scale = 1 / scale
	}
}

// calls is how many ops a call of the present case makes; its time is divided by them.
var calls = 1

// overhead is an op too small to compute anything: what applying it costs, without and with a tape, and with decisions recorded.
func overhead(how string) func() {
	level := amp.Off
	if how == "decisions" {
		level = amp.Decisions
	}
	root := amp.NewScope(amp.Record(level))
	x := amp.From([]float32{1})
	if how != "off" {
		x.RequireGrad()
	}
	calls = 100
	return func() {
		for s := range root.Steps(1) {
			for range calls {
				amp.ReLU(s, x)
			}
		}
	}
}
