package amp

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/internal/optional"
)

// A levelScaler is Apex's LossScaler for one loss.
type levelScaler struct {
	scale float64
	clean int // updates without overflow since the last change
}

// window is the number of clean updates after which Apex doubles the scale.
const window = 2000

// update follows Apex: halve and skip on overflow, double after window clean updates, within floor and ceiling. A static scale never
// skips.
func (l *levelScaler) update(p *properties, overflow bool) (skip bool) {
	switch {
	case !p.dynamic:
		return false
	case overflow:
		l.scale = math.Max(p.floor, l.scale/2)
		l.clean = 0
		return true
	}
	if l.clean++; l.clean == window {
		l.scale = math.Min(p.ceiling, l.scale*2)
		l.clean = 0
	}
	return false
}

// A LevelOptimizer is an optimizer prepared by Initialize.
type LevelOptimizer struct {
	opt     Optimizer
	p       properties
	scalers []levelScaler
	masters map[*Tensor]*Tensor // float32 master of each cast parameter
	stash   map[*Tensor]*Tensor // unscaled gradients that were there before a backward pass
	delayed bool                // gradients are still scaled, by DelayUnscale
	skip    bool                // the next Step is skipped
	skipped int
	culprit string
}

// A ScaleLossOption configures ScaleLoss.
type ScaleLossOption func(*scaleLoss)

type scaleLoss struct {
	id    int
	delay bool
}

// LossID says which of NumLosses losses this is, from 0.
func LossID(id int) ScaleLossOption { return func(c *scaleLoss) { c.id = id } }

// DelayUnscale leaves the gradients scaled, for accumulation over several backward passes; the last one is called without it.
func DelayUnscale() ScaleLossOption { return func(c *scaleLoss) { c.delay = true } }

// ScaleLoss is Apex's `with amp.scale_loss(loss, optimizer) as scaled`: backward is called with the loss in float32 times the scale
// and calls Backward on it. Afterwards the gradients are unscaled, into the master weights where there are any and added to what
// was there before, and the scale is updated at once; on overflow the next Step is skipped. It panics with ErrArgument for
// an unknown LossID.
func (o *LevelOptimizer) ScaleLoss(s *Scope, loss *Tensor, backward func(scaled *Tensor), opts ...ScaleLossOption) {
	var c scaleLoss
	optional.Apply("ScaleLoss", opts, &c, misused)
	if c.id < 0 || c.id >= len(o.scalers) {
		fail("ScaleLoss", ErrArgument, "pass amp.NumLosses to Initialize", "loss %d of %d", c.id, len(o.scalers))
	}
	scaler := &o.scalers[c.id]
	s = s.Autocast(NoDType, Enabled(false))
	scaled := To(s, loss, Float32)
	if len(o.masters) == 0 && !o.p.dynamic && scaler.scale == 1 {
		backward(scaled)
		return
	}
	if !o.delayed {
		o.setAside()
	}
	backward(MulScalar(s.In("scaler"), scaled, scaler.scale))
	if c.delay {
		o.delayed = true
		return
	}
	o.delayed = false
	if overflow := o.unscale(scaler.scale); scaler.update(&o.p, overflow) {
		o.skip = true
	}
}

// setAside keeps gradients that are unscaled already apart from those of the backward pass that follows.
func (o *LevelOptimizer) setAside() {
	for _, p := range o.opt.Parameters() {
		if p.grad != nil && o.masters[p] == nil {
			o.stash[p], p.grad = p.grad, nil
		}
	}
}

