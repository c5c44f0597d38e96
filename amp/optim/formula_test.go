package optim_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// cell is the reference's state of one element; each formula is torch.optim's, written out in float64 for one element.
type cell struct{ p, a, b, c float64 }

type formula func(x *cell, g float64, step int)

func rmsprop(lr, alpha, eps, decay, mom float64, centered bool) formula {
	return func(x *cell, g float64, _ int) {
		g += decay * x.p
		x.a = alpha*x.a + (1-alpha)*g*g
		v := x.a
		if centered {
			x.b = alpha*x.b + (1-alpha)*g
			v -= x.b * x.b
		}
		d := g / (math.Sqrt(v) + eps)
		if mom > 0 {
			x.c = mom*x.c + d
			d = x.c
		}
		x.p -= lr * d
	}
}

func adagrad(lr, lrDecay, decay, eps, sign float64) formula {
	return func(x *cell, g float64, step int) {
		g = sign*g + decay*x.p
		x.a += g * g
		x.p -= lr / (1 + float64(step-1)*lrDecay) * g / (math.Sqrt(x.a) + eps)
	}
}

func amsgrad(lr, b1, b2, eps, decay float64, decoupled bool) formula {
	return func(x *cell, g float64, step int) {
		if decoupled {
			x.p *= 1 - lr*decay
		} else {
			g += decay * x.p
		}
		x.a = b1*x.a + (1-b1)*g
		x.b = b2*x.b + (1-b2)*g*g
		x.c = math.Max(x.c, x.b)
		x.p -= lr * (x.a / (1 - math.Pow(b1, float64(step)))) / (math.Sqrt(x.c/(1-math.Pow(b2, float64(step)))) + eps)
	}
}

// TestFormulas compares steps with gradients that shrink, so that AMSGrad's maximum and the averages tell apart.
func TestFormulas(t *testing.T) {
	type params = []*amp.Tensor
	for _, c := range []struct {
		name  string
		make  func(params) optim.Optimizer
		ref   formula
		start cell
	}{
		{"rmsprop", func(p params) optim.Optimizer { return optim.NewRMSprop(p) }, rmsprop(0.01, 0.99, 1e-8, 0, 0, false), cell{}},
		{"rmsprop/all", func(p params) optim.Optimizer {
			return optim.NewRMSprop(p, optim.LR(0.03), optim.Alpha(0.9), optim.Eps(1e-6), optim.WeightDecay(0.1), optim.Momentum(0.8), optim.Centered())
		}, rmsprop(0.03, 0.9, 1e-6, 0.1, 0.8, true), cell{}},
		{"rmsprop/centered", func(p params) optim.Optimizer { return optim.NewRMSprop(p, optim.Centered()) }, rmsprop(0.01, 0.99, 1e-8, 0, 0, true), cell{}},
		{"adagrad", func(p params) optim.Optimizer { return optim.NewAdagrad(p) }, adagrad(0.01, 0, 0, 1e-10, 1), cell{}},
		{"adagrad/all", func(p params) optim.Optimizer {
			return optim.NewAdagrad(p, optim.LR(0.3), optim.LRDecay(0.1), optim.WeightDecay(0.05), optim.Eps(1e-3), optim.InitialAccumulator(0.5), optim.Maximize())
		}, adagrad(0.3, 0.1, 0.05, 1e-3, -1), cell{a: 0.5}},
		{"adam/amsgrad", func(p params) optim.Optimizer {
			return optim.NewAdam(p, optim.LR(0.1), optim.AMSGrad(), optim.WeightDecay(0.1), optim.Betas(0.5, 0.6))
		}, amsgrad(0.1, 0.5, 0.6, 1e-8, 0.1, false), cell{}},
		{"adamw/amsgrad", func(p params) optim.Optimizer { return optim.NewAdamW(p, optim.LR(0.1), optim.AMSGrad()) }, amsgrad(0.1, 0.9, 0.999, 1e-8, 0.01, true), cell{}},
	} {
		for dt, tol := range map[amp.DType]float64{amp.Float64: 1e-12, amp.Float32: 2e-5, amp.BFloat16: 0.1} {
			t.Run(fmt.Sprintf("%s/%v", c.name, dt), func(t *testing.T) {
				p := amp.FromFloat64s(dt, []float64{1, -2, 0.5, 0.25}, 2, 2).SetName("p").RequireGrad()
				o := c.make(params{p})
				ref := make([]cell, p.Len())
				for i, v := range p.Float64s() {
					ref[i] = c.start
					ref[i].p = v
				}
				for step := 1; step <= 8; step++ {
					k := 1 / float64(step)
					p.SetGrad(amp.FromFloat64s(dt, []float64{2 * k, -0.5 * k * k, 0.3, -1e-3 * k}, 2, 2))
					for i, g := range p.Grad().Float64s() {
						c.ref(&ref[i], g, step)
					}
					o.Step()
				}
				for i, got := range p.Float64s() {
					if want := ref[i].p; !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
						t.Errorf("element %d: %v, want %v", i, got, want)
					}
				}
			})
		}
	}
}

// TestLargeParameter: pieces and workers cover every element once, whatever the size.
func TestLargeParameter(t *testing.T) {
	const n = 1<<16 + 513
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i%7) - 3
	}
	for _, dt := range []amp.DType{amp.Float32, amp.Float16} {
		p := amp.FromFloat64s(dt, make([]float64, n)).RequireGrad()
		g := amp.FromFloat64s(dt, make([]float64, n))
		amp.Assign(g, amp.From(v))
		p.SetGrad(g)
		o := optim.NewSGD([]*amp.Tensor{p}, optim.LR(0.5), optim.Momentum(0.5))
		o.Step()
		o.Step()
		for i, x := range p.Float64s() {
			if want := -1.25 * float64(v[i]); x != want { // 0.5·g + 0.5·1.5·g
				t.Fatalf("%v element %d: %v, want %v", dt, i, x, want)
			}
		}
	}
}

