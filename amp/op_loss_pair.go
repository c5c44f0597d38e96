package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// l1_loss, smooth_l1_loss, huber_loss and the binary cross entropies.

var opL1Loss, opSmoothL1Loss, opHuberLoss, opBCEWithLogits, opBCE *Op

const whyLoss = "the loss feeds every gradient"

// pairLoss defines a row of a loss of two tensors of one shape. slope gives ∂loss/∂x of an element, target the same for the
// target.
func pairLoss(name, doc string, class Class, why string, f func(c *Call, x, t float64) float64, slope, target func(b *Back) *Tensor) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x", "target"}, Class: class, CPUList: FP32, Why: why, CUDA: name, Wide: true, Saves: SaveIn0 | SaveIn1,
		Check: checkPair, CPU: pairCPU(f),
		Backward: func(b *Back) {
			k := b.perElement()
			if b.Needs(0) {
				b.Set(0, Mul(b.S, MulScalar(b.S, slope(b), k), b.DY))
			}
			if b.Needs(1) {
				b.Set(1, Mul(b.S, MulScalar(b.S, target(b), k), b.DY))
			}
		},
	})
}

func init() {
	difference := func(b *Back) *Tensor { return Sub(b.S, b.In(0), b.In(1)) }
	negative := func(f func(b *Back) *Tensor) func(b *Back) *Tensor {
		return func(b *Back) *Tensor { return Neg(b.S, f(b)) }
	}
	l1 := func(b *Back) *Tensor { return Sign(b.S, difference(b)) }
	opL1Loss = pairLoss("l1_loss", "mean (or sum) of |x - target|", FP32, whyLoss,
		func(_ *Call, x, t float64) float64 { return math.Abs(x - t) }, l1, negative(l1))
	huber := func(b *Back) *Tensor { d := b.Attrs().Scalar; return Clamp(b.S, difference(b), -d, d) }
	opHuberLoss = pairLoss("huber_loss", "mean (or sum) of (x - target)²/2 within delta, delta·(|x - target| - delta/2) beyond", FP32, whyLoss,
		func(c *Call, x, t float64) float64 {
			if d := math.Abs(x - t); d > c.Scalar {
				return c.Scalar * (d - c.Scalar/2)
			}
			return (x - t) * (x - t) / 2
		}, huber, negative(huber))
	smooth := func(b *Back) *Tensor { return Clamp(b.S, MulScalar(b.S, difference(b), 1/b.Attrs().Scalar), -1, 1) }
	opSmoothL1Loss = pairLoss("smooth_l1_loss", "mean (or sum) of (x - target)²/(2·beta) within beta, |x - target| - beta/2 beyond", FP32, whyLoss,
		func(c *Call, x, t float64) float64 {
			if d := math.Abs(x - t); d >= c.Scalar {
				return d - c.Scalar/2
			}
			return (x - t) * (x - t) / (2 * c.Scalar)
		}, smooth, negative(smooth))
	opBCEWithLogits = pairLoss("binary_cross_entropy_with_logits", "mean (or sum) of log(1 + e^x) - x·target", FP32, "sigmoid and logarithm fused, so that neither leaves float32's range",
		func(_ *Call, x, t float64) float64 { return softplus(x) - x*t },
		func(b *Back) *Tensor { return Sub(b.S, Sigmoid(b.S, b.In(0)), b.In(1)) },
		func(b *Back) *Tensor { return Neg(b.S, b.In(0)) })
	opBCE = pairLoss("binary_cross_entropy", "mean (or sum) of -target·log x - (1 - target)·log(1 - x)", Banned,
		"its gradient 1/(x·(1-x)) leaves float16's range, and casting x to float32 does not help, since the cast is undone in backward; amp.BCEWithLogits is safe",
		func(_ *Call, x, t float64) float64 {
			// Logarithms are held at -100, as in PyTorch, so that x = 0 and x = 1 give a finite loss.
			return -t*math.Max(cpu.Log.Of(x), -100) - (1-t)*math.Max(cpu.Log1p.Of(-x), -100)
		},
		func(b *Back) *Tensor { // (x - target) / (x·(1-x))
			x := b.In(0)
			return Div(b.S, difference(b), ClampMin(b.S, Mul(b.S, x, oneMinus(b.S, x)), 1e-12))
		},
		func(b *Back) *Tensor {
			x := b.In(0)
			return Sub(b.S, Log(b.S, oneMinus(b.S, x)), Log(b.S, x))
		})
}

// L1Loss returns the mean of |x - target|, or what reduction asks for; float32 under autocast.
func L1Loss(s *Scope, x, target *Tensor, reduction ...Reduction) *Tensor {
	return s.apply(opL1Loss, Attrs{Reduce: first(reduction)}, x, target)
}

// SmoothL1Loss returns the mean of a loss that is quadratic within beta of the target and linear beyond; float32 under autocast.
// A beta of 0 is L1Loss; it panics with ErrArgument below 0.
func SmoothL1Loss(s *Scope, x, target *Tensor, beta float64, reduction ...Reduction) *Tensor {
	if !(beta >= 0) {
		fail("smooth_l1_loss", ErrArgument, "use a beta of 0 or above; the usual one is 1", "beta %v", beta)
	}
	if beta == 0 {
		return L1Loss(s, x, target, reduction...)
	}
	return s.apply(opSmoothL1Loss, Attrs{Reduce: first(reduction), Scalar: beta}, x, target)
}

// HuberLoss returns the mean of Huber's loss, quadratic within delta of the target and linear beyond; float32 under autocast. It
// panics with ErrArgument for a delta of 0 or below.
func HuberLoss(s *Scope, x, target *Tensor, delta float64, reduction ...Reduction) *Tensor {
	if !(delta > 0) {
		fail("huber_loss", ErrArgument, "use a delta above 0; the usual one is 1", "delta %v", delta)
	}
	return s.apply(opHuberLoss, Attrs{Reduce: first(reduction), Scalar: delta}, x, target)
}

// BCEWithLogits returns the mean binary cross entropy of logits x and targets in [0,1]; float32 under autocast.
func BCEWithLogits(s *Scope, x, target *Tensor, reduction ...Reduction) *Tensor {
	return s.apply(opBCEWithLogits, Attrs{Reduce: first(reduction)}, x, target)
}

// BCE returns the mean binary cross entropy of probabilities x and targets in [0,1]. Under autocast it panics with ErrBanned:
// use BCEWithLogits.
func BCE(s *Scope, x, target *Tensor, reduction ...Reduction) *Tensor {
	return s.apply(opBCE, Attrs{Reduce: first(reduction)}, x, target)
}
