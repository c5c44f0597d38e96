package optim

import "github.com/halftone-ml/halftone/amp"

// Adadelta is the optimizer of Zeiler (2012), as torch.optim.Adadelta; amp.UpdateAdadelta has the formula.
type Adadelta struct{ base }

var adadeltaKind = &kind{
	name: "Adadelta", options: []string{"Rho", "Eps"},
	defaults: settings{Update: amp.Update{LR: 1, Alpha: 0.9, Eps: 1e-6}},
	checks:   []check{{"Rho", "use optim.Rho(0.9)", func(s *settings) string { return when(s.Alpha > 1, "rho is above 1") }}},
	names:    [3]string{"square_avg", "acc_delta"},
	wants:    func(s *settings) [3]bool { return [3]bool{true, true} },
	step:     func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateAdadelta(p, st[0], st[1], u) },
}

// NewAdadelta returns an optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, one that is no leaf,
// or none that wants a gradient.
func NewAdadelta(params []*amp.Tensor, opts ...Option) *Adadelta {
	return &Adadelta{newBase(adadeltaKind, params, opts)}
}
