package optim_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestSGDFormula compares five steps with torch.optim.SGD's formula written out in float64.
func TestSGDFormula(t *testing.T) {
	for _, c := range []struct {
		name                 string
		opts                 []optim.Option
		lr, mom, damp, decay float64
		nesterov, maximize   bool
	}{
		{"plain", []optim.Option{optim.LR(0.1)}, 0.1, 0, 0, 0, false, false},
		{"momentum", []optim.Option{optim.LR(0.1), optim.Momentum(0.9)}, 0.1, 0.9, 0, 0, false, false},
		{"dampening", []optim.Option{optim.LR(0.1), optim.Momentum(0.9), optim.Dampening(0.5)}, 0.1, 0.9, 0.5, 0, false, false},
		{"decay", []optim.Option{optim.LR(0.1), optim.WeightDecay(0.01)}, 0.1, 0, 0, 0.01, false, false},
		{"nesterov", []optim.Option{optim.LR(0.1), optim.Momentum(0.9), optim.WeightDecay(0.01), optim.Nesterov()}, 0.1, 0.9, 0, 0.01, true, false},
		{"maximize", []optim.Option{optim.LR(0.1), optim.Momentum(0.5), optim.Maximize()}, 0.1, 0.5, 0, 0, false, true},
	} {
		for _, dt := range []amp.DType{amp.Float64, amp.Float32, amp.BFloat16} {
			t.Run(fmt.Sprintf("%s/%v", c.name, dt), func(t *testing.T) {
				tol := map[amp.DType]float64{amp.Float64: 1e-14, amp.Float32: 1e-6, amp.BFloat16: 0.05}[dt]
				p := amp.FromFloat64s(dt, []float64{1, -2, 0.5}).SetName("p").RequireGrad()
				o := optim.NewSGD([]*amp.Tensor{p}, c.opts...)
				want, buf := p.Float64s(), make([]float64, 3)
				for step := range 5 {
					p.SetGrad(amp.FromFloat64s(dt, []float64{0.3 * float64(step+1), -0.2, 0.1}))
					for i, g := range p.Grad().Float64s() {
						if c.maximize {
							g = -g
						}
						g += c.decay * want[i]
						if c.mom != 0 {
							if step == 0 {
								buf[i] = g
							} else {
								buf[i] = c.mom*buf[i] + (1-c.damp)*g
							}
							if c.nesterov {
								g += c.mom * buf[i]
							} else {
								g = buf[i]
							}
						}
						want[i] -= c.lr * g
					}
					o.Step()
				}
				for i, v := range p.Float64s() {
					if !(math.Abs(v-want[i]) <= tol*(1+math.Abs(want[i]))) {
						t.Errorf("element %d: %v, want %v", i, v, want[i])
					}
				}
				if o.Steps() != 5 {
					t.Error(o.Steps())
				}
			})
		}
	}
}

func TestClipGradNorm(t *testing.T) {
	a, b := amp.From([]float32{0, 0}).RequireGrad(), amp.From([]float32{0}).RequireGrad()
	c := amp.From([]float32{0}).RequireGrad() // without gradient: left alone
	params := []*amp.Tensor{a, b, c}
	set := func(x, y, z float32) { a.SetGrad(amp.From([]float32{x, y})); b.SetGrad(amp.From([]float32{z})) }
	set(3, 0, 4)
	if n := optim.ClipGradNorm(params, 10).Value(); n != 5 || a.Grad().Float64s()[0] != 3 {
		t.Errorf("norm %v, gradient %v", n, a.Grad().Float64s())
	}
	if n := optim.ClipGradNorm(params, 1).Value(); n != 5 || math.Abs(b.Grad().Item()-0.8) > 1e-6 {
		t.Errorf("norm %v, clipped to %v", n, b.Grad().Item())
	}
	set(float32(math.Inf(1)), 1, 1)
	if n := optim.ClipGradNorm(params, 1).Value(); !math.IsInf(n, 1) || !math.IsNaN(a.Grad().Float64s()[0]) || b.Grad().Item() != 0 {
		t.Errorf("norm %v: %v %v", n, a.Grad().Float64s(), b.Grad().Item())
	}
}

func TestSGDMisuse(t *testing.T) {
	p := []*amp.Tensor{amp.From([]float32{1}).RequireGrad()}
	for name, f := range map[string]func(){
		"negative rate":             func() { optim.NewSGD(p, optim.LR(-1)) },
		"nesterov without momentum": func() { optim.NewSGD(p, optim.Nesterov()) },
		"no parameters":             func() { optim.NewSGD(nil) },
		"data":                      func() { optim.NewSGD([]*amp.Tensor{amp.From([]float32{1})}) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := amp.Maybe(func() { optim.NewSGD(p).Step() }); !errors.Is(err, amp.ErrGrad) {
		t.Error(err)
	}
}

// mlp is the tutorial's model: 8→16→16→1, batch 512.
func mlp(root *amp.Scope) (nn.Module, *amp.Tensor, *amp.Tensor) {
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	return net, amp.Randn(root, amp.Float32, 0, 1, 512, 8), amp.Randn(root, amp.Float32, 0, 1, 512, 1)
}

// BenchmarkMLPStep times a whole training step of the tutorial's model, with and without the recorder.
func BenchmarkMLPStep(b *testing.B) {
	for _, c := range []struct {
		name  string
		dt    amp.DType
		level amp.Level
	}{
		{"float32", amp.NoDType, amp.Off}, {"float16", amp.Float16, amp.Off}, {"bfloat16", amp.BFloat16, amp.Off},
		{"float16/trace", amp.Float16, amp.Decisions},
	} {
		b.Run(c.name, func(b *testing.B) {
			root := amp.NewScope(amp.Seed(1), amp.Record(c.level))
			defer root.Close()
			net, x, y := mlp(root)
			opt := optim.NewSGD(net.Parameters(), optim.LR(0.001))
			scaler := amp.NewGradScaler(amp.ScalerEnabled(c.dt == amp.Float16))
			b.ReportAllocs()
			b.ResetTimer()
			for s := range root.Steps(b.N) {
				fwd := s
				if c.dt != amp.NoDType {
					fwd = s.Autocast(c.dt)
				}
				loss := nn.MSELoss(fwd, net.Forward(fwd, x), y)
				opt.ZeroGrad()
				scaler.Scale(s, loss).Backward()
				scaler.Step(opt)
				scaler.Update()
			}
		})
	}
}

func ExampleSGD() {
	root := amp.NewScope()
	defer root.Close()
	w := amp.From([]float32{1, 2}).SetName("w").RequireGrad()
	opt := optim.NewSGD([]*amp.Tensor{w}, optim.LR(0.1))
	for s := range root.Steps(2) {
		opt.ZeroGrad()
		amp.Sum(s, amp.Mul(s, w, w)).Backward() // d/dw = 2w
		opt.Step()
	}
	fmt.Printf("%.2f\n", w.Float64s())
	// Output: [0.64 1.28]
}
