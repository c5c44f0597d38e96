package optim

import "github.com/halftone-ml/halftone/amp"

// Adamax is Adam by the largest gradient (Kingma and Ba, 2015), as torch.optim.Adamax; amp.UpdateAdamax has the formula.
type Adamax struct{ base }

var adamaxKind = &kind{
	name: "Adamax", options: []string{"Betas", "Eps"},
	defaults: settings{Update: amp.Update{LR: 0.002, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}},
	names:    [3]string{"exp_avg", "exp_inf"},
	wants:    func(s *settings) [3]bool { return [3]bool{true, true} },
	step:     func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateAdamax(p, st[0], st[1], u) },
}

// NewAdamax returns an optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, one that is no leaf,
// or none that wants a gradient.
func NewAdamax(params []*amp.Tensor, opts ...Option) *Adamax {
	return &Adamax{newBase(adamaxKind, params, opts)}
}
