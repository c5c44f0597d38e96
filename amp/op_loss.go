package amp

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/internal/optional"
)

// What losses have in common: reductions, options, and the machinery of losses that are a sum over elements.

// A Reduction says what a loss does with its elements. It is a LossOption.
type Reduction uint8

// The reductions.
const (
	ReduceMean Reduction = iota // divide the sum by the number of elements that count
	ReduceSum
	ReduceNone      // keep one loss per element
	ReduceBatchMean // divide the sum by the size of dimension 0: what KLDiv means by its definition
)

// IgnoreIndex is the target value that nll_loss and cross_entropy leave out, as in PyTorch.
const IgnoreIndex = -100

// A LossOption changes how a loss is computed: a Reduction, or one of the functions below. A loss panics with ErrArgument for an
// option that it does not have.
type LossOption interface{ lossOption(c *lossConfig) }

type lossFunc func(c *lossConfig)

func (f lossFunc) lossOption(c *lossConfig) { f(c) }

func (r Reduction) lossOption(c *lossConfig) {
	c.reduce = r
	if r == ReduceBatchMean {
		c.given |= hasBatchMean
	}
}

// lossConfig is what the options of one call amount to.
type lossConfig struct {
	reduce            Reduction
	weight, posWeight *Tensor
	smoothing         float64
	ignore            int64
	eps               float64
	blank             int
	given             lossOptions
}

// lossOptions is a set of options.
type lossOptions uint16

const (
	hasWeight lossOptions = 1 << iota
	hasPosWeight
	hasSmoothing
	hasIgnore
	hasLogTarget
	hasRate
	hasFull
	hasSwap
	hasBatchMean
	hasBlank
	hasZeroInfinity
)

var lossOptionNames = []string{"weight", "positive weight", "label smoothing", "class to ignore", "logarithmic target", "rate as input", "full likelihood", "swap", "batch mean", "blank",
	"zero for infinity"}

// LossWeight weights a loss: one number per class for NLLLoss, CrossEntropy, MultiMarginLoss and MultilabelSoftMarginLoss, per
// element (broadcast) for BCE and BCEWithLogits. PyTorch's weight.
func LossWeight(w *Tensor) LossOption {
	return lossFunc(func(c *lossConfig) { c.weight, c.given = w, c.given|hasWeight })
}

// PosWeight weights the positive part of BCEWithLogits, broadcast: above 1 it favors recall, below 1 precision.
func PosWeight(w *Tensor) LossOption {
	return lossFunc(func(c *lossConfig) { c.posWeight, c.given = w, c.given|hasPosWeight })
}

// LabelSmoothing makes CrossEntropy mix the share e of a uniform distribution into its targets. It panics with ErrArgument unless
// 0 ≤ e ≤ 1.
func LabelSmoothing(e float64) LossOption {
	if !(e >= 0 && e <= 1) {
		fail("LabelSmoothing", ErrArgument, "use a share from 0 to 1, such as 0.1", "share %v", e)
	}
	return lossFunc(func(c *lossConfig) { c.smoothing, c.given = e, c.given|hasSmoothing })
}

// IgnoreClass makes NLLLoss and CrossEntropy leave out the targets of this value instead of IgnoreIndex.
func IgnoreClass(class int64) LossOption {
	return lossFunc(func(c *lossConfig) { c.ignore, c.given = class, c.given|hasIgnore })
}

// LogTarget says that the target of KLDiv is given by its logarithm.
func LogTarget() LossOption {
	return lossFunc(func(c *lossConfig) { c.given |= hasLogTarget })
}

// RateInput says that the input of PoissonNLLLoss is a rate instead of its logarithm; eps, PyTorch's is 1e-8, keeps the logarithm
// finite.
func RateInput(eps float64) LossOption {
	return lossFunc(func(c *lossConfig) { c.eps, c.given = eps, c.given|hasRate })
}

// FullLikelihood adds the terms that do not depend on the input: Stirling's formula to PoissonNLLLoss, log(2π)/2 to GaussianNLLLoss.
func FullLikelihood() LossOption {
	return lossFunc(func(c *lossConfig) { c.given |= hasFull })
}

// SwapNegatives makes TripletMarginLoss measure the negative from the positive where that is nearer than from the anchor.
func SwapNegatives() LossOption {
	return lossFunc(func(c *lossConfig) { c.given |= hasSwap })
}

