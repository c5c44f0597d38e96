package cudart_test

import (
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
)

// A debtor is a small model whose gradients a GradScaler's Step leaves undivided until somebody looks: plain, it divides them at once, as
// Unscale does.
type debtor struct {
	root   *amp.Scope
	w      []*amp.Tensor
	x      *amp.Tensor
	norm   *nn.BatchNorm
	opts   []amp.Optimizer
	scaler *amp.GradScaler
	plain  bool
	seen   [][]float64
}

// optimizers are those of the two parameters.
var debtorOptimizers = map[string]func(w []*amp.Tensor) []amp.Optimizer{
	"sgd": func(w []*amp.Tensor) []amp.Optimizer {
		return []amp.Optimizer{optim.NewSGD(w, optim.LR(0.1), optim.Momentum(0.9))}
	},
	"adamw":   func(w []*amp.Tensor) []amp.Optimizer { return []amp.Optimizer{optim.NewAdamW(w, optim.LR(0.1))} },
	"rmsprop": func(w []*amp.Tensor) []amp.Optimizer { return []amp.Optimizer{optim.NewRMSprop(w, optim.LR(0.1))} },
	"adagrad": func(w []*amp.Tensor) []amp.Optimizer { return []amp.Optimizer{optim.NewAdagrad(w, optim.LR(0.1))} },
	"of fused": func(w []*amp.Tensor) []amp.Optimizer {
		return []amp.Optimizer{optim.NewAdam(w, optim.LR(0.1), optim.Fused())}
	},
	"backwards": func(w []*amp.Tensor) []amp.Optimizer {
		return []amp.Optimizer{optim.NewSGD([]*amp.Tensor{w[3], w[2], w[1], w[0]}, optim.LR(0.1))}
	},
	"two": func(w []*amp.Tensor) []amp.Optimizer {
		return []amp.Optimizer{optim.NewSGD(w[:1], optim.LR(0.1)), optim.NewAdam(w[1:], optim.LR(0.1))}
	},
}

func newDebtor(device string, dt amp.DType, opts func([]*amp.Tensor) []amp.Optimizer, plain bool) *debtor {
	d := &debtor{root: amp.NewScope(amp.On(device), amp.Seed(4)), plain: plain}
	d.x = amp.Randn(d.root, dt, 0, 1, 7, 33)
	d.w = []*amp.Tensor{amp.Randn(d.root, dt, 0, 1, 33, 65).RequireGrad(), amp.Randn(d.root, dt, 0, 1, 65, 3).RequireGrad()}
	d.norm = nn.NewBatchNorm1d(d.root, 65) // its two gradients lie in one block
	d.w = append(d.w, d.norm.Parameters()...)
	d.opts = opts(d.w)
	d.scaler = amp.NewGradScaler(amp.InitScale(3), amp.GrowthInterval(2), amp.GrowthFactor(1.7)) // products with the inverse are rounded
	return d
}

func (d *debtor) backward(s *amp.Scope) {
	d.scaler.Scale(s, amp.Mean(s, amp.Square(s, amp.MatMul(s, d.norm.Forward(s, amp.MatMul(s, d.x, d.w[0])), d.w[1])))).Backward()
}

func (d *debtor) step() {
	for _, o := range d.opts {
		if d.plain {
			d.scaler.Unscale(o)
		}
		d.scaler.Step(o)
	}
	d.scaler.Update()
}

func (d *debtor) zero() {
	for _, w := range d.w {
		w.ZeroGrad()
	}
}

func (d *debtor) see(ts ...*amp.Tensor) {
	for _, t := range ts {
		d.seen = append(d.seen, t.Float64s())
	}
}

// end reads weights and scale.
func (d *debtor) end() [][]float64 {
	d.see(d.w...)
	d.seen = append(d.seen, []float64{d.scaler.CurrentScale()})
	d.zero()
	d.root.Close()
	return d.seen
}

