// Package optim holds optimizers and what is done to gradients before them, built from amp's public ops.
package optim

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// What every optimizer checks and does alike.

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
