package optim

import "github.com/halftone-ml/halftone/amp"

// RMSprop is the optimizer of Hinton's lecture (2012), centered as by Graves (2013) where asked, as torch.optim.RMSprop;
// amp.UpdateRMSprop has the formula.
type RMSprop struct{ base }

var rmspropKind = &kind{
	name: "RMSprop", options: []string{"Alpha", "Eps", "Momentum", "Centered"},
	defaults: settings{Update: amp.Update{LR: 0.01, Alpha: 0.99, Eps: 1e-8}},
	names:    [3]string{"square_avg", "momentum_buffer", "grad_avg"},
	wants:    func(s *settings) [3]bool { return [3]bool{true, s.Momentum > 0, s.centered} },
	step:     func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateRMSprop(p, st[0], st[1], st[2], u) },
}

// NewRMSprop returns an optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, one that is no
// leaf, or none that wants a gradient.
func NewRMSprop(params []*amp.Tensor, opts ...Option) *RMSprop {
	return &RMSprop{newBase(rmspropKind, params, opts)}
}
