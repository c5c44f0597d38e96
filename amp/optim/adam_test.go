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

// TestAdamFormula compares six steps with torch.optim's formulas written out in float64.
func TestAdamFormula(t *testing.T) {
	for _, c := range []struct {
		name              string
		make              func([]*amp.Tensor) *optim.Adam
		lr, b1, b2, decay float64
		decoupled         bool
	}{
		{"adam", func(p []*amp.Tensor) *optim.Adam { return optim.NewAdam(p) }, 0.001, 0.9, 0.999, 0, false},
		{"decay", func(p []*amp.Tensor) *optim.Adam {
			return optim.NewAdam(p, optim.LR(0.1), optim.Betas(0.5, 0.9), optim.WeightDecay(0.1))
		}, 0.1, 0.5, 0.9, 0.1, false},
		{"adamw", func(p []*amp.Tensor) *optim.Adam { return optim.NewAdamW(p, optim.LR(0.1)) }, 0.1, 0.9, 0.999, 0.01, true},
	} {
		for dt, tol := range map[amp.DType]float64{amp.Float64: 1e-13, amp.Float32: 1e-5} {
			t.Run(fmt.Sprintf("%s/%v", c.name, dt), func(t *testing.T) {
				p := amp.FromFloat64s(dt, []float64{1, -2, 0.5}).SetName("p").RequireGrad()
				o := c.make([]*amp.Tensor{p})
				want, m, v := p.Float64s(), make([]float64, 3), make([]float64, 3)
				for step := 1; step <= 6; step++ {
					p.SetGrad(amp.FromFloat64s(dt, []float64{0.3 * float64(step), -0.2, 1e-4}))
					for i, g := range p.Grad().Float64s() {
						if c.decoupled {
							want[i] *= 1 - c.lr*c.decay
						} else {
							g += c.decay * want[i]
						}
						m[i] = c.b1*m[i] + (1-c.b1)*g
						v[i] = c.b2*v[i] + (1-c.b2)*g*g
						mHat, vHat := m[i]/(1-math.Pow(c.b1, float64(step))), v[i]/(1-math.Pow(c.b2, float64(step)))
						want[i] -= c.lr * mHat / (math.Sqrt(vHat) + 1e-8)
					}
					o.Step()
				}
				for i, got := range p.Float64s() {
					if !(math.Abs(got-want[i]) <= tol*(1+math.Abs(want[i]))) {
						t.Errorf("element %d: %v, want %v", i, got, want[i])
					}
				}
			})
		}
	}
}

func TestAdamMisuse(t *testing.T) {
	p := []*amp.Tensor{amp.From([]float32{1}).RequireGrad()}
	for name, f := range map[string]func(){
		"beta of 1":     func() { optim.NewAdam(p, optim.Betas(1, 0.999)) },
		"negative rate": func() { optim.NewAdamW(p, optim.LR(-1)) },
		"no parameters": func() { optim.NewAdam(nil) },
		"momentum":      func() { optim.NewAdam(p, optim.Momentum(0.9)) },
		"betas for SGD": func() { optim.NewSGD(p, optim.Betas(0.9, 0.999)) },
		"frozen":        func() { optim.NewAdam([]*amp.Tensor{amp.From([]float32{1})}) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := amp.Maybe(func() { optim.NewAdam(p).Step() }); !errors.Is(err, amp.ErrGrad) {
		t.Error(err)
	}
	if err := amp.Maybe(func() { optim.NewAdam(p, optim.DecoupledWeightDecay()) }); err == nil || !strings.Contains(err.Error(), "use optim.NewAdamW") {
		t.Errorf("decoupled decay of Adam: %v", err)
	}
}

// TestAdamUnderTheScaler: a skipped step leaves the averages and the step count alone.
func TestAdamUnderTheScaler(t *testing.T) {
	run := func(overflow bool) []float64 {
		root := amp.NewScope()
		defer root.Close()
		w := amp.From([]float32{1, 2}).SetName("w").RequireGrad()
		opt := optim.NewAdam([]*amp.Tensor{w}, optim.LR(0.1))
		scaler := amp.NewGradScaler(amp.InitScale(4), amp.BackoffFactor(0.5))
		for s := range root.Steps(5) {
			opt.ZeroGrad()
			scaler.Scale(s, amp.Sum(s, amp.Mul(s, w, w))).Backward()
			if overflow && s.Step() == 2 {
				bad := amp.From([]float32{float32(math.Inf(1)), 0})
				w.SetGrad(bad)
			} else if !overflow && s.Step() == 2 {
				continue // the same steps without the bad one
			}
			scaler.Step(opt)
			scaler.Update()
		}
		return w.Float64s()
	}
	a, b := run(true), run(false)
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("element %d: %v with a skipped step, %v without that step", i, a[i], b[i])
		}
	}
}