// looks are the ways to come upon a gradient that is not divided yet.
var looks = map[string]func(d *debtor){
	"nobody": func(d *debtor) {
		for s := range d.root.Steps(3) {
			d.zero()
			d.backward(s)
			d.step()
		}
	},
	"values": func(d *debtor) {
		for s := range d.root.Steps(3) {
			d.zero()
			d.backward(s)
			d.step()
			d.see(d.w[1].Grad(), d.w[0].Grad())
		}
	},
	"a view from before": func(d *debtor) {
		for s := range d.root.Steps(2) {
			d.zero()
			d.backward(s)
			part := amp.Narrow(s.NoGrad(), d.w[0].Grad(), 0, 3, 2)
			d.step()
			d.see(amp.Contiguous(s, part))
		}
	},
	"ops": func(d *debtor) {
		for s := range d.root.Steps(3) {
			d.zero()
			d.backward(s)
			d.step()
			q := s.NoGrad()
			d.see(amp.Sum(q, amp.Square(q, d.w[0].Grad())), amp.To(q, d.w[1].Grad(), amp.Float16))
		}
	},
	"a sum of gradients": func(d *debtor) {
		for s := range d.root.Steps(3) {
			d.backward(s)
			d.step()
		}
		d.see(d.w[0].Grad(), d.w[1].Grad(), d.w[2].Grad(), d.w[3].Grad())
	},
	"another step": func(d *debtor) { // without Backward between: the gradients are divided twice
		for s := range d.root.Steps(2) {
			d.zero()
			d.backward(s)
			d.step()
			d.step()
			d.see(d.w[0].Grad(), d.w[1].Grad(), d.w[2].Grad(), d.w[3].Grad())
		}
	},
	"a plain step": func(d *debtor) {
		for s := range d.root.Steps(2) {
			d.zero()
			d.backward(s)
			d.step()
			for _, o := range d.opts {
				o.Step()
			}
			d.see(d.w[1].Grad())
		}
	},
	"a scale set": func(d *debtor) {
		for s := range d.root.Steps(2) {
			d.zero()
			d.backward(s)
			d.step()
			d.scaler.UpdateTo(5)
			d.see(d.w[1].Grad())
		}
	},
	"a change": func(d *debtor) {
		for s := range d.root.Steps(2) {
			d.zero()
			d.backward(s)
			d.step()
			amp.AddInPlace(s.NoGrad(), d.w[0].Grad(), d.w[0])
			d.see(d.w[0].Grad())
		}
	},
	"an overflow": func(d *debtor) {
		v := amp.Values[float32](d.w[1])
		v[7] = float32(math.Inf(1))
		amp.SetValues(d.w[1], v)
		for s := range d.root.Steps(1) {
			d.backward(s)
			d.step()
			d.see(d.w[0].Grad(), d.w[1].Grad(), d.w[2].Grad(), d.w[3].Grad())
		}
	},
	"clipping": func(d *debtor) {
		for s := range d.root.Steps(2) {
			d.zero()
			d.backward(s)
			d.step()
			optim.ClipGradNorm(d.w, 0.5)
			d.see(d.w[0].Grad(), d.w[1].Grad(), d.w[2].Grad(), d.w[3].Grad())
		}
	},
	"a replay": func(d *debtor) {
		for s := range d.root.Steps(1) {
			d.backward(s)
			d.step()
		}
		g := d.root.Capture(func(s *amp.Scope) {
			d.zero()
			d.backward(s)
			d.step()
		})
		defer g.Close()
		if !d.plain && cudart.Debts(d.root.Device()) != 0 {
			panic("nothing has been computed that could owe")
		}
		g.Replay()
		g.Replay()
		d.see(d.w[0].Grad(), d.w[1].Grad(), d.w[2].Grad(), d.w[3].Grad())
		g.Replay()
		d.see(d.w[1].Grad())
		for s := range d.root.Steps(1) { // and on
			d.backward(s)
			d.step()
		}
		g.Replay()
		d.see(d.w[1].Grad(), d.w[0].Grad())
	},
	"a replay that adds": func(d *debtor) {
		for s := range d.root.Steps(1) {
			d.backward(s)
			d.step()
		}
		g := d.root.Capture(func(s *amp.Scope) {
			d.backward(s)
			d.step()
		})
		defer g.Close()
		g.Replay()
		for s := range d.root.Steps(1) {
			d.backward(s)
			d.step()
		}
		g.Replay()
		d.see(d.w[0].Grad(), d.w[1].Grad(), d.w[2].Grad(), d.w[3].Grad())
	},
	"a replay that looks": func(d *debtor) {
		sum := amp.Zeros(d.root, d.w[0].DType())
		for s := range d.root.Steps(1) {
			d.zero()
			d.backward(s)
			d.step()
		}
		g := d.root.Capture(func(s *amp.Scope) {
			d.zero()
			d.backward(s)
			d.step()
			q := s.NoGrad()
			amp.AddInPlace(q, sum, amp.Sum(q, amp.Abs(q, d.w[0].Grad())))
		})
		defer g.Close()
		g.Replay()
		g.Replay()
		d.see(sum, d.w[0].Grad())
	},
}

// TestGradientsThatOwe: whoever looks at a gradient after the step, and however, finds it divided, bit for bit as if it had been at once.
func TestGradientsThatOwe(t *testing.T) {
	device := gpu(t)
	for name, opts := range debtorOptimizers {
		for look, f := range looks {
			if name == "of fused" && look == "an overflow" {
				continue // such a step leaves the gradients as they are
			}
			t.Run(name+"/"+look, func(t *testing.T) {
				run := func(plain bool) [][]float64 {
					d := newDebtor(device, amp.Float32, opts, plain)
					f(d)
					return d.end()
				}
				want, got := run(true), run(false)
				if !slices.EqualFunc(want, got, func(a, b []float64) bool {
					return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
				}) {
					t.Errorf("%v, divided at once %v", got, want)
				}
			})
		}
	}
	if n := cudart.Debts(device); n != 0 {
		t.Errorf("%d blocks still owe, though all are freed", n)
	}
}
