package amp

import (
	"strings"
	"sync"
	"testing"
)

// TestScaledOntoUnscaled is said once, with the parameter's name, where a backward pass adds scaled gradients to ones without the scale.
func TestScaledOntoUnscaled(t *testing.T) {
	for _, c := range []struct {
		name  string
		scale float64
		step  func(back, plain func(), g *GradScaler, opt Optimizer)
		warns bool
	}{
		{"accumulated, then unscaled", 1024, func(back, _ func(), g *GradScaler, opt Optimizer) {
			back()
			back()
			g.Unscale(opt)
			g.Step(opt)
			opt.ZeroGrad()
		}, false},
		{"once more behind Unscale", 1024, func(back, _ func(), g *GradScaler, opt Optimizer) {
			back()
			g.Unscale(opt)
			back()
			g.Step(opt)
			opt.ZeroGrad()
		}, true},
		{"a loss without scale behind Unscale", 1024, func(back, plain func(), g *GradScaler, opt Optimizer) {
			back()
			g.Unscale(opt)
			plain()
			g.Step(opt)
			opt.ZeroGrad()
		}, false},
		{"ZeroGrad forgotten", 1024, func(back, _ func(), g *GradScaler, opt Optimizer) { back(); g.Step(opt) }, true},
		{"ZeroGrad forgotten, unscaled", 1024, func(back, _ func(), g *GradScaler, opt Optimizer) { back(); g.Unscale(opt); g.Step(opt) }, true},
		{"ZeroGrad at the beginning", 1024, func(back, _ func(), g *GradScaler, opt Optimizer) { opt.ZeroGrad(); back(); g.Step(opt) }, false},
		{"another model's loss, removed before the next step", 1024, func(back, _ func(), g *GradScaler, opt Optimizer) {
			opt.ZeroGrad()
			back()
			g.Step(opt)
			back() // as a generator's loss goes through its discriminator
		}, false},
		{"a scale of 1", 1, func(back, _ func(), g *GradScaler, opt Optimizer) { back(); g.Step(opt) }, false},
	} {
		root := NewScope(On("cpu"))
		p := From([]float32{1, 2}).To(root).SetName("bias").RequireGrad()
		opt := &countingOptimizer{params: []*Tensor{p}}
		g := NewGradScaler(InitScale(c.scale))
		var said strings.Builder
		old := SetWarnings(&said)
		for range 3 {
			c.step(func() { g.Scale(root, Sum(root, p)).Backward() }, func() { Sum(root, p).Backward() }, g, opt)
			g.Update()
		}
		SetWarnings(old)
		warnings.Lock()
		delete(warnings.said, "scaled onto unscaled")
		warnings.Unlock()
		text := said.String()
		if n := strings.Count(text, "two scales"); (n == 1) != c.warns || n > 1 || c.warns && !strings.Contains(text, "the gradient of bias") {
			t.Errorf("%s: said %q", c.name, text)
		}
		root.Close()
	}
}

// TestScaledByManyGoroutines: passes of several goroutines over a scaled loss end at the same parameter; what is looked at for the warning is
// theirs to change.
func TestScaledByManyGoroutines(t *testing.T) {
	root := NewScope()
	defer root.Close()
	w := From([]float32{1, 2}).To(root).RequireGrad()
	g := NewGradScaler(InitScale(4))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				s := root.Child()
				g.Scale(s, Sum(s, Mul(s, w, w))).Backward()
				s.Close()
			}
		})
	}
	all.Wait()
	if got := w.Grad().Float64s(); got[0] != 4*50*4*2 || got[1] != 4*50*4*4 {
		t.Errorf("gradient %v", got)
	}
}
