package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Losses of two tensors of one shape: mse_loss, l1_loss, smooth_l1_loss, huber_loss, soft_margin_loss, hinge_embedding_loss. Dtypes are
// brought to a common one, as PyTorch does: what a network gives under autocast may be compared with a float32 target outside it.

var opMSELoss, opL1Loss, opSmoothL1Loss, opHuberLoss, opSoftMarginLoss, opHingeEmbeddingLoss *Op

const whyLoss = "the loss feeds every gradient"

// pairLoss defines a row of a loss of two tensors of one shape. slope gives ∂loss/∂x of an element, target the same for the
// target, nil if the target is no variable.
func pairLoss(name, doc string, class Class, why string, f func(c *Call, x, t float64) float64, slope, target func(b *Back) *Tensor) *Op {
	return pairLossTimes(1, name, doc, class, why, f, slope, target)
}

// pairLossTimes is pairLoss whose slopes are times a number.
func pairLossTimes(factor float64, name, doc string, class Class, why string, f func(c *Call, x, t float64) float64, slope, target func(b *Back) *Tensor) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x", "target"}, Class: class, CPUList: FP32, Why: why, CUDA: name, Wide: true, Widens: true, Saves: SaveIn0 | SaveIn1,
		Check: checkElements, CPU: pairCPU(f),
		Backward: func(b *Back) {
			// The slope is multiplied by the factor first and by dy, which carries the loss scale, last.
			k := factor * b.perElement()
			if b.Needs(0) {
				b.Set(0, Mul(b.S, MulScalar(b.S, slope(b), k), b.DY))
			}
			if b.Needs(1) && target != nil {
				b.Set(1, Mul(b.S, MulScalar(b.S, target(b), k), b.DY))
			}
		},
	})
}

// pairCPU makes the kernel of such a loss: elements are computed by all workers where they are kept, else summed one after another.
func pairCPU(f func(c *Call, x, t float64) float64) func(c *Call) {
	return func(c *Call) {
		x, y := c.In[0], c.In[1]
		if c.Reduce == ReduceNone {
			binaryOn(c.Out, x, y, func(dst, a, b []float64) {
				for i, v := range a {
					dst[i] = f(c, v, b[i])
				}
			})
			return
		}
		w := newRowWalk(x, y)
		sum := 0.0
		pool := scratches[float64]()
		w.sequential(func(off [4]int, n int) {
			s := pool.Get().(*scratch[float64])
			b := fetch(&s.buf[1], y, off[1], w.step[1], n)
			for i, v := range fetch(&s.buf[0], x, off[0], w.step[0], n) {
				sum += f(c, v, b[i])
			}
			pool.Put(s)
		})
		store(c.Out, c.Out.off, []float64{sum * perElement(c.Reduce, x.shape)})
	}
}

// sumPass is the kernel of a loss whose elements a pass adds up: of float32 numbers in parts of fixed length, which are added up in
// order. args gives the pass its numbers, or says that it is not for this call.
func sumPass(k *cpu.LineKernel, args func(c *Call) ([]float64, bool), other func(c *Call)) func(c *Call) {
	return func(c *Call) {
		x, y := c.In[0], c.In[1]
		arg, ok := args(c)
		if !ok || c.Reduce == ReduceNone || x.dt != Float32 || y.dt != Float32 || !x.contiguous() || !y.contiguous() {
			other(c)
			return
		}
		n := x.Len()
		parts := make([]float64, (n+sumRun-1)/sumRun)
		a, b := values[float32](x)[x.off:][:n], values[float32](y)[y.off:][:n]
		cpu.Parallel(n, sumRun, func(lo, hi int) {
			w := lineWorks.Get().(*lineWork)
			w.F32[0], w.F32[1], w.Acc[0] = a[lo:hi], b[lo:hi], cpu.Lanes{}
			for i, v := range arg {
				w.Arg[i] = float32(v)
			}
			k.Run(hi-lo, &w.Line)
			parts[lo/sumRun] = w.Acc[0].Sum()
			w.release()
		})
		sum := 0.0
		for _, v := range parts {
			sum += v
		}
		store(c.Out, c.Out.off, []float64{sum * perElement(c.Reduce, x.shape)})
	}
}

