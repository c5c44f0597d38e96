package optim

import "github.com/halftone-ml/halftone/amp"

// Rprop is resilient backpropagation (Riedmiller and Braun, 1993), as torch.optim.Rprop; amp.UpdateRprop has the formula. It is meant for
// gradients of the whole set. The learning rate is the first step alone, and a schedule moves nothing after it.
type Rprop struct{ base }

var rpropKind = &kind{
	name: "Rprop", options: []string{"Etas", "StepSizes"}, lacks: []string{"WeightDecay"},
	defaults: settings{Update: amp.Update{LR: 0.01, EtaMinus: 0.5, EtaPlus: 1.2, StepMin: 1e-6, StepMax: 50}},
	checks: []check{
		{"Etas", "use optim.Etas(0.5, 1.2)", func(s *settings) string {
			return when(!(s.EtaMinus > 0 && s.EtaMinus < 1 && s.EtaPlus > 1), "etaminus is not between 0 and 1, or etaplus not above 1")
		}},
		{"StepSizes", "use optim.StepSizes(1e-6, 50)", func(s *settings) string {
			return when(s.StepMin > s.StepMax, "the shortest step is longer than the longest")
		}},
	},
	names: [3]string{"prev", "step_size"},
	wants: func(s *settings) [3]bool { return [3]bool{true, true} },
	step:  func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateRprop(p, st[0], st[1], u) },
}

// NewRprop returns an optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, one that is no leaf,
// or none that wants a gradient.
func NewRprop(params []*amp.Tensor, opts ...Option) *Rprop {
	return &Rprop{newBase(rpropKind, params, opts)}
}
