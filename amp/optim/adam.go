package optim

import "github.com/halftone-ml/halftone/amp"

// Adam is the optimizer of Kingma and Ba (2015), and AdamW that of Loshchilov and Hutter (2019), as torch.optim.Adam and AdamW.
type Adam struct {
	params []*amp.Tensor
	u      amp.Update
	state  map[*amp.Tensor]*adamState
	steps  int
}

// adamState is what Adam keeps of one parameter; its step counts the updates of that parameter alone.
type adamState struct {
	mean, square *amp.Tensor
	step         int
}

// NewAdam returns an Adam optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, or one
// that wants no gradient.
func NewAdam(params []*amp.Tensor, opts ...Option) *Adam {
	return newAdam("NewAdam", params, amp.Update{}, opts)
}

// NewAdamW returns an optimizer of params with decoupled weight decay; see NewAdam.
func NewAdamW(params []*amp.Tensor, opts ...Option) *Adam {
	return newAdam("NewAdamW", params, amp.Update{Decoupled: true, WeightDecay: 0.01}, opts)
}

func newAdam(name string, params []*amp.Tensor, u amp.Update, opts []Option) *Adam {
	u.LR, u.Beta1, u.Beta2, u.Eps = 0.001, 0.9, 0.999, 1e-8
	for _, f := range opts {
		f(&u)
	}
	if u.LR < 0 || u.Eps < 0 || u.WeightDecay < 0 || !(u.Beta1 >= 0 && u.Beta1 < 1) || !(u.Beta2 >= 0 && u.Beta2 < 1) {
		misused(name, "use betas from 0 to below 1, and the rest of 0 and above",
			"learning rate %v, betas %v and %v, eps %v, weight decay %v", u.LR, u.Beta1, u.Beta2, u.Eps, u.WeightDecay)
	}
	if u.Momentum != 0 || u.Dampening != 0 || u.Nesterov {
		misused(name, "leave them out, or use optim.NewSGD", "Momentum, Dampening and Nesterov are SGD's; Betas are their counterpart here")
	}
	checkParameters(name, params)
	return &Adam{params: params, u: u, state: map[*amp.Tensor]*adamState{}}
}

// Parameters returns the optimized tensors.
func (o *Adam) Parameters() []*amp.Tensor { return o.params }

// SetLR changes the learning rate, for schedules.
func (o *Adam) SetLR(lr float64) { o.u.LR = lr }

// LearningRate returns the learning rate.
func (o *Adam) LearningRate() float64 { return o.u.LR }

// ZeroGrad removes the gradients of all parameters.
func (o *Adam) ZeroGrad() {
	for _, p := range o.params {
		p.ZeroGrad()
	}
}

// Step updates every parameter that has a gradient and leaves the others alone; it panics with amp.ErrGrad if none has one.
func (o *Adam) Step() {
	withGradients("Adam.Step", o.params, func(p *amp.Tensor) {
		st := o.state[p]
		if st == nil {
			st = &adamState{mean: amp.Like(p).SetName(p.Name() + ".mean"), square: amp.Like(p).SetName(p.Name() + ".square")}
			o.state[p] = st
		}
		st.step++
		u := o.u
		u.Step = st.step
		amp.UpdateAdam(p, st.mean, st.square, u)
	})
	o.steps++
}

// Steps returns the number of steps taken: the effective ones, since a GradScaler does not call Step for those it skips.
func (o *Adam) Steps() int { return o.steps }