func noNumbers(*Call) ([]float64, bool) { return nil, true }

func difference(b *Back) *Tensor { return Sub(b.S, b.In(0), b.In(1)) }

// negative is the slope of a loss of x - target for the target.
func negative(f func(b *Back) *Tensor) func(b *Back) *Tensor {
	return func(b *Back) *Tensor { return Neg(b.S, f(b)) }
}

func init() {
	opMSELoss = pairLossTimes(2, "mse_loss", "mean (or sum) of (x - target)²", FP32, "squares leave the half range, and their mean feeds every gradient",
		func(_ *Call, x, t float64) float64 { return (x - t) * (x - t) }, difference, negative(difference))
	opMSELoss.CPU = sumPass(&cpu.LineApart, noNumbers, opMSELoss.CPU)
	l1 := func(b *Back) *Tensor { return Sign(b.S, difference(b)) }
	opL1Loss = pairLoss("l1_loss", "mean (or sum) of |x - target|", FP32, whyLoss,
		func(_ *Call, x, t float64) float64 { return math.Abs(x - t) }, l1, negative(l1))
	opL1Loss.CPU = sumPass(&cpu.LineDistance, noNumbers, opL1Loss.CPU)
	huber := func(b *Back) *Tensor { d := b.Attrs().Scalar; return Clamp(b.S, difference(b), -d, d) }
	opHuberLoss = pairLoss("huber_loss", "mean (or sum) of (x - target)²/2 within delta, delta·(|x - target| - delta/2) beyond", FP32, whyLoss,
		func(c *Call, x, t float64) float64 {
			if d := math.Abs(x - t); d > c.Scalar {
				return c.Scalar * (d - float64(c.Scalar/2))
			}
			return (x - t) * (x - t) / 2
		}, huber, negative(huber))
	opHuberLoss.CPU = sumPass(&cpu.LineHuber, func(c *Call) ([]float64, bool) {
		d := c.Scalar
		return []float64{0.5, d, d, d * d / 2}, true
	}, opHuberLoss.CPU)
	smooth := func(b *Back) *Tensor {
		d := difference(b)
		if rate := 1 / b.Attrs().Scalar; rate != 1 { // which would change no bit
			d = MulScalar(b.S, d, rate)
		}
		return Clamp(b.S, d, -1, 1)
	}
	opSmoothL1Loss = pairLoss("smooth_l1_loss", "mean (or sum) of (x - target)²/(2·beta) within beta, |x - target| - beta/2 beyond", FP32, whyLoss,
		func(c *Call, x, t float64) float64 {
			if d := math.Abs(x - t); d >= c.Scalar {
				return d - float64(c.Scalar/2)
			}
			return (x - t) * (x - t) / (2 * c.Scalar)
		}, smooth, negative(smooth))
	opSmoothL1Loss.CPU = sumPass(&cpu.LineHuber, func(c *Call) ([]float64, bool) {
		return []float64{1 / (2 * c.Scalar), c.Scalar, 1, c.Scalar / 2}, true
	}, opSmoothL1Loss.CPU)
	opSoftMarginLoss = pairLoss("soft_margin_loss", "mean (or sum) of log(1 + e^(-target·x))", FP32, whyExponential,
		func(_ *Call, x, t float64) float64 { return softplus(-x * t) },
		func(b *Back) *Tensor {
			return Neg(b.S, Mul(b.S, b.In(1), Sigmoid(b.S, Neg(b.S, Mul(b.S, b.In(0), b.In(1))))))
		},
		func(b *Back) *Tensor {
			return Neg(b.S, Mul(b.S, b.In(0), Sigmoid(b.S, Neg(b.S, Mul(b.S, b.In(0), b.In(1))))))
		})
	opHingeEmbeddingLoss = pairLoss("hinge_embedding_loss", "mean (or sum) of x where target is 1, max(0, margin - x) where it is -1", FP32, whyLoss,
		func(c *Call, x, t float64) float64 {
			y := 0.0
			if t != -1 {
				y = x
			}
			if t != 1 {
				y += math.Max(0, c.Scalar-x)
			}
			return y
		}, hingeSlope, nil)
}

