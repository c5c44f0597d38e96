package optim

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// Muon is momentum orthogonalized by Newton and Schulz's iteration (Jordan, 2024), as torch.optim.Muon; amp.UpdateMuon has the formula. It is
// for the weight matrices of hidden layers; give biases, gains, embeddings and the last layer to AdamW, and both to one GradScaler. The
// iteration's products are of bfloat16 whatever the parameters' dtype.
type Muon struct{ base }

var muonKind = &kind{
	name: "Muon", options: []string{"Momentum", "Nesterov", "NoNesterov", "Eps", "NSCoefficients", "NSSteps", "AdjustLR"},
	lacks: []string{"Maximize", "Fused"}, matrices: true,
	defaults: settings{Update: amp.Update{LR: 0.001, WeightDecay: 0.1, Momentum: 0.95, Nesterov: true, Eps: 1e-7, NS: [3]float64{3.4445, -4.7750, 2.0315}, NSSteps: 5}},
	checks: []check{
		{"NSSteps", "use fewer than 100; five are enough", func(s *settings) string {
			return when(s.NSSteps >= 100, fmt.Sprintf("%v steps of the Newton-Schulz iteration", s.NSSteps))
		}},
		{"AdjustLR", "use amp.AdjustOriginal, amp.AdjustMatchRMSAdamW or amp.AdjustSpectralUnclamped", func(s *settings) string {
			return when(!s.AdjustLR.Valid(), fmt.Sprintf("there is no %v of the rate", s.AdjustLR))
		}},
	},
	names: [3]string{"momentum_buffer"},
	wants: func(*settings) [3]bool { return [3]bool{true} },
	step:  func(p *amp.Tensor, st [3]*amp.Tensor, u amp.Update) { amp.UpdateMuon(p, st[0], u) },
}

// NewMuon returns an optimizer of params, matrices [out in]. It panics with amp.ErrArgument for settings out of range, no parameters, one that
// is no matrix or no leaf, or none that wants a gradient.
func NewMuon(params []*amp.Tensor, opts ...Option) *Muon {
	return &Muon{newBase(muonKind, params, opts)}
}
