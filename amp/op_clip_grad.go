package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opClampInPlace *Op

func init() {
	opClampInPlace = define(Op{
		Name: "clamp_", Doc: "dst brought into [low, high]; NaN stays", Args: []string{"dst"}, Why: "in place", InPlace: true, CUDA: "clamp_",
		Check: checkNumberInPlace,
		CPU: onViews(func(c *Call) {
			if c.In[0].dt == Float64 {
				unaryOn(c.Out, c.In[0], clampTo[float64](c.Pair))
				return
			}
			unaryOn(c.Out, c.In[0], clampTo[float32](c.Pair))
		}),
	})
}

func clampTo[T float32 | float64](bounds [2]float64) func(dst, x []T) {
	lo, hi := T(bounds[0]), T(bounds[1])
	return func(dst, x []T) {
		for i, v := range x {
			dst[i] = min(max(v, lo), hi)
		}
	}
}

// ClampGrad brings every element of a parameter's gradient into [lo, hi], in place: what clipping by value does. NaN stays NaN.
func ClampGrad(p *Tensor, lo, hi float64) {
	p.needGrad("ClampGrad")
	optimizerScope(p).apply(opClampInPlace, Attrs{Pair: [2]float64{lo, hi}}, p.grad)
	p.grad.clipped = true
}

// SumOfPowers returns Σ |x|ᵖ, accumulated in float64; max |x| for an infinite p, NaN if an element is.
func SumOfPowers(t *Tensor, p float64) float64 {
	t.live("SumOfPowers")
	return sumOfPowers(t, p)
}

func sumOfPowers(t *Tensor, p float64) float64 {
	if p == 2 {
		return SumOfSquares(t)
	}
	sum := 0.0
	t.eachChunk("SumOfPowers", func(values []float64) {
		for _, v := range values {
			switch v = math.Abs(v); {
			case p == 1:
				sum += v
			case math.IsInf(p, 1):
				sum = max(sum, v)
			default:
				sum += cpu.Pow(v, p)
			}
		}
	})
	return sum
}
