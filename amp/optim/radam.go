package optim

import "github.com/halftone-ml/halftone/amp"

// RAdam is rectified Adam (Liu et al., 2020), as torch.optim.RAdam; amp.UpdateRAdam has the formula.
type RAdam struct{ base }

var radamKind = &kind{
	name: "RAdam", options: []string{"Betas", "Eps", "DecoupledWeightDecay"},
	defaults: settings{Update: amp.Update{LR: 0.001, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}},
	names:    [3]string{"exp_avg", "exp_avg_sq"},
	wants:    func(s *settings) [3]bool { return [3]bool{true, true} },
	step:     func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateRAdam(p, st[0], st[1], u) },
}

// NewRAdam returns an optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, one that is no leaf,
// or none that wants a gradient.
func NewRAdam(params []*amp.Tensor, opts ...Option) *RAdam {
	return &RAdam{newBase(radamKind, params, opts)}
}
