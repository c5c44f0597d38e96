package optim

import "github.com/halftone-ml/halftone/amp"

// Adagrad is the optimizer of Duchi, Hazan and Singer (2011), as torch.optim.Adagrad; amp.UpdateAdagrad has the formula.
type Adagrad struct{ base }

var adagradKind = &kind{
	name: "Adagrad", options: []string{"LRDecay", "Eps", "InitialAccumulator"},
	defaults: settings{Update: amp.Update{LR: 0.01, Eps: 1e-10}},
	names:    [3]string{"sum"},
	wants:    func(s *settings) [3]bool { return [3]bool{true} },
	initial: func(p *amp.Tensor, s *settings) (st slot) {
		st.tensors[0] = amp.LikeFilled(p, s.accumulator).SetName(p.Name() + ".sum")
		return st
	},
	step: func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateAdagrad(p, st[0], u) },
}

// NewAdagrad returns an optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, one that is no
// leaf, or none that wants a gradient.
func NewAdagrad(params []*amp.Tensor, opts ...Option) *Adagrad {
	return &Adagrad{newBase(adagradKind, params, opts)}
}
