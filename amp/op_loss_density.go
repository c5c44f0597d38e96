package amp

import (
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Losses that are negative logarithms of densities: kl_div, poisson_nll_loss, gaussian_nll_loss.

var opKLDiv, opPoissonNLLLoss, opGaussianNLLLoss *Op

// Modes of these rows.
const (
	modeLogTarget = "log target"
	modeLogInput  = "log input"
	modeFull      = "full"
)

func init() {
	opKLDiv = pairLoss("kl_div", "mean (or sum) of target·(log target - x), x a logarithm of probabilities", FP32, whyLoss,
		func(c *Call, x, t float64) float64 {
			switch {
			case c.Mode == modeLogTarget:
				return cpu.Exp.Of(t) * (t - x)
			case t == 0: // its limit, even for x of -Inf
				return 0
			}
			return t * (cpu.Log.Of(t) - x)
		},
		func(b *Back) *Tensor {
			if b.Attrs().Mode == modeLogTarget {
				return Neg(b.S, Exp(b.S, b.In(1)))
			}
			return Neg(b.S, b.In(1))
		},
		func(b *Back) *Tensor {
			x, t := b.In(0), b.In(1)
			if b.Attrs().Mode == modeLogTarget {
				return Mul(b.S, Exp(b.S, t), AddScalar(b.S, Sub(b.S, t, x), 1))
			}
			return AddScalar(b.S, Sub(b.S, Log(b.S, t), x), 1)
		})
	opKLDiv.CPU = sumPass(&cpu.LineDivergence, func(c *Call) ([]float64, bool) { return nil, c.Mode != modeLogTarget }, opKLDiv.CPU)
	opPoissonNLLLoss = pairLoss("poisson_nll_loss", "mean (or sum) of e^x - target·x, for a rate x of x - target·log(x + eps); full: + log target!", FP32, whyExponential,
		poisson,
		func(b *Back) *Tensor {
			x, t := b.In(0), b.In(1)
			if strings.Contains(b.Attrs().Mode, modeLogInput) {
				return Sub(b.S, Exp(b.S, x), t)
			}
			return oneMinus(b.S, Div(b.S, t, AddScalar(b.S, x, b.Attrs().Scalar)))
		},
		func(b *Back) *Tensor {
			x, t := b.In(0), b.In(1)
			y := x
			if !strings.Contains(b.Attrs().Mode, modeLogInput) {
				y = Log(b.S, AddScalar(b.S, x, b.Attrs().Scalar))
			}
			y = Neg(b.S, y)
			if !strings.Contains(b.Attrs().Mode, modeFull) {
				return y
			}
			above := ClampMin(b.S, t, 1) // of Stirling's formula: log t + 1/(2t) above 1
			return Add(b.S, y, positivePart(b.S, Add(b.S, Log(b.S, above), MulScalar(b.S, Reciprocal(b.S, above), 0.5)), AddScalar(b.S, t, -1)))
		})
	opGaussianNLLLoss = define(Op{
		Name: "gaussian_nll_loss", Doc: "mean (or sum) of (log variance + (x - target)²/variance)/2; full: + log(2π)/2", Args: []string{"x", "target", "variance"},
		Why: "PyTorch makes it of log and others, which decide for themselves", CUDA: "log", Composite: []string{"sub", "log", "div", "mean"}, Parts: Apart,
	})
}

func poisson(c *Call, x, t float64) float64 {
	y := cpu.Exp.Of(x) - float64(t*x)
	if !strings.Contains(c.Mode, modeLogInput) {
		y = x - float64(t*cpu.Log.Of(x+c.Scalar))
	}
	if t > 1 && strings.Contains(c.Mode, modeFull) {
		y += float64(t*cpu.Log.Of(t)) - t + float64(0.5*cpu.Log.Of(2*math.Pi*t))
	}
	return y
}

// KLDiv returns the mean over all elements of target·(log target - x) for logarithms x of probabilities and a target of
// probabilities of the same shape, or what a Reduction asks for: by the definition of the divergence that is ReduceBatchMean. It
// takes LogTarget. float32 under autocast. It panics with ErrDType for integers and booleans.
func KLDiv(s *Scope, x, target *Tensor, opts ...LossOption) *Tensor {
	c := lossOf("kl_div", hasLogTarget|hasBatchMean, opts)
	opKLDiv.need(x, target)
	if x.isWhole() || target.isWhole() {
		fail("kl_div", ErrDType, "convert them with amp.To(s, t, amp.Float32)", "x %v, target %v: need float dtypes", x.dt, target.dt)
	}
	a := Attrs{Reduce: c.reduce}
	if c.has(hasLogTarget) {
		a.Mode = modeLogTarget
	}
	return s.apply(opKLDiv, a, x, target)
}

// PoissonNLLLoss returns the mean of e^x - target·x for logarithms x of rates, or what a Reduction asks for. It takes RateInput and
// FullLikelihood. float32 under autocast.
func PoissonNLLLoss(s *Scope, x, target *Tensor, opts ...LossOption) *Tensor {
	c := lossOf("poisson_nll_loss", hasRate|hasFull, opts)
	a := Attrs{Reduce: c.reduce, Scalar: c.eps}
	if !c.has(hasRate) {
		a.Mode = modeLogInput
	}
	if c.has(hasFull) {
		a.Mode += " " + modeFull
	}
	return s.apply(opPoissonNLLLoss, a, x, target)
}

// GaussianNLLLoss returns the mean of (log variance + (x - target)²/variance)/2, or what a Reduction asks for. The target has x's shape,
// where PyTorch broadcasts it; else GaussianNLLLoss panics with ErrShape. The variance has x's
// shape, or lacks its last dimension or has it as 1, and is held at eps, PyTorch's is 1e-6, without changing the gradient; so is one
// below 0, for which PyTorch looks, and waits for the device. It takes FullLikelihood. Not on autocast's lists: its logarithm is, so
// that its mean is float32.
func GaussianNLLLoss(s *Scope, x, target, variance *Tensor, eps float64, opts ...LossOption) *Tensor {
	c := lossOf("gaussian_nll_loss", hasFull, opts)
	opGaussianNLLLoss.need(x, target, variance)
	s, in, done := s.enterWide(opGaussianNLLLoss, x, target, variance)
	x, target, variance = in[0], in[1], in[2]
	if !(eps > 0) {
		fail("gaussian_nll_loss", ErrArgument, "use an eps above 0; the usual one is 1e-6", "eps %v", eps)
	}
	if !slices.Equal(x.shape, target.shape) {
		fail("gaussian_nll_loss", ErrShape, "use x and target of one shape; Reshape, Squeeze and Expand make it explicit", "x %v, target %v, variance %v", x.shape, target.shape, variance.shape)
	}
	k := len(x.shape) - 1
	if k >= 0 && len(variance.shape) == k {
		variance = Reshape(s, variance, append(variance.Shape(), 1)...)
	}
	ok := len(variance.shape) == len(x.shape)
	for d := 0; ok && d <= k; d++ {
		ok = variance.shape[d] == x.shape[d] || d == k && variance.shape[d] == 1
	}
	if !ok {
		fail("gaussian_nll_loss", ErrShape, "give one variance per element, or one per row", "x %v, variance %v", x.shape, variance.shape)
	}
	held := raise(s, raise(s, variance, 0), eps) // in two steps: beside a large one below 0 eps would be lost
	d := Sub(s, x, target)
	y := MulScalar(s, Add(s, Log(s, held), Div(s, Mul(s, d, d), held)), 0.5)
	if c.has(hasFull) {
		y = AddScalar(s, y, 0.5*cpu.Log.Of(2*math.Pi))
	}
	return done(reduceLoss(s, y, c.reduce))
}

// raise holds v at a number from below, by what is missing, which is 0 for an infinite one, without changing the gradient.
func raise(s *Scope, v *Tensor, to float64) *Tensor {
	return Add(s, v, Detach(s, ClampMin(s, AddScalar(s, Neg(s, v), to), 0)))
}
