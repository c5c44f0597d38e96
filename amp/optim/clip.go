package optim

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// ClipGradNorm scales all gradients together so that their 2-norm does not exceed max, and returns the norm they had, as
// torch.nn.utils.clip_grad_norm_: the factor is min(1, max/(norm+1e-6)). Call it after scaler.Unscale. A non-finite norm makes the
// gradients non-finite too; the step is then skipped by the flag that Unscale recorded.
func ClipGradNorm(params []*amp.Tensor, max float64) float64 {
	sum := 0.0
	for _, p := range params {
		if g := p.Grad(); g != nil {
			sum += amp.SumOfSquares(g)
		}
	}
	norm := math.Sqrt(sum)
	if factor := max / (norm + 1e-6); factor < 1 || factor != factor {
		for _, p := range params {
			if p.Grad() != nil {
				amp.ScaleGrad(p, factor)
			}
		}
	}
	return norm
}
