package optim_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// composed are the optimizers whose steps are made of other ops.
var composed = map[string]func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer{
	"muon":      func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewMuon(p, o...) },
	"adafactor": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdafactor(p, o...) },
}

// hidden is a small model that they train: two matrices, one wide and one tall.
type hidden struct {
	w      []*amp.Tensor
	x      *amp.Tensor
	opt    optim.Optimizer
	scaler *amp.GradScaler
}

func newHidden(root *amp.Scope, optimizer string, opts ...optim.Option) *hidden {
	m := &hidden{x: amp.Randn(root, amp.Float32, 0, 1, 16, 12), scaler: amp.NewGradScaler(amp.InitScale(8), amp.GrowthInterval(3))}
	m.w = []*amp.Tensor{amp.Randn(root, amp.Float32, 0, 0.3, 20, 12).SetName("up").RequireGrad(), amp.Randn(root, amp.Float32, 0, 0.3, 12, 20).SetName("down").RequireGrad()}
	m.opt = composed[optimizer](m.w, append(opts, optim.LR(0.05), optim.WeightDecay(0.01))...)
	return m
}

// step trains the model to give back its input, and returns the loss before the step.
func (m *hidden) step(s *amp.Scope) *amp.Tensor {
	m.opt.ZeroGrad()
	y := amp.Linear(s, amp.ReLU(s, amp.Linear(s, m.x, m.w[0], nil)), m.w[1], nil)
	loss := amp.Mean(s, amp.Square(s, amp.Sub(s, y, m.x)))
	m.scaler.Scale(s, loss).Backward()
	return loss
}

func (m *hidden) weights() []float64 { return slices.Concat(m.w[0].Float64s(), m.w[1].Float64s()) }

// TestComposedStepsTrain: the loss falls, a steady step takes no buffer, and a step with an infinite gradient changes nothing.
func TestComposedStepsTrain(t *testing.T) {
	for name := range composed {
		t.Run(name, func(t *testing.T) {
			root := amp.NewScope(amp.Seed(1))
			defer root.Close()
			m := newHidden(root, name)
			device := m.x.Device()
			var first, last float64
			var before int64
			for s := range root.Steps(30) {
				loss := m.step(s)
				switch s.Step() {
				case 0:
					first = loss.Item()
				case 4:
					before = amp.MemStats()[device].NewBuffers
				case 29:
					last = loss.Item()
				}
				m.scaler.Step(m.opt)
				m.scaler.Update()
			}
			if took := amp.MemStats()[device].NewBuffers - before; took != 0 {
				t.Errorf("25 steady steps took %d buffers", took)
			}
			if !(last < first/3) {
				t.Errorf("the loss went from %v to %v", first, last)
			}
			for s := range root.Steps(1) {
				m.step(s)
				m.skip(t)
			}
		})
	}
}

// skip checks a step with an infinite gradient.
func (m *hidden) skip(t *testing.T) {
	g := m.w[1].Grad().Float64s()
	g[7] = math.Inf(1)
	m.w[1].SetGrad(amp.FromFloat64s(amp.Float32, g, 12, 20))
	weights, state := m.weights(), m.opt.State()
	if r := m.scaler.Step(m.opt); r.Applied() {
		t.Error(r)
	}
	for key, was := range state.Tensors {
		if !slices.Equal(m.opt.State().Tensors[key].Float64s(), was.Float64s()) {
			t.Errorf("a skipped step changed %s", key)
		}
	}
	if !slices.Equal(m.weights(), weights) || m.opt.Steps() != state.Steps {
		t.Errorf("a skipped step changed weights, or counts: %d steps", m.opt.Steps())
	}
	m.scaler.Update()
}