// unscale divides the gradients of the backward pass by the scale, adds those set aside, and says whether any is not finite.
func (o *LevelOptimizer) unscale(scale float64) (overflow bool) {
	inv := float64(float32(1 / scale))
	for i, p := range o.opt.Parameters() {
		before := o.stash[p]
		delete(o.stash, p)
		if p.grad == nil {
			p.grad = before
			continue
		}
		u, s := &Update{}, optimizerScope(p)
		g := p.grad
		if m := o.masters[p]; m != nil { // the half gradient moves to the master
			g = alloc("ScaleLoss", p.st.dev, Float32, p.shape)
			g.scope = p.grad.scope
			CopyInPlace(s, g, p.grad)
			p.ZeroGrad()
			p, before = m, m.grad
		}
		s.apply(opUnscale, Attrs{Scalar: inv, Update: u}, g)
		if u.NonFinite && !overflow {
			overflow, o.culprit = true, fmt.Sprintf("%s (%v)", paramName(p, i), u.Value)
		}
		p.grad = nil
		if before != nil {
			AddInPlace(s, before, g)
			g.release()
			g = before
		}
		p.grad = g
	}
	return overflow
}

// Step moves the parameters, by way of the master weights where there are any, and copies those back to half. It does nothing the
// first time after an overflow. A closure would compute gradients after the check and can't be passed.
func (o *LevelOptimizer) Step() {
	if o.delayed {
		fail("LevelOptimizer.Step", ErrScaler, "call the last ScaleLoss of an accumulation without amp.DelayUnscale()", "the gradients are still scaled")
	}
	if o.skip {
		o.skip = false
		o.skipped++
		return
	}
	for p, m := range o.masters {
		exchange(p, m)
	}
	defer func() { // a panic in Step leaves the model as it was
		for p, m := range o.masters {
			exchange(p, m)
			Assign(p, m)
		}
	}()
	o.opt.Step()
}

// Skipped returns the number of steps that were skipped, and the first parameter that overflowed the last time.
func (o *LevelOptimizer) Skipped() (steps int, culprit string) { return o.skipped, o.culprit }

// ZeroGrad removes the gradients of parameters and masters.
func (o *LevelOptimizer) ZeroGrad() {
	for _, p := range o.opt.Parameters() {
		p.ZeroGrad()
		if m := o.masters[p]; m != nil {
			m.ZeroGrad()
		}
	}
	o.delayed = false
}

// Parameters returns what gradients are clipped on and weights are saved from: apex.amp.master_params, the masters where there are
// any, else the parameters.
func (o *LevelOptimizer) Parameters() []*Tensor {
	params := o.opt.Parameters()
	out := make([]*Tensor, len(params))
	for i, p := range params {
		if out[i] = p; o.masters[p] != nil {
			out[i] = o.masters[p]
		}
	}
	return out
}

// LossScale returns the scale of a loss; see LossID.
func (o *LevelOptimizer) LossScale(id int) float64 {
	if id < 0 || id >= len(o.scalers) {
		fail("LossScale", ErrArgument, fmt.Sprintf("use numbers from 0 to %d, or more amp.NumLosses", len(o.scalers)-1), "loss %d", id)
	}
	return o.scalers[id].scale
}

// LevelState is what a LevelOptimizer's loss scales need to go on after a restart.
type LevelState struct {
	LossScale []float64 `json:"loss_scale"`
	Unskipped []int     `json:"unskipped"` // clean updates of each since its last change
}

// State returns the state of the loss scales.
func (o *LevelOptimizer) State() LevelState {
	var st LevelState
	for _, l := range o.scalers {
		st.LossScale = append(st.LossScale, l.scale)
		st.Unskipped = append(st.Unskipped, l.clean)
	}
	return st
}

// LoadState restores loss scales; their number must be the same.
func (o *LevelOptimizer) LoadState(st LevelState) error {
	if len(st.LossScale) != len(o.scalers) || len(st.Unskipped) != len(o.scalers) {
		return fmt.Errorf("amp: a state of %d loss scales and %d counts for %d losses; initialize with as many losses as it was saved with", len(st.LossScale), len(st.Unskipped), len(o.scalers))
	}
	for i := range o.scalers {
		o.scalers[i] = levelScaler{st.LossScale[i], st.Unskipped[i]}
	}
	return nil
}
