package cudart_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
)

// listed are the elements of the tensors that these tests give one launch: none, less than a vector, around what a part, a block and two
// blocks take.
var listed = []int{7, 0, 1, 3, 4, 5, 768, 1023, 1024, 1025, 2307, 4095, 4096, 4097, 8193}

// listedParameters are 130 parameters, more than two launches take, whose gradients lie at odd places if odd. free gives them back.
func listedParameters(s *amp.Scope, dt amp.DType, odd bool) (params []*amp.Tensor, free func(opts ...optim.Optimizer)) {
	var all []*amp.Tensor
	draw := func(deviation float64, n int) *amp.Tensor {
		x := amp.Randn(s, amp.Float32, 0, deviation, n)
		t := amp.To(s, x, dt)
		if t != x {
			x.Free()
		}
		all = append(all, t)
		return t
	}
	for i := range 130 {
		p, at := draw(1, listed[i%len(listed)]).RequireGrad(), 0
		if odd {
			at = i % 8
		}
		p.SetGrad(amp.Narrow(s, draw(3, p.Len()+8), 0, at, p.Len()))
		params = append(params, p)
	}
	return params, func(opts ...optim.Optimizer) {
		for _, opt := range opts {
			for _, x := range opt.LiveState().Tensors {
				x.Free()
			}
		}
		for _, p := range params {
			p.ZeroGrad()
		}
		for _, t := range all {
			t.Free()
		}
		s.Close()
	}
}

// TestListsOfTensors: optimizers that step all parameters at once leave the bits of those that step one after the other, also where
// gradients lie at odd places, and on the CPU's numbers but for rounding.
func TestListsOfTensors(t *testing.T) {
	device := gpu(t)
	for name, build := range map[string]func(p ...*amp.Tensor) optim.Optimizer{
		"sgd": func(p ...*amp.Tensor) optim.Optimizer {
			return optim.NewSGD(p, optim.LR(0.1), optim.Momentum(0.9), optim.WeightDecay(0.01))
		},
		"adam":    func(p ...*amp.Tensor) optim.Optimizer { return optim.NewAdam(p, optim.LR(0.01)) },
		"amsgrad": func(p ...*amp.Tensor) optim.Optimizer { return optim.NewAdamW(p, optim.LR(0.01), optim.AMSGrad()) },
		"rmsprop": func(p ...*amp.Tensor) optim.Optimizer {
			return optim.NewRMSprop(p, optim.LR(0.01), optim.Momentum(0.9), optim.Centered())
		},
		"adagrad": func(p ...*amp.Tensor) optim.Optimizer { return optim.NewAdagrad(p, optim.LR(0.01)) },
		"nadam": func(p ...*amp.Tensor) optim.Optimizer {
			return optim.NewNAdam(p, optim.LR(0.01), optim.WeightDecay(0.1), optim.DecoupledWeightDecay())
		},
		"radam": func(p ...*amp.Tensor) optim.Optimizer {
			return optim.NewRAdam(p, optim.LR(0.01), optim.Betas(0.8, 0.7))
		},
		"adamax":   func(p ...*amp.Tensor) optim.Optimizer { return optim.NewAdamax(p, optim.LR(0.01), optim.Maximize()) },
		"adadelta": func(p ...*amp.Tensor) optim.Optimizer { return optim.NewAdadelta(p, optim.WeightDecay(0.1)) },
		"rprop":    func(p ...*amp.Tensor) optim.Optimizer { return optim.NewRprop(p) },
		"asgd":     func(p ...*amp.Tensor) optim.Optimizer { return optim.NewASGD(p, optim.T0(1), optim.Lambd(0.1)) },
	} {
		for dt, bound := range map[amp.DType]float64{amp.Float32: 1e-5, amp.Float64: 1e-12, amp.BFloat16: 0x1p-7} {
			run := func(on string, odd, together bool) (out [][]float64) {
				s := amp.NewScope(amp.On(on), amp.Seed(5))
				params, free := listedParameters(s, dt, odd)
				opts := []optim.Optimizer{build(params...)}
				if !together {
					opts = nil
					for _, p := range params {
						opts = append(opts, build(p))
					}
				}
				scaler := amp.NewGradScaler(amp.InitScale(3)) // products with its inverse are rounded
				scaler.Scale(s, amp.Mean(s, params[0]))
				for range 2 {
					for _, opt := range opts {
						scaler.Step(opt)
						if !together {
							opt.Parameters()[0].Float64s() // launches what waits
						}
					}
					scaler.Update()
				}
				for _, p := range params {
					out = append(out, p.Float64s())
				}
				free(opts...)
				return out
			}
			for _, odd := range []bool{false, true} {
				cpu, alone, together := run("cpu", odd, true), run(device, odd, false), run(device, odd, true)
				for i := range alone {
					if !slices.Equal(together[i], alone[i]) {
						t.Fatalf("%s %v, odd places %v: parameter %d of %d elements differs from that of a step of its own", name, dt, odd, i, len(alone[i]))
					}
					for k, v := range cpu[i] {
						if got := together[i][k]; math.Abs(got-v) > bound*(1+math.Abs(v)) {
							t.Fatalf("%s %v, odd places %v: parameter %d element %d is %v, on the CPU %v", name, dt, odd, i, k, got, v)
						}
					}
				}
			}
		}
	}
}

