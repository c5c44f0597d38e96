// Package optim holds optimizers and what is done to gradients before them, built from amp's public ops.
package optim

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// An Option configures an optimizer; one that the optimizer has no use for is refused.
type Option func(*amp.Update)

// LR sets the learning rate; the default is 0.001.
func LR(lr float64) Option { return func(u *amp.Update) { u.LR = lr } }

// Momentum sets the share of the last update that SGD keeps; the default is 0.
func Momentum(m float64) Option { return func(u *amp.Update) { u.Momentum = m } }

// Dampening reduces, for SGD, the gradient's share in the momentum buffer after the first step; the default is 0.
func Dampening(d float64) Option { return func(u *amp.Update) { u.Dampening = d } }

// WeightDecay adds that multiple of the parameter to its gradient, or shrinks the parameter in AdamW; the default is 0, and 0.01
// for AdamW.
func WeightDecay(d float64) Option { return func(u *amp.Update) { u.WeightDecay = d } }

// Nesterov makes SGD look ahead along the momentum; it needs a momentum and no dampening.
func Nesterov() Option { return func(u *amp.Update) { u.Nesterov = true } }

// Maximize climbs instead of descending.
func Maximize() Option { return func(u *amp.Update) { u.Maximize = true } }

// Betas sets, for Adam, how much of the averages of the gradient and of its square is kept; the defaults are 0.9 and 0.999.
func Betas(b1, b2 float64) Option { return func(u *amp.Update) { u.Beta1, u.Beta2 = b1, b2 } }

// Eps sets what Adam adds to the denominator; the default is 1e-8. It must not vanish in the parameters' dtype.
func Eps(eps float64) Option { return func(u *amp.Update) { u.Eps = eps } }

// misused panics with amp.ErrArgument.
func misused(op, fix, format string, args ...any) {
	panic(&amp.Error{Op: op, Kind: amp.ErrArgument, Detail: fmt.Sprintf(format, args...), Fix: fix})
}

// checkParameters refuses what no optimizer can move.
func checkParameters(op string, params []*amp.Tensor) {
	if len(params) == 0 {
		misused(op, "pass net.Parameters()", "no parameters")
	}
	for i, p := range params {
		if p == nil || !p.IsLeaf() || !p.RequiresGrad() {
			misused(op, "pass leaves made with RequireGrad, such as net.Parameters()", "parameter %d wants no gradient", i)
		}
	}
}

// withGradients calls f for every parameter that has a gradient, and panics with amp.ErrGrad if none has: a step without
// Backward is a mistake.
func withGradients(op string, params []*amp.Tensor, f func(p *amp.Tensor)) {
	moved := false
	for _, p := range params {
		if p.Grad() != nil {
			moved = true
			f(p)
		}
	}
	if !moved {
		panic(&amp.Error{Op: op, Kind: amp.ErrGrad, Detail: "no parameter has a gradient", Fix: "call loss.Backward() before Step"})
	}
}
