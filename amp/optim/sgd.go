package optim

import "github.com/halftone-ml/halftone/amp"

// SGD is stochastic gradient descent with momentum, weight decay and Nesterov's variant, as torch.optim.SGD; amp.UpdateSGD has the
// formula.
type SGD struct{ base }

var sgdKind = &kind{
	name: "SGD", options: []string{"Momentum", "Dampening", "Nesterov"},
	defaults: settings{Update: amp.Update{LR: 0.001}},
	checks: []check{{"Momentum", "add optim.Momentum(0.9) and no dampening", func(s *settings) string {
		return when(s.Nesterov && (s.Momentum <= 0 || s.Dampening != 0), "Nesterov momentum requires a momentum and zero dampening")
	}}},
	names: [3]string{"momentum_buffer"},
	wants: func(s *settings) [3]bool { return [3]bool{s.Momentum != 0} },
	step:  func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateSGD(p, st[0], u) },
}

// NewSGD returns an optimizer of params. It panics with amp.ErrArgument for negative settings, Nesterov without momentum or with
// dampening, no parameters, one that is no leaf,
// or none that wants a gradient.
func NewSGD(params []*amp.Tensor, opts ...Option) *SGD { return &SGD{newBase(sgdKind, params, opts)} }