// TestComposedStepsGoOn: an optimizer that loads a state takes the steps that the saved one takes, bit for bit.
func TestComposedStepsGoOn(t *testing.T) {
	for name, own := range map[string][]optim.Option{
		"muon":      {optim.Momentum(0.8), optim.NSSteps(4), optim.Eps(1e-3)},
		"adafactor": {optim.Beta2Decay(-0.5), optim.ClipThreshold(2), optim.Epsilons(1e-4, 1e-2)},
	} {
		t.Run(name, func(t *testing.T) {
			root := amp.NewScope(amp.Seed(1))
			defer root.Close()
			m, other := newHidden(root, name, own...), newHidden(root, name)
			run := func(m *hidden, n int) {
				for s := range root.Steps(n) {
					m.step(s)
					m.opt.Step()
				}
			}
			run(m, 3)
			other.x = m.x
			for i, w := range m.w {
				amp.Assign(other.w[i], w)
			}
			if err := other.opt.LoadState(m.opt.State()); err != nil {
				t.Fatal(err)
			}
			run(m, 3)
			run(other, 3)
			if !slices.Equal(m.weights(), other.weights()) {
				t.Error("the loaded optimizer takes other steps")
			}
		})
	}
}

// TestComposedStatesThatDoNotFit names what differs.
func TestComposedStatesThatDoNotFit(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	saved := func(name string, opts ...optim.Option) *optim.State {
		m := newHidden(root, name, opts...)
		for s := range root.Steps(1) {
			m.step(s)
			m.opt.Step()
		}
		return m.opt.State()
	}
	swapped, vector := saved("adafactor"), saved("adafactor")
	swapped.Tensors["0.row_var"], swapped.Tensors["0.col_var"] = swapped.Tensors["0.col_var"], swapped.Tensors["0.row_var"]
	vector.Tensors["0.variance"] = amp.Zeros(root, amp.Float32, 20, 12)
	missing := saved("adafactor")
	delete(missing.Tensors, "1.col_var")
	for want, c := range map[string]struct {
		name  string
		state *optim.State
	}{
		"match_rms_adamw is true":                     {"muon", saved("muon", optim.AdjustLR(amp.AdjustMatchRMSAdamW))},
		"saved by \"Muon\"":                           {"adafactor", saved("muon")},
		"row_var of parameter 0 (up) is [1 12] in it": {"adafactor", swapped},
		"variance of parameter 0 (up) is in it":       {"adafactor", vector},
		"col_var of parameter 1 (down) is missing":    {"adafactor", missing},
	} {
		if err := newHidden(root, c.name).opt.LoadState(c.state); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestComposedRefuse what torch.optim refuses, and what they have no use for.
func TestComposedRefuse(t *testing.T) {
	leaf := func(shape ...int) []*amp.Tensor {
		return []*amp.Tensor{amp.Ones(amp.NewScope(), amp.Float32, shape...).SetName("w").RequireGrad()}
	}
	for want, f := range map[string]func(){
		"parameter 0 (w) has shape [3], and Muon":  func() { optim.NewMuon(leaf(3)) },
		"parameter 0 (w) has shape [1 2 2 2]":      func() { optim.NewMuon(leaf(2, 2)).AddGroup(optim.Group{Params: leaf(1, 2, 2, 2)}) },
		"Fused is not an option of Muon":           func() { optim.NewMuon(leaf(2, 2), optim.Fused()) },
		"Maximize is not an option of Muon":        func() { optim.NewMuon(leaf(2, 2), optim.Maximize()) },
		"NSSteps is not an option of SGD":          func() { optim.NewSGD(leaf(2, 2), optim.NSSteps(3)) },
		"100 steps of the Newton-Schulz iteration": func() { optim.NewMuon(leaf(2, 2), optim.NSSteps(100)) },
		"ns_steps is -1":                           func() { optim.NewMuon(leaf(2, 2), optim.NSSteps(-1)) },
		"ns_b is NaN":                              func() { optim.NewMuon(leaf(2, 2), optim.NSCoefficients(1, math.NaN(), 1)) },
		"momentum is -1":                           func() { optim.NewMuon(leaf(2, 2), optim.Momentum(-1)) },
		"no adjustment(3) of the rate":             func() { optim.NewMuon(leaf(2, 2), optim.AdjustLR(3)) },
		"AdjustLR is not an option of AdamW":       func() { optim.NewAdamW(leaf(2, 2), optim.AdjustLR(amp.AdjustOriginal)) },
		"AdamW's weight decay is decoupled":        func() { optim.NewAdamW(leaf(2, 2), optim.DecoupledWeightDecay()) },
		"Fused is not an option of Adafactor":      func() { optim.NewAdafactor(leaf(2), optim.Fused()) },
		"beta2_decay is 0.5":                       func() { optim.NewAdafactor(leaf(2), optim.Beta2Decay(0.5)) },
		"the clipping threshold is 0.5":            func() { optim.NewAdafactor(leaf(2), optim.ClipThreshold(0.5)) },
		"eps1 is -1":                               func() { optim.NewAdafactor(leaf(2), optim.Epsilons(-1, 0)) },
		"Eps is not an option of Adafactor":        func() { optim.NewAdafactor(leaf(2), optim.Eps(1)) },
		"InvScale is not for it": func() {
			l := leaf(2, 2)[0]
			l.SetGrad(amp.Like(l))
			amp.UpdateAdafactor(l, nil, nil, nil, amp.Update{InvScale: amp.Scalar(float32(1))})
		},
		"has no gradient":                           func() { amp.UpdateMuon(leaf(2, 2)[0], leaf(2, 2)[0], amp.Update{}) },
		"Momentum is not an option of AdamW":        func() { optim.NewAdamW(leaf(2, 2), optim.Momentum(0.9)) },
		"no parameter has a gradient":               func() { optim.NewMuon(leaf(2, 2)).Step() },
		"Nesterov momentum requires a momentum and": func() { optim.NewSGD(leaf(2, 2), optim.Nesterov()) },
	} {
		var e *amp.Error
		if err := amp.Maybe(f); !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.Fix == "" {
			t.Errorf("%v, want %q and a fix", err, want)
		}
	}
	optim.NewMuon(leaf(2, 2), optim.Momentum(0)) // as torch's, which then steps along the gradient
}

// TestComposedStepsOfNothing: matrices without elements are left as they are.
func TestComposedStepsOfNothing(t *testing.T) {
	for _, shape := range [][]int{{0, 3}, {3, 0}, {0, 0}} {
		p := amp.Zeros(amp.NewScope(), amp.Float32, shape...).RequireGrad()
		p.SetGrad(amp.Zeros(amp.NewScope(), amp.Float32, shape...))
		for name, build := range composed {
			o := build([]*amp.Tensor{p})
			o.Step()
			if o.Steps() != 1 {
				t.Errorf("%s, %v: %d steps", name, shape, o.Steps())
			}
		}
	}
}

// TestMuonIsSeen: the trace has the products of Muon's iteration, in bfloat16 beside parameters of float32, as parts of the step.
func TestMuonIsSeen(t *testing.T) {
	root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
	defer root.Close()
	m := newHidden(root, "muon")
	for s := range root.Steps(1) {
		m.step(s)
		m.scaler.Step(m.opt)
		m.scaler.Update()
	}
	products := 0
	for _, e := range root.Trace().Events {
		if e.Phase != amp.PhaseOptimizer || e.Op != "matmul" && e.Op != "addmm" {
			continue
		}
		products++
		if e.Compute != amp.BFloat16 || e.Out.DType != amp.BFloat16 || e.Rule != "optimizer: part of a step that is made of several ops" {
			t.Errorf("%s in %v to %v: %s", e.Op, e.Compute, e.Out.DType, e.Rule)
		}
	}
	if products != 2*5*3 {
		t.Errorf("%d products of two parameters in five steps of the iteration", products)
	}
}
