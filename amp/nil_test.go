package amp

import (
	"errors"
	"strings"
	"testing"
)

// TestNilInputsAreNamed checks that a nil input is an *Error that says which one it is, in rows and in functions that look at shapes
// before their row.
func TestNilInputsAreNamed(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, 2, 3, 4}, 2, 2)
	cell := CellWeights{IH: x}
	for want, call := range map[string]func(){
		"matmul: bad argument: b is nil":                               func() { MatMul(s, x, nil) },
		"div: bad argument: b is nil":                                  func() { Div(s, x, nil) },
		"dropout: bad argument: the tensor is nil":                     func() { Dropout(s, nil, 0.5) },
		"sort: bad argument: x is nil":                                 func() { Sort(s, nil, 0, false) },
		"nll_loss: bad argument: target is nil":                        func() { NLLLoss(s, x, nil) },
		"gaussian_nll_loss: bad argument: variance is nil":             func() { GaussianNLLLoss(s, x, x, nil, 1e-6) },
		"kron: bad argument: b is nil":                                 func() { Kron(s, x, nil) },
		"lstm_cell: bad argument: weight_hh is nil":                    func() { LSTMCell(s, x, nil, nil, cell) },
		"gru: bad argument: the tensor is nil":                         func() { GRU(s, nil, nil, cell, false) },
		"conv2d: bad argument: weight is nil":                          func() { Conv2d(s, Reshape(s, x, 1, 1, 2, 2), nil, nil) },
		"relu: bad argument: the scope is nil":                         func() { ReLU(nil, x) },
		"sum: bad argument: the scope is nil":                          func() { Sum(nil, x) },
		"cross_entropy: bad argument: target is nil":                   func() { CrossEntropy(s, x, nil) },
		"margin_ranking_loss: bad argument: target is nil":             func() { MarginRankingLoss(s, x, Unsqueeze(s, x, 0), nil, 0) },
		"masked_select: bad argument: the tensor is nil":               func() { MaskedSelect(s, x, nil) },
		"CountStep: bad argument: the tensor is nil":                   func() { CountStep(nil, nil) },
		"ScaleGrad: bad argument: the tensor is nil":                   func() { ScaleGrad(nil, 2) },
		"batch_norm: bad argument: the scope is nil":                   func() { BatchNorm(nil, x, nil, nil, BatchNormState{}) },
		"scaled_dot_product_attention: bad argument: the scope is nil": func() { ScaledDotProductAttention(nil, x, x, x, nil, Attention{}) },
		"Scope: bad argument: the scope is nil":                        func() { (*Scope)(nil).Autocast(Float16) },
		"Steps: bad argument: the scope is nil":                        func() { (*Scope)(nil).Steps(1) },
		"GradScaler.Scale: bad argument: the scope is nil":             func() { NewGradScaler().Scale(nil, x) },
		"GradScaler.Unscale: bad argument: the optimizer is nil":       func() { NewGradScaler().Unscale(nil) },
		"GradScaler.Step: bad argument: the optimizer is nil":          func() { NewGradScaler().Step(nil) },
		"GradOutputs: bad argument: the tensor is nil":                 func() { ReLU(s, From([]float32{1}).RequireGrad()).Backward(GradOutputs(nil)) },
		"checkpoint: bad argument: the function is nil":                func() { Checkpoint(s, nil, x) },
		"Map: bad argument: the function is nil":                       func() { Map(s, x, nil) },
		"Policy.Apply: bad argument: the model is nil":                 func() { MustPolicy("params=f32,compute=f16,output=f32").Apply(nil) },
		"Shape: bad argument: the tensor is nil":                       func() { (*Tensor)(nil).Shape() },
		"DType: bad argument: the tensor is nil":                       func() { (*Tensor)(nil).DType() },
		"Dim: bad argument: the tensor is nil":                         func() { (*Tensor)(nil).Dim(0) },
		"Len: bad argument: the tensor is nil":                         func() { x.Grad().Len() },
		"Bytes: bad argument: the tensor is nil":                       func() { (*Tensor)(nil).Bytes() },
		"Name: bad argument: the tensor is nil":                        func() { (*Tensor)(nil).Name() },
		"SetName: bad argument: the tensor is nil":                     func() { (*Tensor)(nil).SetName("x") },
		"IsLeaf: bad argument: the tensor is nil":                      func() { (*Tensor)(nil).IsLeaf() },
		"IsContiguous: bad argument: the tensor is nil":                func() { (*Tensor)(nil).IsContiguous() },
		"IsView: bad argument: the tensor is nil":                      func() { (*Tensor)(nil).IsView() },
		"Layout: bad argument: the tensor is nil":                      func() { (*Tensor)(nil).Layout() },
		"Float64s: bad argument: the tensor is nil":                    func() { x.Grad().Float64s() },
		"Item: bad argument: the tensor is nil":                        func() { (*Tensor)(nil).Item() },
		"Free: bad argument: the tensor is nil":                        func() { (*Tensor)(nil).Free() },
		"Done: bad argument: the tensor is nil":                        func() { (*Tensor)(nil).Done() },
		"Grad: bad argument: the tensor is nil":                        func() { x.Grad().Grad() },
		"SetGrad: bad argument: the tensor is nil":                     func() { (*Tensor)(nil).SetGrad(nil) },
		"ZeroGrad: bad argument: the tensor is nil":                    func() { (*Tensor)(nil).ZeroGrad() },
		"RequiresGrad: bad argument: the tensor is nil":                func() { (*Tensor)(nil).RequiresGrad() },
		"RequireGrad: bad argument: the tensor is nil":                 func() { (*Tensor)(nil).RequireGrad() },
		"Freeze: bad argument: the tensor is nil":                      func() { (*Tensor)(nil).Freeze() },
		"KeepFloat32: bad argument: the tensor is nil":                 func() { (*Tensor)(nil).KeepFloat32() },
		"Backward: bad argument: the tensor is nil":                    func() { (*Tensor)(nil).Backward() },
		"To: bad argument: the tensor is nil":                          func() { (*Tensor)(nil).To(s) },
		"Move: bad argument: the tensor is nil":                        func() { (*Tensor)(nil).Move(s) },
		"CPU: bad argument: the tensor is nil":                         func() { (*Tensor)(nil).CPU() },
		"Device: bad argument: the tensor is nil":                      func() { (*Tensor)(nil).Device() },
		"Keep: bad argument: the tensor is nil":                        func() { s.Keep(nil) },
		"Training: bad argument: the scope is nil":                     func() { (*Scope)(nil).Training() },
		"rrelu: bad argument: the scope is nil":                        func() { RReLU(nil, x, 0, 1) },
		"quantize: bad argument: the scope is nil":                     func() { QuantizeStochastic(nil, x, FormatE4M3) },
	} {
		err := Maybe(call)
		if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestMissingGradientsAreNamed checks that what reads the gradient of a parameter without one says so.
func TestMissingGradientsAreNamed(t *testing.T) {
	p := From([]float32{1, 2}).RequireGrad().SetName("fc.weight")
	for name, call := range map[string]func(){
		"AddPowers":  func() { AddPowers(Scalar(0.0), p, 2) },
		"ClipByNorm": func() { ClipByNorm(p, Scalar(0.0), 1, 2) },
		"PowerSum":   func() { PowerSum(p) },
		"ClampGrad":  func() { ClampGrad(p, -1, 1) },
		"ClipBy":     func() { ClipBy(p, 0.5) },
	} {
		if err := Maybe(call); !errors.Is(err, ErrGrad) || !strings.Contains(err.Error(), "fc.weight") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnknownDTypesAreRefused checks numbers that are no dtype.
func TestUnknownDTypesAreRefused(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, 2})
	for name, call := range map[string]func(dt DType){
		"zeros":   func(dt DType) { Zeros(s, dt, 2) },
		"randn":   func(dt DType) { Randn(s, dt, 0, 1, 2) },
		"cumsum":  func(dt DType) { Cumsum(s, x, 0, dt) },
		"softmax": func(dt DType) { Softmax(s, x, 0, dt) },
		"cast":    func(dt DType) { To(s, x, dt) },
	} {
		if err := Maybe(func() { call(Bool + 1) }); !errors.Is(err, ErrDType) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