// hingeSlope: 1 unless the target is -1, less 1 unless it is 1 where x is below the margin; at the margin 0, as PyTorch has it since 2.15.
func hingeSlope(b *Back) *Tensor {
	x, t := b.In(0), b.In(1)
	one, zero := constant(b.S, x.dt, 1), constant(b.S, x.dt, 0)
	similar := Where(b.S, Eq(b.S, t, constant(b.S, t.dt, -1)), zero, one)
	below := Where(b.S, Lt(b.S, x, constant(b.S, x.dt, b.Attrs().Scalar)), one, zero)
	apart := Where(b.S, Eq(b.S, t, one), zero, below)
	return Sub(b.S, similar, apart)
}

// constant returns a tensor of one number and no dimension that belongs to the scope.
func constant(s *Scope, dt DType, v float64) *Tensor { return s.Own(Full(s, dt, v)) }

// MSELoss returns the mean of (x - target)², or what a Reduction asks for; float32 under autocast, else in the wider dtype of the two. The shapes
// must be equal: broadcasting a target is the classic silent bug of this loss.
func MSELoss(s *Scope, x, target *Tensor, opts ...LossOption) *Tensor {
	return s.apply(opMSELoss, Attrs{Reduce: lossOf("mse_loss", 0, opts).reduce}, x, target)
}

// L1Loss returns the mean of |x - target|, or what a Reduction asks for; float32 under autocast.
func L1Loss(s *Scope, x, target *Tensor, opts ...LossOption) *Tensor {
	return s.apply(opL1Loss, Attrs{Reduce: lossOf("l1_loss", 0, opts).reduce}, x, target)
}

// SmoothL1Loss returns the mean of a loss that is quadratic within beta of the target and linear beyond; float32 under autocast.
// A beta of 0 is L1Loss; it panics with ErrArgument below 0.
func SmoothL1Loss(s *Scope, x, target *Tensor, beta float64, opts ...LossOption) *Tensor {
	if !(beta >= 0) {
		fail("smooth_l1_loss", ErrArgument, "use a beta of 0 or above; the usual one is 1", "beta %v", beta)
	}
	if beta == 0 {
		return L1Loss(s, x, target, opts...)
	}
	return s.apply(opSmoothL1Loss, Attrs{Reduce: lossOf("smooth_l1_loss", 0, opts).reduce, Scalar: beta}, x, target)
}

// HuberLoss returns the mean of Huber's loss, quadratic within delta of the target and linear beyond; float32 under autocast. It
// panics with ErrArgument for a delta of 0 or below.
func HuberLoss(s *Scope, x, target *Tensor, delta float64, opts ...LossOption) *Tensor {
	if !(delta > 0) {
		fail("huber_loss", ErrArgument, "use a delta above 0; the usual one is 1", "delta %v", delta)
	}
	return s.apply(opHuberLoss, Attrs{Reduce: lossOf("huber_loss", 0, opts).reduce, Scalar: delta}, x, target)
}

// SoftMarginLoss returns the mean of log(1 + e^(-target·x)) for targets of 1 and -1, or what a Reduction asks for; float32 under
// autocast. Unlike PyTorch's it does not overflow.
func SoftMarginLoss(s *Scope, x, target *Tensor, opts ...LossOption) *Tensor {
	return s.apply(opSoftMarginLoss, Attrs{Reduce: lossOf("soft_margin_loss", 0, opts).reduce}, x, target)
}

// HingeEmbeddingLoss returns the mean of x where target is 1 and of max(0, margin - x) where it is -1, or what a Reduction asks for;
// PyTorch's margin is 1. float32 under autocast. The target has no gradient.
func HingeEmbeddingLoss(s *Scope, x, target *Tensor, margin float64, opts ...LossOption) *Tensor {
	return s.apply(opHingeEmbeddingLoss, Attrs{Reduce: lossOf("hinge_embedding_loss", 0, opts).reduce, Scalar: margin}, x, target)
}