func TestGroups(t *testing.T) {
	leaf := func(name string) *amp.Tensor { return amp.From([]float32{1}).SetName(name).RequireGrad() }
	a, b, c := leaf("a"), leaf("b"), leaf("c")
	o := optim.NewSGD([]*amp.Tensor{a, a}, optim.LR(0.5), optim.WeightDecay(0.5)) // a is shared by two layers
	g := o.AddGroup(optim.Group{Name: "head", Params: []*amp.Tensor{b}, Options: []optim.Option{optim.LR(0.25), optim.Momentum(0.5), optim.Maximize()}})
	if len(o.Parameters()) != 2 || len(o.Groups()) != 2 || o.LearningRate() != 0.5 || g.LR() != 0.25 {
		t.Fatalf("%d parameters, %d groups, rates %v %v", len(o.Parameters()), len(o.Groups()), o.LearningRate(), g.LR())
	}
	for range 2 {
		a.SetGrad(amp.From([]float32{1}))
		b.SetGrad(amp.From([]float32{1}))
		o.Step()
	}
	// a: 1 - 0.5·(1+0.5) = 0.25, then 0.25 - 0.5·(1+0.125) = -0.3125.
	// b: d = -1+0.5 = -0.5, 1.125; then d = -1+0.5625 = -0.4375, buf = -0.6875, 1.125+0.171875.
	if a.Item() != -0.3125 || b.Item() != 1.296875 {
		t.Errorf("a %v, b %v", a.Item(), b.Item())
	}
	o.SetLR(1)
	if g.LR() != 1 {
		t.Error("SetLR left a group out")
	}
	o.ZeroGrad()
	if a.Grad() != nil || b.Grad() != nil {
		t.Error("gradients are left")
	}
	for name, bad := range map[string]optim.Group{
		"twice":      {Params: []*amp.Tensor{a}},
		"empty":      {},
		"integers":   {Params: []*amp.Tensor{amp.From([]int64{1})}},
		"nil":        {Params: []*amp.Tensor{nil}},
		"option":     {Params: []*amp.Tensor{c}, Options: []optim.Option{optim.Eps(1)}},
		"range":      {Params: []*amp.Tensor{c}, Options: []optim.Option{optim.LR(math.NaN())}},
		"fused":      {Params: []*amp.Tensor{c}, Options: []optim.Option{optim.Fused()}},
		"dampening":  {Params: []*amp.Tensor{c}, Options: []optim.Option{optim.Nesterov(), optim.Momentum(0.9), optim.Dampening(0.1)}},
		"second one": {Params: []*amp.Tensor{c, b}},
	} {
		if err := amp.Maybe(func() { o.AddGroup(bad) }); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(o.Groups()) != 2 || len(o.Parameters()) != 2 {
		t.Error("a refused group was added")
	}
	err := amp.Maybe(func() { optim.NewRMSprop([]*amp.Tensor{c}, optim.Betas(0.9, 0.9)) })
	if err == nil || !strings.Contains(err.Error(), "Betas is not an option of RMSprop") || !strings.Contains(err.Error(), "Alpha") {
		t.Error(err)
	}
}

func TestClipValueAndNorms(t *testing.T) {
	a, b := amp.From([]float32{0, 0}).RequireGrad(), amp.From([]float32{0, 0}, 2, 1).RequireGrad()
	c := amp.From([]float32{0}).RequireGrad() // no gradient
	params := []*amp.Tensor{a, b, c}
	set := func(w, x, y, z float32) {
		a.SetGrad(amp.From([]float32{w, x}))
		b.SetGrad(amp.From([]float32{y, z}, 2, 1))
	}
	inf := math.Inf(1)
	set(3, -4, 0, -5)
	for p, want := range map[float64]float64{1: 12, 2: math.Sqrt(50), 3: math.Cbrt(27 + 64 + 125), inf: 5} {
		if got := optim.GradNorm(params, optim.NormType(p)); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("norm %v: %v, want %v", p, got, want)
		}
	}
	if n := optim.ClipGradNorm(params, 2.5, optim.NormType(inf)).Value(); n != 5 || math.Abs(b.Grad().Float64s()[1]+2.5) > 1e-6 {
		t.Errorf("norm %v, clipped to %v", n, b.Grad().Float64s())
	}
	set(3, float32(math.NaN()), float32(-inf), 0.5)
	if n := optim.GradNorm(params, optim.NormType(inf)); n == n {
		t.Errorf("the norm of NaN is %v", n)
	}
	optim.ClipGradValue(params, 1)
	if g, h := a.Grad().Float64s(), b.Grad().Float64s(); g[0] != 1 || g[1] == g[1] || !slices.Equal(h, []float64{-1, 0.5}) {
		t.Errorf("clipped to %v %v", g, h)
	}
	if optim.GradNorm([]*amp.Tensor{c}) != 0 {
		t.Error("a norm without a gradient")
	}
	for name, f := range map[string]func(){
		"nil in a norm":  func() { optim.ClipGradNorm([]*amp.Tensor{nil}, 1) },
		"nil in a value": func() { optim.ClipGradValue([]*amp.Tensor{nil}, 1) },
		"norm type":      func() { optim.ClipGradNorm(params, 1, optim.NormType(0)) },
		"NaN bound":      func() { optim.ClipGradValue(params, math.NaN()) },
		"negative bound": func() { optim.ClipGradValue(params, -1) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
