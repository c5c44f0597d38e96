package optim

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// Adafactor keeps, for a matrix, the average squares of its rows and columns in place of one for each element (Shazeer and Stern, 2018), as
// torch.optim.Adafactor; amp.UpdateAdafactor has the formula. Its state is small: r + c numbers for a matrix [r c]. The learning rate is
// relative to a parameter's own length, and an upper bound: steps are no longer than 1/√t.
type Adafactor struct{ base }

var adafactorKind = &kind{
	name: "Adafactor", options: []string{"Beta2Decay", "ClipThreshold", "Epsilons"}, lacks: []string{"Fused"},
	defaults: settings{Update: amp.Update{LR: 0.01, Beta2Decay: -0.8, ClipThreshold: 1, Eps2: 1e-3}},
	checks: []check{
		{"Beta2Decay", "use optim.Beta2Decay(-0.8), or another power of 0 and below", func(s *settings) string {
			return when(s.Beta2Decay > 0, fmt.Sprintf("beta2_decay is %v", s.Beta2Decay))
		}},
		{"ClipThreshold", "use optim.ClipThreshold(1), or a larger one", func(s *settings) string {
			return when(s.ClipThreshold < 1, fmt.Sprintf("the clipping threshold is %v", s.ClipThreshold))
		}},
	},
	names: [3]string{"row_var", "col_var", "variance"},
	wants: func(*settings) [3]bool { return [3]bool{true, true, true} },
	keeps: func(p *amp.Tensor) [3]bool { return [3]bool{p.Rank() > 1, p.Rank() > 1, p.Rank() < 2} },
	shape: factorShape,
	step:  func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateAdafactor(p, st[0], st[1], st[2], u) },
}

// factorShape is a parameter's shape with one column, with one row, or as it is.
func factorShape(p *amp.Tensor, i int) []int {
	shape := p.Shape()
	if i < 2 {
		shape[len(shape)-1-i] = 1
	}
	return shape
}

// NewAdafactor returns an optimizer of params. It panics with amp.ErrArgument for settings out of range, no parameters, one that is no leaf, or
// none that wants a gradient.
func NewAdafactor(params []*amp.Tensor, opts ...Option) *Adafactor {
	return &Adafactor{newBase(adafactorKind, params, opts)}
}
