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

// hidden is a small model that Muon trains: two matrices, one wide and one tall.
type hidden struct {
	w      []*amp.Tensor
	x      *amp.Tensor
	opt    *optim.Muon
	scaler *amp.GradScaler
}

func newHidden(root *amp.Scope, opts ...optim.Option) *hidden {
	m := &hidden{x: amp.Randn(root, amp.Float32, 0, 1, 16, 12), scaler: amp.NewGradScaler(amp.InitScale(8), amp.GrowthInterval(3))}
	m.w = []*amp.Tensor{amp.Randn(root, amp.Float32, 0, 0.3, 20, 12).SetName("up").RequireGrad(), amp.Randn(root, amp.Float32, 0, 0.3, 12, 20).SetName("down").RequireGrad()}
	m.opt = optim.NewMuon(m.w, append(opts, optim.LR(0.05), optim.WeightDecay(0.01))...)
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

// TestMuonTrains: the loss falls, a steady step takes no buffer, and a step with an infinite gradient changes nothing.
func TestMuonTrains(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	m := newHidden(root)
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
		if !slices.Equal(m.weights(), weights) || m.opt.Steps() != 30 {
			t.Errorf("a skipped step changed weights, or counts: %d steps", m.opt.Steps())
		}
		m.scaler.Update()
	}
}

// TestMuonGoesOn: an optimizer that loads a state takes the steps that the saved one takes, bit for bit.
func TestMuonGoesOn(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	m := newHidden(root, optim.Momentum(0.8), optim.NSSteps(4), optim.MatchRMSAdamW())
	run := func(m *hidden, n int) {
		for s := range root.Steps(n) {
			m.step(s)
			m.opt.Step()
		}
	}
	run(m, 3)
	other := newHidden(root, optim.MatchRMSAdamW())
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
	if err := newHidden(root).opt.LoadState(m.opt.State()); err == nil || !strings.Contains(err.Error(), "match_rms_adamw") {
		t.Errorf("a state of other steps was loaded: %v", err)
	}
}

// TestMuonRefuses what torch.optim.Muon refuses, and what it has no use for.
func TestMuonRefuses(t *testing.T) {
	leaf := func(shape ...int) []*amp.Tensor {
		return []*amp.Tensor{amp.Ones(amp.NewScope(), amp.Float32, shape...).SetName("w").RequireGrad()}
	}
	for want, f := range map[string]func(){
		"parameter 0 (w) has shape [3], and Muon":   func() { optim.NewMuon(leaf(3)) },
		"parameter 0 (w) has shape [1 2 2 2]":       func() { optim.NewMuon(leaf(2, 2)).AddGroup(optim.Group{Params: leaf(1, 2, 2, 2)}) },
		"Fused is not an option of Muon":            func() { optim.NewMuon(leaf(2, 2), optim.Fused()) },
		"Maximize is not an option of Muon":         func() { optim.NewMuon(leaf(2, 2), optim.Maximize()) },
		"NSSteps is not an option of SGD":           func() { optim.NewSGD(leaf(2, 2), optim.NSSteps(3)) },
		"100 steps of the Newton-Schulz iteration":  func() { optim.NewMuon(leaf(2, 2), optim.NSSteps(100)) },
		"ns_steps is -1":                            func() { optim.NewMuon(leaf(2, 2), optim.NSSteps(-1)) },
		"ns_b is NaN":                               func() { optim.NewMuon(leaf(2, 2), optim.NSCoefficients(1, math.NaN(), 1)) },
		"momentum is -1":                            func() { optim.NewMuon(leaf(2, 2), optim.Momentum(-1)) },
		"exclude each other":                        func() { optim.NewMuon(leaf(2, 2), optim.SpectralUnclamped(), optim.MatchRMSAdamW()) },
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

// TestMuonOfNothing: matrices without elements are left as they are.
func TestMuonOfNothing(t *testing.T) {
	for _, shape := range [][]int{{0, 3}, {3, 0}, {0, 0}} {
		p := amp.Zeros(amp.NewScope(), amp.Float32, shape...).RequireGrad()
		p.SetGrad(amp.Zeros(amp.NewScope(), amp.Float32, shape...))
		o := optim.NewMuon([]*amp.Tensor{p})
		o.Step()
		if o.Steps() != 1 {
			t.Errorf("%v: %d steps", shape, o.Steps())
		}
	}
}
