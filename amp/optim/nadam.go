package optim

import "github.com/halftone-ml/halftone/amp"

// NAdam is Adam with Nesterov's momentum (Dozat, 2016), as torch.optim.NAdam; amp.UpdateNAdam has the formula. Its mu_product is no part of
// the state: it is worked out from the number of updates, with the present beta1.
type NAdam struct{ base }

var nadamKind = &kind{
	name: "NAdam", options: []string{"Betas", "Eps", "MomentumDecay", "DecoupledWeightDecay"},
	defaults: settings{Update: amp.Update{LR: 0.002, MomentumDecay: 0.004, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}},
	names:    [3]string{"exp_avg", "exp_avg_sq"},
	wants:    func(s *settings) [3]bool { return [3]bool{true, true} },
	step:     func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateNAdam(p, st[0], st[1], u) },
}

// NewNAdam returns an optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, one that is no leaf,
// or none that wants a gradient.
func NewNAdam(params []*amp.Tensor, opts ...Option) *NAdam {
	return &NAdam{newBase(nadamKind, params, opts)}
}
