package optim_test

import (
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestParametersOfNothing: parameters without elements, as those of a layer without outputs, change nothing for the others, through overflows,
// clipping and steps of every optimizer.
func TestParametersOfNothing(t *testing.T) {
	for name, create := range map[string]func(p []*amp.Tensor) optim.Optimizer{
		"SGD":        func(p []*amp.Tensor) optim.Optimizer { return optim.NewSGD(p, optim.LR(0.1), optim.Momentum(0.9)) },
		"Adam":       func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdam(p, optim.LR(0.1)) },
		"AdamW":      func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdamW(p, optim.LR(0.1)) },
		"RMSprop":    func(p []*amp.Tensor) optim.Optimizer { return optim.NewRMSprop(p, optim.LR(0.1)) },
		"Adagrad":    func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdagrad(p, optim.LR(0.1)) },
		"with decay": func(p []*amp.Tensor) optim.Optimizer { return optim.NewSGD(p, optim.LR(0.1), optim.WeightDecay(0.1)) },
	} {
		for _, power := range []float64{1, 2, math.Inf(1)} {
			train := func(empty bool) (weights []float64, norms []float64) {
				root := amp.NewScope(amp.Seed(1))
				defer root.Close()
				w := root.Own(amp.From([]float32{1, -2, 3})).RequireGrad()
				all := []*amp.Tensor{w}
				if empty {
					for _, shape := range [][]int{{0}, {0, 3}, {2, 0}} {
						all = append(all, root.Own(amp.Zeros(root, amp.Float32, shape...)).RequireGrad())
					}
				}
				opt, scaler := create(all), amp.NewGradScaler(amp.InitScale(8))
				for i := range 4 {
					s := root.Child()
					loss := amp.Sum(s, amp.Square(s, w))
					for _, p := range all[1:] {
						loss = amp.Add(s, loss, amp.Sum(s, amp.Square(s, p)))
					}
					if i == 1 {
						loss = amp.MulScalar(s, loss, math.Inf(1))
					}
					opt.ZeroGrad()
					scaler.Scale(s, loss).Backward()
					scaler.Unscale(opt)
					norms = append(norms, optim.ClipGradNorm(all, 2.5, optim.NormType(power)).Value())
					scaler.Step(opt)
					scaler.Update()
					s.Close()
				}
				return w.Float64s(), norms
			}
			want, wantNorms := train(false)
			got, norms := train(true)
			if !slices.Equal(got, want) || !slices.EqualFunc(norms, wantNorms, func(a, b float64) bool { return a == b || a != a && b != b }) {
				t.Errorf("%s, norm %v: %v %v, without empty parameters %v %v", name, power, got, norms, want, wantNorms)
			}
		}
	}
}
