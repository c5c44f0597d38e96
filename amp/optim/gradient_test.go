package optim_test

import (
	"fmt"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestStepsLeaveTheGradient: kernels read the gradient where it lies, so that none of their settings may write there.
func TestStepsLeaveTheGradient(t *testing.T) {
	s := amp.NewScope(amp.Seed(5))
	defer s.Close()
	for name, make := range map[string]func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer{
		"SGD":     func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewSGD(p, o...) },
		"Adam":    func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdam(p, o...) },
		"AdamW":   func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdamW(p, o...) },
		"RMSprop": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewRMSprop(p, o...) },
		"Adagrad": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdagrad(p, o...) },
	} {
		for i, options := range [][]optim.Option{nil, {optim.WeightDecay(0.1)}, {optim.Maximize()}, {optim.Maximize(), optim.WeightDecay(0.1)}, {optim.Momentum(0.9)}, {optim.Momentum(0.9), optim.Nesterov()}} {
			if name != "SGD" && name != "RMSprop" && i >= 4 || name == "RMSprop" && i == 5 {
				continue
			}
			for _, dt := range []amp.DType{amp.Float32, amp.Float64} {
				p := amp.Randn(s, dt, 0, 1, 1234).RequireGrad()
				g := amp.Randn(s, dt, 0, 1, 1234)
				p.SetGrad(g)
				before := fmt.Sprint(p.Grad().Float64s())
				was := fmt.Sprint(p.Float64s())
				opt := make([]*amp.Tensor{p}, append([]optim.Option{optim.LR(0.1)}, options...)...)
				opt.Step()
				opt.Step()
				if fmt.Sprint(p.Grad().Float64s()) != before {
					t.Errorf("%s, options %d, %v: the gradient changed", name, i, dt)
				}
				if fmt.Sprint(p.Float64s()) == was {
					t.Errorf("%s, options %d, %v: the parameter did not change", name, i, dt)
				}
			}
		}
	}
}