// TestFirstOfLists: a scaler's report names the first gradient with an element that is not finite, and the first of these elements,
// wherever in a launch and a block they lie.
func TestFirstOfLists(t *testing.T) {
	device := gpu(t)
	inf, nan := math.Inf(1), math.NaN()
	for _, dt := range []amp.DType{amp.Float32, amp.Float64, amp.BFloat16} {
		for _, odd := range []bool{false, true} {
			s := amp.NewScope(amp.On(device), amp.Seed(6))
			params, free := listedParameters(s, dt, odd)
			opt := optim.NewSGD(params, optim.LR(0))
			scaler := amp.NewGradScaler(amp.InitScale(1<<30), amp.BackoffFactor(1-0x1p-10))
			scaler.Scale(s, amp.Mean(s, params[0]))
			for i := 0; i < len(params); i += 11 {
				n := params[i].Len()
				if n == 0 {
					continue
				}
				for k, at := range []int{0, n / 2, n - 1, n * 7 / 8} {
					value := []float64{inf, -inf, nan}[(i+k)%3]
					poison := func(i, at int, v float64) (heal func()) {
						place := amp.Narrow(s, params[i].Grad(), 0, at, 1)
						was := place.Item()
						amp.CopyInPlace(s, place, amp.Full(s, dt, v, 1))
						return func() { amp.CopyInPlace(s, place, amp.Full(s, dt, was, 1)) }
					}
					heal := []func(){poison(i, at, value)}
					if at+1 < n {
						heal = append(heal, poison(i, n-1, -inf))
					}
					if last := len(params) - 1; i < last {
						heal = append(heal, poison(last, 2, nan))
					}
					r := scaler.Step(opt)
					scaler.Update()
					if want := fmt.Sprintf("parameter %d", i); r.Applied() || r.Culprit() != want || r.Value != fmt.Sprint(value) {
						t.Errorf("%v, odd places %v: element %d of %d of %s is %v; the report names %q, %s", dt, odd, at, n, want, value, r.Culprit(), r.Value)
					}
					slices.Reverse(heal)
					for _, h := range heal {
						h()
					}
				}
			}
			if r := scaler.Step(opt); !r.Applied() {
				t.Errorf("%v, odd places %v: of finite gradients the report names %q", dt, odd, r.Culprit())
			}
			free(opt)
		}
	}
}

// TestLaunchesOfLists: as many tensors as one launch takes go with it.
func TestLaunchesOfLists(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device), amp.Seed(7))
	params, free := listedParameters(s, amp.Float32, true)
	opt := optim.NewAdam(params)
	defer free(opt)
	opt.Step()
	params[0].Float64s()
	before := cudart.CountsOf(device).Launches
	opt.Step()
	params[0].Float64s()
	if n := cudart.CountsOf(device).Launches - before; n != 3 {
		t.Errorf("%d launches for %d tensors, want 3", n, len(params))
	}
}
