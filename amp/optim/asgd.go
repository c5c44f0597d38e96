package optim

import "github.com/halftone-ml/halftone/amp"

// ASGD is averaged stochastic gradient descent (Polyak and Juditsky, 1992), as torch.optim.ASGD; amp.UpdateASGD has the formula. State holds
// the averaged weights, as ax. Its eta and mu are no part of the state: they are worked out from the number of updates and the present rate,
// which torch's eta follows one step later where a schedule moves it.
type ASGD struct{ base }

var asgdKind = &kind{
	name: "ASGD", options: []string{"Lambd", "Alpha", "T0"},
	defaults: settings{Update: amp.Update{LR: 0.01, Lambda: 1e-4, Alpha: 0.75, T0: 1e6}},
	names:    [3]string{"ax"},
	wants:    func(s *settings) [3]bool { return [3]bool{true} },
	step:     func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateASGD(p, st[0], u) },
}

// NewASGD returns an optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, one that is no leaf,
// or none that wants a gradient.
func NewASGD(params []*amp.Tensor, opts ...Option) *ASGD {
	return &ASGD{newBase(asgdKind, params, opts)}
}
