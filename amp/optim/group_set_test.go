package optim_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// What torch writes as opt.param_groups[0]["weight_decay"] = 0 in the middle of a run is a method of the group.
func ExampleGroup_SetWeightDecay() {
	w := amp.From([]float32{1}).RequireGrad()
	opt := optim.NewSGD([]*amp.Tensor{w}, optim.LR(0.5), optim.WeightDecay(0.5))
	for range 2 {
		w.SetGrad(amp.From([]float32{0}))
		opt.Step()
		opt.Groups()[0].SetWeightDecay(0)
		fmt.Println(w.Item())
	}
	// Output:
	// 0.75
	// 0.75
}

// TestGroupSetters: a run whose settings are changed after four steps goes on as one that was loaded with those settings, and the state
// keeps them.
func TestGroupSetters(t *testing.T) {
	for name, change := range map[string]func(g *optim.Group){
		"sgd":           func(g *optim.Group) { g.SetMomentum(0.5); g.SetWeightDecay(0.2) },
		"sgd/momentum":  func(g *optim.Group) { g.SetMomentum(0); g.SetWeightDecay(0) },
		"adam":          func(g *optim.Group) { g.SetBetas(0.5, 0.6); g.SetEps(1e-3); g.SetWeightDecay(0.1) },
		"adamw/amsgrad": func(g *optim.Group) { g.SetBetas(0, 0.9); g.SetWeightDecay(0.3) },
		"rmsprop":       func(g *optim.Group) { g.SetMomentum(0.9); g.SetEps(0.1) },
		"adagrad":       func(g *optim.Group) { g.SetEps(0.1); g.SetWeightDecay(0.1) },
	} {
		p, q := weightsOf(amp.Float32), weightsOf(amp.Float32)
		o, other := makers[name](p, optim.LR(0.05)), makers[name](q, optim.LR(0.05))
		train(o, 0, 4)
		for i := range q {
			amp.Assign(q[i], p[i])
		}
		change(o.Groups()[0])
		st := o.State()
		if err := other.LoadState(st); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g, h := o.Groups()[0], other.Groups()[0]
		b1, b2 := g.Betas()
		if c1, c2 := h.Betas(); c1 != b1 || c2 != b2 || g.Eps() != h.Eps() || g.Momentum() != h.Momentum() || g.WeightDecay() != h.WeightDecay() {
			t.Errorf("%s: the state holds other settings: %v, %v", name, o, other)
		}
		train(o, 4, 8)
		train(other, 4, 8)
		for i := range p {
			if fmt.Sprint(p[i].Float64s()) != fmt.Sprint(q[i].Float64s()) {
				t.Errorf("%s: %v, loaded %v", name, p[i].Float64s(), q[i].Float64s())
			}
		}
	}
}

