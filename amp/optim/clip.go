package optim

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// A ClipOption configures ClipGradNorm and GradNorm.
type ClipOption func(*float64)

// NormType sets the norm: (Σ |g|ᵖ)^(1/p) for p above 0, the largest |g| for math.Inf(1); the default is 2.
func NormType(p float64) ClipOption { return func(norm *float64) { *norm = p } }

// GradNorm returns the norm of all gradients taken as one vector, in float64, as torch.nn.utils.get_total_norm; 0 without a gradient.
// It panics with amp.ErrArgument for a norm type of 0 or below.
func GradNorm(params []*amp.Tensor, opts ...ClipOption) float64 {
	p := 2.0
	for _, o := range opts {
		o(&p)
	}
	if !(p > 0) {
		misused("GradNorm", "use optim.NormType(1), (2) or (math.Inf(1))", "norm type %v", p)
	}
	total := 0.0
	for _, t := range params {
		switch g := t.Grad(); {
		case g == nil:
		case p == 2:
			total += amp.SumOfSquares(g)
		case math.IsInf(p, 1):
			total = max(total, amp.SumOfPowers(g, p))
		default:
			total += amp.SumOfPowers(g, p)
		}
	}
	switch {
	case p == 2:
		return math.Sqrt(total)
	case p == 1 || math.IsInf(p, 1):
		return total
	}
	return cpu.Pow(total, 1/p)
}

// ClipGradNorm scales all gradients together so that their norm (the 2-norm, unless NormType says otherwise) does not exceed max, and
// returns the norm they had, as torch.nn.utils.clip_grad_norm_: the factor is min(1, max/(norm+1e-6)). Call it after
// scaler.Unscale. A non-finite norm makes the gradients non-finite too; the step is then skipped by the flag that Unscale
// recorded.
func ClipGradNorm(params []*amp.Tensor, max float64, opts ...ClipOption) float64 {
	norm := GradNorm(params, opts...)
	if factor := max / (norm + 1e-6); factor < 1 || factor != factor {
		for _, p := range params {
			if p.Grad() != nil {
				amp.ScaleGrad(p, factor)
			}
		}
	}
	return norm
}

// ClipGradValue brings every element of every gradient into [-max, max], as torch.nn.utils.clip_grad_value_. Call it after
// scaler.Unscale. It panics with amp.ErrArgument for a negative max.
func ClipGradValue(params []*amp.Tensor, max float64) {
	if !(max >= 0) {
		misused("ClipGradValue", "use a bound of 0 and above", "bound %v", max)
	}
	for _, p := range params {
		if p.Grad() != nil {
			amp.ClampGrad(p, -max, max)
		}
	}
}
