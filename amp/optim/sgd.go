package optim

import "github.com/halftone-ml/halftone/amp"

// SGD is stochastic gradient descent with momentum, weight decay and Nesterov's variant, as torch.optim.SGD.
type SGD struct {
	params   []*amp.Tensor
	u        amp.Update
	momentum map[*amp.Tensor]*amp.Tensor
	steps    int
}

// NewSGD returns an optimizer of params. It panics with amp.ErrArgument for negative settings, Nesterov without momentum or with
// dampening, no parameters, or one that wants no gradient.
func NewSGD(params []*amp.Tensor, opts ...Option) *SGD {
	o := &SGD{params: params, u: amp.Update{LR: 0.001}, momentum: map[*amp.Tensor]*amp.Tensor{}}
	for _, f := range opts {
		f(&o.u)
	}
	if u := o.u; u.LR < 0 || u.Momentum < 0 || u.WeightDecay < 0 {
		misused("NewSGD", "use values of 0 and above", "learning rate %v, momentum %v, weight decay %v", u.LR, u.Momentum, u.WeightDecay)
	}
	if o.u.Nesterov && (o.u.Momentum <= 0 || o.u.Dampening != 0) {
		misused("NewSGD", "add optim.Momentum(0.9) and no dampening", "Nesterov momentum requires a momentum and zero dampening")
	}
	if o.u.Beta1 != 0 || o.u.Beta2 != 0 || o.u.Eps != 0 {
		misused("NewSGD", "leave them out, or use optim.NewAdam", "Betas and Eps are Adam's")
	}
	checkParameters("NewSGD", params)
	return o
}

// Parameters returns the optimized tensors.
func (o *SGD) Parameters() []*amp.Tensor { return o.params }

// SetLR changes the learning rate, for schedules.
func (o *SGD) SetLR(lr float64) { o.u.LR = lr }

// LearningRate returns the learning rate.
func (o *SGD) LearningRate() float64 { return o.u.LR }

// ZeroGrad removes the gradients of all parameters.
func (o *SGD) ZeroGrad() {
	for _, p := range o.params {
		p.ZeroGrad()
	}
}

// Step updates every parameter that has a gradient. A parameter without one is left alone; if none has one, Step panics with
// amp.ErrGrad, since a step without Backward is a mistake.
func (o *SGD) Step() {
	withGradients("SGD.Step", o.params, func(p *amp.Tensor) {
		u := o.u
		var buf *amp.Tensor
		if u.Momentum != 0 {
			if buf = o.momentum[p]; buf == nil {
				buf = amp.Like(p).SetName(p.Name() + ".momentum")
				o.momentum[p] = buf
				u.First = true
			}
		}
		amp.UpdateSGD(p, buf, u)
	})
	o.steps++
}

// Steps returns the number of steps taken: the effective ones, since a GradScaler does not call Step for those it skips.
func (o *SGD) Steps() int { return o.steps }