// lossOf gathers the options of a loss, which takes those in allowed.
func lossOf(op string, allowed lossOptions, opts []LossOption) lossConfig {
	c := lossConfig{ignore: IgnoreIndex}
	optional.Given(op, opts, misused)
	for _, o := range opts {
		o.lossOption(&c)
	}
	if c.reduce > ReduceBatchMean {
		fail(op, ErrArgument, "use amp.ReduceMean, amp.ReduceSum or amp.ReduceNone", "reduction %d", c.reduce)
	}
	for i, name := range lossOptionNames {
		if c.given&^allowed&(1<<i) != 0 {
			fail(op, ErrArgument, "leave the option out", "%s has no %s", op, name)
		}
	}
	return c
}

func (c *lossConfig) has(o lossOptions) bool { return c.given&o != 0 }

// reduceLoss reduces the elements of a composite loss.
func reduceLoss(s *Scope, y *Tensor, r Reduction) *Tensor {
	switch r {
	case ReduceNone:
		return y
	case ReduceSum:
		return Sum(s, y)
	}
	return Mean(s, y)
}

// enterWide begins a composite whose parts run in float32 where its inputs are halves; done rounds the result, once. Under autocast
// parts that decide for themselves do so.
func (s *Scope) enterWide(o *Op, in ...*Tensor) (inner *Scope, parts []*Tensor, done func(y *Tensor) *Tensor) {
	s, in = s.enter(o, in...)
	dt := o.common(in)
	if !dt.IsHalf() || s.auto.on {
		return s, in, func(y *Tensor) *Tensor { return y }
	}
	in = slices.Clone(in)
	for i, t := range in {
		if t != nil && t.dt.IsHalf() {
			in[i] = To(s, t, Float32)
		}
	}
	return s, in, func(y *Tensor) *Tensor { return To(s, y, dt) }
}

// elementCPU makes the kernel of a loss that is f of each element of up to four inputs: the first has the loss's shape, the others,
// where they are given, are broadcast to it and 1 where they are not. In float64, one element after another, so that the result
// does not depend on the workers.
func elementCPU(f func(c *Call, v *[4]float64) float64) func(c *Call) {
	return func(c *Call) {
		var given []*Tensor
		var place [4]int
		for i, t := range c.In {
			if t != nil {
				place[len(given)] = i
				given = append(given, t)
			}
		}
		w := newRowWalk(given...)
		sum, at := 0.0, c.Out.off
		pool := scratches[float64]()
		w.sequential(func(off [4]int, n int) {
			s := pool.Get().(*scratch[float64])
			var rows [4][]float64
			var kept [chunk]float64
			for k, t := range given {
				rows[k] = fetch(&s.buf[k], t, off[k], w.step[k], n)
			}
			for i := range n {
				v := [4]float64{1, 1, 1, 1}
				for k := range given {
					v[place[k]] = rows[k][i]
				}
				kept[i] = f(c, &v)
				sum += kept[i]
			}
			if c.Reduce == ReduceNone {
				store(c.Out, at, kept[:n])
			}
			at += n
			pool.Put(s)
		})
		if c.Reduce != ReduceNone {
			store(c.Out, c.Out.off, []float64{sum * perElement(c.Reduce, c.In[0].shape)})
		}
	}
}

// perElement is the weight that a reduction gives each element.
func perElement(r Reduction, shape []int) float64 {
	switch r {
	case ReduceMean:
		return 1 / float64(length(shape))
	case ReduceBatchMean:
		return 1 / float64(shape[0])
	}
	return 1
}

func (b *Back) perElement() float64 { return perElement(b.Attrs().Reduce, b.Shape(0)) }

// checkElements is the rule of such losses: the target has x's shape, weights are broadcast to it.
func checkElements(c *Call) []int {
	c.floats()
	c.sameShape()
	x := c.In[0]
	if c.Reduce == ReduceBatchMean && len(x.shape) == 0 {
		fail(c.Op.Name, ErrShape, "use amp.ReduceSum", "%s: a batch mean needs a dimension", c.shapes())
	}
	for i := 2; i < len(c.In); i++ {
		if w := c.In[i]; w != nil && !slices.Equal(broadcast(&Call{Op: c.Op, In: []*Tensor{x, w}}), x.shape) {
			fail(c.Op.Name, ErrShape, fmt.Sprintf("use a shape that broadcasts to %v", x.shape), "%s: %s is larger than x", c.shapes(), c.Op.argName(i))
		}
	}
	if c.Reduce == ReduceNone {
		return x.shape
	}
	return nil
}
