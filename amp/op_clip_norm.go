package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Clipping by the norm of all gradients, on a device that the host does not wait for: norm_add_ collects Σ |x|ᵖ, clip_norm_ divides.

var opNormAdd, opClipNorm *Op

func init() {
	opNormAdd = define(Op{
		Name: "norm_add_", Doc: "sum += Σ |x|^c, the largest |x| for an infinite c; in float64", Args: []string{"sum", "x"}, Why: "a sum of squares of many gradients needs float64",
		InPlace: true, CUDA: "norm_add",
		Check: func(c *Call) []int {
			if s, x := c.In[0], c.In[1]; s.dt != Float64 || len(s.shape) != 0 || !x.contiguous() || !x.dt.IsFloat() {
				fail(c.Op.Name, ErrShape, "give a 0-dimensional float64 sum and a contiguous float x", "%s", c.shapes())
			}
			return nil
		},
		CPU: func(c *Call) {
			sum, v := &elements[float64](c.In[0])[c.In[0].off], sumOfPowers(c.In[1], c.Scalar)
			if math.IsInf(c.Scalar, 1) {
				*sum = max(*sum, v)
				return
			}
			*sum += v
		},
	})
	opClipNorm = define(Op{
		Name: "clip_norm_", Doc: "grad · min(1, limit/(norm + 1e-6)), the norm from what norm_add_ collected", Args: []string{"grad", "sum"}, Why: "in place", InPlace: true, CUDA: "clip_norm",
		Check: func(c *Call) []int {
			if !c.In[0].contiguous() {
				fail(c.Op.Name, ErrShape, "use a contiguous gradient", "%s", c.shapes())
			}
			return c.In[0].shape
		},
		CPU: func(c *Call) {
			if k := c.Pair[0] / (NormOf(c.In[1].at(c.In[1].off), c.Scalar) + 1e-6); k < 1 || k != k {
				c.Scalar = k
				opScaleInPlace.CPU(c)
			}
		},
	})
}

// NormOf returns the norm that belongs to a sum of powers: its p-th root, the sum itself for p = 1 and the infinite one.
func NormOf(sum, p float64) float64 {
	switch {
	case p == 2:
		return math.Sqrt(sum)
	case p == 1 || math.IsInf(p, 1):
		return sum
	}
	return cpu.Pow(sum, 1/p)
}

// AddPowers adds Σ |g|ᵖ of a parameter's gradient to sum, 0-dimensional float64 on its device; for an infinite p, sum becomes the largest
// |g|. Nothing is waited for.
func AddPowers(sum, p *Tensor, power float64) {
	p.needGrad("AddPowers")
	optimizerScope(p).apply(opNormAdd, Attrs{Scalar: power}, sum, p.grad)
}

// ClipByNorm scales a parameter's gradient by min(1, limit/(norm+1e-6)), where sum is what AddPowers collected.
func ClipByNorm(p, sum *Tensor, limit, power float64) {
	p.needGrad("ClipByNorm")
	optimizerScope(p).apply(opClipNorm, Attrs{Scalar: power, Pair: [2]float64{limit}}, p.grad, sum)
	p.grad.clipped = true
}

// ClipBy multiplies a parameter's gradient by a factor that clipping has found on the host.
func ClipBy(p *Tensor, factor float64) {
	ScaleGrad(p, factor)
	p.grad.clipped = true
}

// PowerSum returns a zero for AddPowers on the device of p's gradient, which goes when the step does in which Backward made it.
func PowerSum(p *Tensor) *Tensor {
	p.needGrad("PowerSum")
	s := optimizerScope(p)
	t := alloc("PowerSum", p.grad.st.dev, Float64, nil)
	t.fill(0)
	if p.grad.scope != nil && s.arena == p.grad.scope.arena {
		return s.Own(t)
	}
	return t
}
