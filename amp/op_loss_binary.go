package amp

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The binary cross entropies, with their weights.

var opBCEWithLogits, opBCE *Op

func init() {
	// log(1 + e^-x) is weighted by w = 1 + (p - 1)·target, p the positive weight.
	opBCEWithLogits = weightedLoss(Op{
		Name: "binary_cross_entropy_with_logits", Doc: "mean (or sum) of log(1 + e^x) - x·target, by element and positive weights", Args: []string{"x", "target", "weight", "pos_weight"},
		Class: FP32, CPUList: FP32, Why: "sigmoid and logarithm fused, so that neither leaves float32's range", CUDA: "binary_cross_entropy_with_logits", Widens: true,
	}, func(_ *Call, v *[4]float64) float64 {
		x, t, p := v[0], v[1], v[3]
		if p == 1 && !math.IsInf(x, 0) { // ∞ is as below, where 0·∞ is the NaN that PyTorch has
			return v[2] * (softplus(x) - float64(x*t))
		}
		return v[2] * (float64((1-t)*x) + float64((1+float64((p-1)*t))*softplus(-x)))
	}, []func(b *Back) *Tensor{
		func(b *Back) *Tensor { // 1 - target - w·sigmoid(-x)
			if !b.given(3) {
				return Sub(b.S, Sigmoid(b.S, b.In(0)), b.In(1))
			}
			w := AddScalar(b.S, Mul(b.S, AddScalar(b.S, b.In(3), -1), b.In(1)), 1)
			return Sub(b.S, oneMinus(b.S, b.In(1)), Mul(b.S, w, Sigmoid(b.S, Neg(b.S, b.In(0)))))
		},
		func(b *Back) *Tensor { // p·log(1 + e^-x) - log(1 + e^x)
			if !b.given(3) {
				return Neg(b.S, b.In(0))
			}
			return Sub(b.S, zeroTimes(b.S, b.In(3), Softplus(b.S, Neg(b.S, b.In(0)))), Softplus(b.S, b.In(0)))
		},
		nil,
		func(b *Back) *Tensor { return zeroTimes(b.S, b.In(1), Softplus(b.S, Neg(b.S, b.In(0)))) },
	})
	each := opBCEWithLogits.CPU
	pass := sumPass(&cpu.LineBinaryCrossEntropy, func(c *Call) ([]float64, bool) {
		return nil, slices.Equal(c.In[0].shape, c.In[1].shape) && !slices.ContainsFunc(c.In[2:], func(t *Tensor) bool { return t != nil })
	}, each)
	opBCEWithLogits.CPU = func(c *Call) {
		pass(c)
		if c.Reduce == ReduceNone {
			return
		}
		if y := c.Out.at(c.Out.off); math.IsNaN(y) || math.IsInf(y, 0) { // of an infinite x, maybe, of which the pass takes one for the other
			each(c)
		}
	}
	opBCE = weightedLoss(Op{
		Name: "binary_cross_entropy", Doc: "mean (or sum) of -target·log x - (1 - target)·log(1 - x), by element weights", Args: []string{"x", "target", "weight"},
		Class: Banned, CPUList: FP32, CUDA: "binary_cross_entropy",
		Why: "its gradient 1/(x·(1-x)) leaves float16's range, and casting x to float32 does not help, since the cast is undone in backward",
	}, func(c *Call, v *[4]float64) float64 {
		x, t := v[0], v[1]
		if x < 0 || x > 1 || t < 0 || t > 1 {
			c.probabilities(0)
			c.probabilities(1)
		}
		// Logarithms are held at -100, as in PyTorch, so that x = 0 and x = 1 give a finite loss.
		return v[2] * (float64(-t*math.Max(cpu.Log.Of(x), -100)) - float64((1-t)*math.Max(cpu.Log1p.Of(-x), -100)))
	}, []func(b *Back) *Tensor{
		func(b *Back) *Tensor { // (x - target) / (x·(1-x))
			x := b.In(0)
			return Div(b.S, difference(b), ClampMin(b.S, Mul(b.S, x, oneMinus(b.S, x)), 1e-12))
		},
		func(b *Back) *Tensor {
			x := b.In(0)
			return Sub(b.S, Log(b.S, oneMinus(b.S, x)), Log(b.S, x))
		},
		nil,
	})
}

// probabilities refuses an input with an element outside [0,1], as PyTorch does on the CPU: the loss of such a one, held at a bound, looks like
// any other. NaN, which PyTorch refuses too, is the loss's, so that a GradScaler skips the step.
func (c *Call) probabilities(i int) {
	at := 0
	c.In[i].eachChunk(c.Op.Name, func(values []float64) {
		for k, v := range values {
			if v < 0 || v > 1 {
				fail(c.Op.Name, ErrArgument, "pass probabilities, such as Sigmoid's; BCEWithLogits takes logits", "element %d of %s is %v, outside [0, 1]", at+k, c.Op.argName(i), v)
			}
		}
		at += len(values)
	})
}

// weightedLoss defines a loss of elements whose input 2 weights them, given the slopes of an element for the other inputs.
func weightedLoss(o Op, f func(c *Call, v *[4]float64) float64, slopes []func(b *Back) *Tensor) *Op {
	o.Wide, o.Saves, o.Check, o.CPU = true, SaveIn0|SaveIn1|SaveIn2|SaveIn3, checkElements, elementCPU(f)
	var row *Op
	o.Backward = func(b *Back) {
		k := b.perElement()
		for i, slope := range slopes {
			switch {
			case !b.given(i) || !b.Needs(i):
			case slope == nil: // of the weight: the loss without it
				in := make([]*Tensor, len(b.n.in))
				for j := range in {
					if j != i && b.given(j) {
						in[j] = b.In(j)
					}
				}
				each := b.S.apply(row, Attrs{Reduce: ReduceNone}, in...)
				b.Set(i, b.sumTo(i, Mul(b.S, MulScalar(b.S, each, k), b.DY)))
			default:
				g := MulScalar(b.S, slope(b), k)
				if b.given(2) {
					g = Mul(b.S, g, b.In(2))
				}
				b.Set(i, b.sumTo(i, Mul(b.S, g, b.DY)))
			}
		}
	}
	row = define(o)
	return row
}

// given says whether an optional input was there.
func (b *Back) given(i int) bool { return i < len(b.n.in) && b.n.in[i] != nil }

// BCEWithLogits returns the mean binary cross entropy of logits x and targets in [0,1], or what a Reduction asks for; float32 under
// autocast. It takes LossWeight and PosWeight. As in PyTorch, the loss of an infinite logit is infinite or NaN, also where it is right.
func BCEWithLogits(s *Scope, x, target *Tensor, opts ...LossOption) *Tensor {
	c := lossOf("binary_cross_entropy_with_logits", hasWeight|hasPosWeight, opts)
	return s.apply(opBCEWithLogits, Attrs{Reduce: c.reduce}, x, target, c.weight, c.posWeight)
}

// BCE returns the mean binary cross entropy of probabilities x and targets in [0,1], or what a Reduction asks for; it takes
// LossWeight. Under autocast it panics with ErrBanned: use BCEWithLogits. On the CPU others than in [0,1] panic with ErrArgument, but for
// NaN, of which the loss is NaN; on a GPU, which is not waited for, they give a loss without a meaning.
func BCE(s *Scope, x, target *Tensor, opts ...LossOption) *Tensor {
	c := lossOf("binary_cross_entropy", hasWeight, opts)
	return s.apply(opBCE, Attrs{Reduce: c.reduce}, x, target, c.weight)
}
