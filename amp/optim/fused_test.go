package optim_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// makers builds every optimizer with and without what it keeps.
var makers = map[string]func(p []*amp.Tensor, opts ...optim.Option) optim.Optimizer{
	"sgd": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewSGD(p, o...) },
	"sgd/momentum": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer {
		return optim.NewSGD(p, append(o, optim.Momentum(0.9), optim.Dampening(0.1), optim.WeightDecay(0.01))...)
	},
	"adam": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdam(p, o...) },
	"adamw/amsgrad": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer {
		return optim.NewAdamW(p, append(o, optim.AMSGrad())...)
	},
	"rmsprop": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer {
		return optim.NewRMSprop(p, append(o, optim.Momentum(0.5), optim.Centered())...)
	},
	"adagrad": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer {
		return optim.NewAdagrad(p, append(o, optim.InitialAccumulator(0.1))...)
	},
	"nadam": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer {
		return optim.NewNAdam(p, append(o, optim.DecoupledWeightDecay())...)
	},
	"radam": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer {
		return optim.NewRAdam(p, append(o, optim.Betas(0.8, 0.7))...)
	},
	"adamax":   func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdamax(p, o...) },
	"adadelta": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdadelta(p, o...) },
	"asgd": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer {
		return optim.NewASGD(p, append(o, optim.T0(2))...)
	},
	"rprop": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewRprop(p, o...) },
}

// TestFusedSteps: dividing within the update gives the weights of dividing before it, bit for bit, through skipped steps at the start
// and later, accumulation's missing gradients, and explicit unscaling; the reports are the same too.
func TestFusedSteps(t *testing.T) {
	for name, build := range makers {
		for _, dt := range []amp.DType{amp.Float32, amp.Float64} {
			t.Run(fmt.Sprintf("%s/%v", name, dt), func(t *testing.T) {
				run := func(opts ...optim.Option) (weights [][]float64, log []string, steps int) {
					root := amp.NewScope()
					defer root.Close()
					a := amp.FromFloat64s(dt, []float64{1, -2, 0.3}).SetName("a").RequireGrad()
					b := amp.FromFloat64s(dt, []float64{0.7}).SetName("b").RequireGrad()
					o := build([]*amp.Tensor{a, b}, append(opts, optim.LR(0.1))...)
					scaler := amp.NewGradScaler(amp.InitScale(3000), amp.GrowthInterval(3)) // no power of two
					for s := range root.Steps(9) {
						o.ZeroGrad()
						loss := amp.Sum(s, amp.Mul(s, a, a))
						if s.Step()%2 == 1 {
							loss = amp.Add(s, loss, amp.Sum(s, amp.Exp(s, b)))
						}
						scaler.Scale(s, loss).Backward()
						if s.Step() == 0 || s.Step() == 5 {
							a.SetGrad(amp.FromFloat64s(dt, []float64{1, math.Inf(-1), math.NaN()}))
						}
						if s.Step() == 4 {
							scaler.Unscale(o)
							optim.ClipGradNorm(o.Parameters(), 0.5)
						}
						log = append(log, fmt.Sprint(scaler.Step(o)))
						if s.Step() == 2 { // the gradients are unscaled in either case
							log = append(log, fmt.Sprint(a.Grad().Float64s()))
						}
						scaler.Update()
					}
					return [][]float64{a.Float64s(), b.Float64s()}, log, o.Steps()
				}
				w1, log1, n1 := run()
				w2, log2, n2 := run(optim.Fused())
				for i := range w1 {
					if !slices.Equal(w1[i], w2[i]) {
						t.Errorf("weights %v, fused %v", w1[i], w2[i])
					}
				}
				if !slices.Equal(log1, log2) {
					t.Errorf("reports\n%q, fused\n%q", log1, log2)
				}
				if n1 != 7 || n2 != 7 {
					t.Errorf("%d and %d steps, want 7", n1, n2)
				}
				if want := "step 0 skipped at scale 3000: gradient of a is -Inf"; log2[0] != want {
					t.Errorf("report %q", log2[0])
				}
			})
		}
	}
}

// TestFusedTakesFloat16Gradients: the update divides in float32, so gradients of float16 weights may be scaled; the ordinary path
// refuses them.
func TestFusedTakesFloat16Gradients(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	w := amp.FromFloat64s(amp.Float16, []float64{1}).SetName("w").RequireGrad()
	o := optim.NewSGD([]*amp.Tensor{w}, optim.LR(1024), optim.Fused())
	scaler := amp.NewGradScaler(amp.InitScale(65536))
	scaler.Scale(root, amp.Sum(root, amp.To(root, amp.MulScalar(root, w, 0), amp.Float32))).Backward()
	w.SetGrad(amp.FromFloat64s(amp.Float16, []float64{0x1p-10})) // 2⁻²⁶ unscaled: nothing in float16
	if r := scaler.Step(o); !r.Applied() {
		t.Fatal(r)
	}
	if got, want := w.Item(), 1-1024*0x1p-26; got != 1 && got != want {
		t.Errorf("weight %v, want %v rounded", got, want)
	}
	scaler.Update()
	plain := optim.NewSGD([]*amp.Tensor{w})
	w.SetGrad(amp.FromFloat64s(amp.Float16, []float64{1}))
	if err := amp.Maybe(func() { scaler.Step(plain) }); err == nil {
		t.Error("float16 gradients were unscaled in float16")
	}
}

// TestFusedSkipLeavesNoState: the gradients stay scaled, as in the reference, and a first step that is skipped is no first step.
func TestFusedSkipLeavesNoState(t *testing.T) {
	for name, build := range makers {
		p := amp.From([]float32{1}).SetName("p").RequireGrad()
		o := build([]*amp.Tensor{p}, optim.Fused())
		before := len(o.State().Tensors)
		p.SetGrad(amp.From([]float32{8}))
		o.StepFused(amp.Scalar(float32(0.5)), amp.Scalar(float32(1)))
		st := o.State()
		if p.Item() != 1 || p.Grad().Item() != 8 || o.Steps() != 0 || len(st.Tensors) != before || st.Groups[0].Params[0].Step != 0 {
			t.Errorf("%s: weight %v, gradient %v, state %+v", name, p.Item(), p.Grad().Item(), st)
		}
		o.StepFused(amp.Scalar(float32(0.5)), amp.Scalar(float32(0)))
		if p.Item() == 1 || p.Grad().Item() != 4 || o.Steps() != 1 {
			t.Errorf("%s: weight %v, gradient %v, %d steps", name, p.Item(), p.Grad().Item(), o.Steps())
		}
	}
}
