package optim

import "github.com/halftone-ml/halftone/amp"

// Adam is the optimizer of Kingma and Ba (2015), and AdamW that of Loshchilov and Hutter (2019), as torch.optim.Adam and AdamW;
// amp.UpdateAdam has the formula.
type Adam struct{ base }

var adamKind, adamWKind = newAdamKind("Adam", 0, false), newAdamKind("AdamW", 0.01, true)

func newAdamKind(name string, decay float64, decoupled bool) *kind {
	fix := "use optim.NewAdamW, whose weight decay is 0.01 unless given" // torch's Adam takes it
	if decoupled {
		fix = "leave it out; AdamW's weight decay is decoupled"
	}
	return &kind{
		name: name, options: []string{"Betas", "Eps", "AMSGrad"}, fixes: map[string]string{"DecoupledWeightDecay": fix},
		defaults: settings{Update: amp.Update{LR: 0.001, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: decay, Decoupled: decoupled}},
		names:    [3]string{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"},
		wants:    func(s *settings) [3]bool { return [3]bool{true, true, s.amsgrad} },
		step:     func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateAdam(p, st[0], st[1], st[2], u) },
	}
}

// NewAdam returns an Adam optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, one that
// is no leaf, or none that wants a gradient.
func NewAdam(params []*amp.Tensor, opts ...Option) *Adam {
	return &Adam{newBase(adamKind, params, opts)}
}

// NewAdamW returns an optimizer of params with decoupled weight decay; see NewAdam.
func NewAdamW(params []*amp.Tensor, opts ...Option) *Adam {
	return &Adam{newBase(adamWKind, params, opts)}
}