// TestGroupSettersRefuse what the optimizer does not take and what is out of range, and change nothing then.
func TestGroupSettersRefuse(t *testing.T) {
	leaf := func() []*amp.Tensor { return []*amp.Tensor{amp.From([]float32{1}).RequireGrad()} }
	sgd, adam := optim.NewSGD(leaf(), optim.Momentum(0.5), optim.Nesterov()), optim.NewAdam(leaf())
	before := fmt.Sprint(sgd, adam)
	for name, f := range map[string]func(){
		"Group.SetWeightDecay": func() { sgd.Groups()[0].SetWeightDecay(-1) },
		"Group.SetMomentum":    func() { adam.Groups()[0].SetMomentum(0.9) },
		"Group.SetMomentum:":   func() { sgd.Groups()[0].SetMomentum(0) },
		"Group.SetBetas":       func() { sgd.Groups()[0].SetBetas(0.9, 0.9) },
		"Group.SetBetas:":      func() { adam.Groups()[0].SetBetas(0.9, 1) },
		"Group.SetEps":         func() { sgd.Groups()[0].SetEps(0.1) },
		"Group.SetEps:":        func() { adam.Groups()[0].SetEps(math.NaN()) },
		"Group.SetEps: ":       func() { (&optim.Group{}).SetEps(0.1) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) || !strings.Contains(err.Error(), strings.TrimRight(name, ": ")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := fmt.Sprint(sgd, adam); after != before {
		t.Errorf("a refused setting changed %s to %s", before, after)
	}
}

// TestGroupSettersAfterASchedule: a schedule that has left the rate and the momentum out of their ranges hides no wrong call, and keeps no
// right one from being made.
func TestGroupSettersAfterASchedule(t *testing.T) {
	leaf := func() []*amp.Tensor { return []*amp.Tensor{amp.From([]float32{1}).RequireGrad()} }
	for _, opt := range []optim.Optimizer{optim.NewSGD(leaf(), optim.Momentum(0.9)), optim.NewAdam(leaf())} {
		g := opt.Groups()[0]
		st := opt.State()
		st.Groups[0].Numbers["lr"] = -1e-18
		for _, key := range []string{"momentum", "beta1"} {
			if _, ok := st.Groups[0].Numbers[key]; ok {
				st.Groups[0].Numbers[key] = -0.5
			}
		}
		if err := opt.LoadState(st); err != nil {
			t.Fatal(err)
		}
		before := fmt.Sprint(opt)
		for i, f := range []func(){func() { g.SetWeightDecay(-5) }, func() { g.SetEps(-1) }, func() { g.SetMomentum(-0.5) }, func() { g.SetBetas(-0.5, 0.9) }} {
			if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if after := fmt.Sprint(opt); after != before {
			t.Errorf("a refused setting changed %s to %s", before, after)
		}
		if g.SetWeightDecay(0.5); g.WeightDecay() != 0.5 {
			t.Errorf("the weight decay is %v", g.WeightDecay())
		}
	}
}

// TestCyclesAreTheirOwn: a list that the caller goes on to change is not the schedule's.
func TestCyclesAreTheirOwn(t *testing.T) {
	opt := optim.NewSGD([]*amp.Tensor{amp.From([]float32{1}).RequireGrad()}, optim.Momentum(0.9))
	low, high := []float64{0.1}, []float64{0.9}
	s := optim.NewCyclicLR(opt, 0, 0, optim.GroupCycle(low, high), optim.CycleSteps(1, 1))
	low[0], high[0] = 7, 7
	if s.Step(); opt.LearningRate() != 0.9 {
		t.Errorf("the rate is %v", opt.LearningRate())
	}
	if s.Step(); opt.LearningRate() != 0.1 {
		t.Errorf("the rate is %v", opt.LearningRate())
	}
}

// TestLoadStateOfFreedTensors is an error that names one, and changes nothing.
func TestLoadStateOfFreedTensors(t *testing.T) {
	w := weightsOf(amp.Float32)
	opt := optim.NewAdam(w)
	train(opt, 0, 3)
	st := opt.State()
	for key, gone := range st.Tensors {
		if strings.HasSuffix(key, "exp_avg_sq") {
			gone.Free()
		}
	}
	train(opt, 3, 5)
	before := fmt.Sprint(opt.State().Tensors, opt.Steps())
	if err := opt.LoadState(st); err == nil || !strings.Contains(err.Error(), "exp_avg_sq of parameter 0") {
		t.Error(err)
	}
	if after := fmt.Sprint(opt.State().Tensors, opt.Steps()); after != before {
		t.Errorf("a refused state changed %s to %s", before, after)
	}
}

// TestClipErrorIfNonfinite: a norm that is not finite is refused before a gradient is changed; a finite one is clipped by as ever.
func TestClipErrorIfNonfinite(t *testing.T) {
	p := amp.From([]float32{0, 0}).RequireGrad()
	params := []*amp.Tensor{p}
	for _, bad := range []float64{math.Inf(1), math.NaN()} {
		p.SetGrad(amp.FromFloat64s(amp.Float32, []float64{3, bad}))
		for _, f := range []func(){
			func() { optim.ClipGradNorm(params, 1, optim.ErrorIfNonfinite()) },
			func() { optim.GradNorm(params, optim.ErrorIfNonfinite(), optim.NormType(1)) },
		} {
			if err := amp.Maybe(f); !errors.Is(err, amp.ErrFinite) || p.Grad().Float64s()[0] != 3 {
				t.Errorf("%v: %v, gradient %v", bad, err, p.Grad().Float64s())
			}
		}
		optim.ClipGradNorm(params, 1)
	}
	p.SetGrad(amp.From([]float32{3, 4}))
	if n := optim.ClipGradNorm(params, 1, optim.ErrorIfNonfinite()).Value(); n != 5 || math.Abs(p.Grad().Float64s()[0]-0.6) > 1e-6 {
		t.Errorf("norm %v, clipped to %v", n, p.Grad().Float64s())
	}
}
