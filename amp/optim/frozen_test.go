package optim_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestFrozenParameters gives an optimizer a model whose first layer is frozen: it stays until it is thawed, with and without the fused
// step and under O2, as in PyTorch, where an optimizer takes parameters that want no gradient.
func TestFrozenParameters(t *testing.T) {
	for name, opts := range map[string][]optim.Option{"plain": {optim.WeightDecay(0.1)}, "fused": {optim.WeightDecay(0.1), optim.Fused()}} {
		root := amp.NewScope(amp.Seed(1))
		net := nn.NewSequential(nn.NewLinear(root, 3, 4), nn.Tanh, nn.NewLinear(root, 4, 1))
		body, head := net.Modules()[0].Parameters()[0], net.Modules()[2].Parameters()[0]
		body.Freeze()
		opt := optim.NewAdamW(net.Parameters(), opts...)
		scaler := amp.NewGradScaler(amp.InitScale(1024))
		step := func() (movedBody, movedHead bool) {
			a, b := body.Float64s(), head.Float64s()
			for s := range root.Steps(1) {
				half := s.Autocast(amp.Float16)
				opt.ZeroGrad()
				scaler.Scale(s, amp.Sum(half, net.Forward(half, amp.Ones(s, amp.Float32, 2, 3)))).Backward()
				scaler.Step(opt)
				scaler.Update()
			}
			return !slices.Equal(a, body.Float64s()), !slices.Equal(b, head.Float64s())
		}
		if b, h := step(); b || !h {
			t.Errorf("%s: frozen, body moved %v, head moved %v", name, b, h)
		}
		body.RequireGrad()
		if b, h := step(); !b || !h {
			t.Errorf("%s: thawed, body moved %v, head moved %v", name, b, h)
		}
		root.Close()
	}
	root := amp.NewScope()
	defer root.Close()
	net := nn.NewLinear(root, 2, 2)
	for _, p := range net.Parameters() {
		p.Freeze()
	}
	for name, call := range map[string]func(){
		"all frozen":   func() { optim.NewSGD(net.Parameters()) },
		"integers":     func() { optim.NewSGD([]*amp.Tensor{amp.From([]int64{1}), net.Weight}) },
		"no leaf":      func() { optim.NewSGD([]*amp.Tensor{amp.Neg(root, amp.Ones(root, amp.Float32, 1).RequireGrad())}) },
		"no optimizer": func() { amp.Initialize(net, nil, amp.O2) },
		"no model":     func() { amp.Initialize(nil, optim.NewSGD(nn.NewLinear(root, 1, 1).Parameters()), amp.O2) },
	} {
		if err := amp.Maybe(call); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
