package cudart_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// A program is a small network, drawn by a seed, with what trains it. Its ops hand on tensors [b t f] in a pool, of which each op draws its
// inputs; parameters are drawn as well, and some are used twice.
type program struct {
	seed    uint64
	draw    *rand.Rand
	root    *amp.Scope
	dt      amp.DType // of parameters and data
	half    amp.DType // of autocast; NoDType without it
	b, t, f int
	ops     []drawnOp
	params  []*amp.Tensor
	state   []*amp.Tensor // running statistics
	x, y    *amp.Tensor
	last    *amp.Tensor // a parameter that the loss depends on in any case
	opts    []amp.Optimizer
	scaler  *amp.GradScaler
	frozen  *amp.Tensor // a parameter without gradient but in each third step; nil for none
	steps   int
	clip    float64 // largest norm of gradients; 0 does not clip
	passes  int     // backward passes a step
	see     func(ts ...*amp.Tensor)
	back    []amp.BackwardOption
}

// A drawnOp is one of a program, with its name.
type drawnOp struct {
	name string
	run  func(s *amp.Scope, pool []*amp.Tensor) *amp.Tensor
}

// drawProgram draws one for a device: the same one for a seed, whatever the options are that the scope is made with.
func drawProgram(seed uint64, device string, dt amp.DType, opts ...amp.Option) *program {
	p := &program{seed: seed, draw: rand.New(rand.NewPCG(seed, 1)), dt: dt, see: func(...*amp.Tensor) {}}
	p.root = amp.NewScope(append(opts, amp.On(device), amp.Seed(seed))...)
	p.b, p.t, p.f = 1+p.draw.IntN(4), 1+p.draw.IntN(9), []int{5, 8, 16, 24, 33}[p.draw.IntN(5)]
	half := []amp.DType{amp.Float16, amp.BFloat16, amp.Float16, amp.NoDType}[p.draw.IntN(4)]
	if dt == amp.Float32 {
		p.half = half
	}
	for range 4 + p.draw.IntN(9) {
		p.ops = append(p.ops, p.drawOp())
	}
	p.x, p.y = amp.Randn(p.root, dt, 0, 1, p.b, p.t, p.f), amp.Randn(p.root, dt, 0, 1, p.b, p.t, p.f)
	p.last = amp.Randn(p.root, dt, 1, 0.5, p.f).RequireGrad()
	p.params = append(p.params, p.last)
	p.drawTraining()
	return p
}

func (p *program) drawTraining() {
	p.passes = 1 + p.draw.IntN(5)/4
	if p.draw.IntN(3) == 0 {
		p.clip = 0.5
	}
	if p.draw.IntN(4) == 0 {
		if p.frozen = p.params[p.draw.IntN(len(p.params))]; p.frozen == p.last {
			p.frozen = nil
		}
	}
	last := slices.Clone(p.params)
	p.draw.Shuffle(len(last), func(i, j int) { last[i], last[j] = last[j], last[i] })
	if p.draw.IntN(3) == 0 && len(last) > 1 { // two optimizers
		n := 1 + p.draw.IntN(len(last)-1)
		p.opts = append(p.opts, p.drawOptimizer(last[:n]))
		last = last[n:]
	}
	p.opts = append(p.opts, p.drawOptimizer(last))
	init := []float64{1, 3, 1024}[p.draw.IntN(3)]
	p.scaler = amp.NewGradScaler(amp.InitScale(init), amp.GrowthInterval(2), amp.GrowthFactor(1.7))
}

func (p *program) drawOptimizer(w []*amp.Tensor) amp.Optimizer {
	opts := []optim.Option{optim.LR(0.02)}
	if p.draw.IntN(2) == 0 {
		opts = append(opts, optim.Fused())
	}
	if p.draw.IntN(3) == 0 {
		opts = append(opts, optim.WeightDecay(0.1))
	}
	kind := p.draw.IntN(6)
	if p.dt == amp.Float64 && kind > 1 {
		kind = 0 // the others make steps of gradients that are rounding errors
	}
	switch kind {
	case 0:
		return optim.NewSGD(w, opts...)
	case 1:
		return optim.NewSGD(w, append(opts, optim.Momentum(0.9))...)
	case 2:
		return optim.NewAdam(w, opts...)
	case 3:
		return optim.NewAdamW(w, opts...)
	case 4:
		return optim.NewRMSprop(w, opts...)
	}
	return optim.NewAdagrad(w, opts...)
}

// param draws a parameter, or one of the same shape that is there already.
func (p *program) param(shape ...int) *amp.Tensor {
	if p.draw.IntN(5) == 0 {
		for _, w := range p.params {
			if slices.Equal(w.Shape(), shape) {
				return w
			}
		}
	}
	w := amp.Randn(p.root, p.dt, 0, 0.4, shape...).RequireGrad()
	w.SetName(fmt.Sprintf("w%d", len(p.params)))
	p.params = append(p.params, w)
	return w
}

// bias draws a parameter, or none.
func (p *program) bias(n int) *amp.Tensor {
	if p.draw.IntN(3) == 0 {
		return nil
	}
	return p.param(n)
}

// from draws which of the pool an op reads: mostly the last.
func (p *program) from() func(pool []*amp.Tensor) *amp.Tensor {
	back := []int{1, 1, 1, 2, 3, 5}[p.draw.IntN(6)]
	return func(pool []*amp.Tensor) *amp.Tensor { return pool[max(0, len(pool)-back)] }
}

// forward runs the ops and returns the last result.
func (p *program) forward(s *amp.Scope) *amp.Tensor {
	pool := []*amp.Tensor{p.x}
	for _, o := range p.ops {
		h := o.run(s.In(o.name), pool)
		p.see(h)
		pool = append(pool, h)
	}
	return amp.Mul(s, pool[len(pool)-1], p.last)
}

// step takes one training step and returns its loss.
func (p *program) step(s *amp.Scope) (loss *amp.Tensor) {
	for _, w := range p.params {
		w.ZeroGrad()
	}
	for range p.passes {
		run := s
		if p.half != amp.NoDType {
			run = s.Autocast(p.half)
		}
		loss = nn.MSELoss(run, p.forward(run), p.y)
		p.scaler.Scale(s, loss).Backward(p.back...)
		p.seeGrads()
	}
	if p.steps++; p.frozen != nil && p.steps%3 != 0 {
		p.frozen.ZeroGrad()
	}
	for _, o := range p.opts {
		if !slices.ContainsFunc(o.Parameters(), func(w *amp.Tensor) bool { return w.Grad() != nil }) {
			continue // none that the loss depends on
		}
		if p.clip > 0 {
			p.scaler.Unscale(o)
			p.seeGrads()
			optim.ClipGradNorm(o.Parameters(), p.clip)
		}
		p.scaler.Step(o)
		p.seeGrads()
	}
	p.scaler.Update()
	p.see(p.params...)
	return loss
}

func (p *program) seeGrads() {
	for _, w := range p.params {
		if g := w.Grad(); g != nil {
			p.see(g)
		}
	}
}
