package amp

import (
	"fmt"
	"slices"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// nll_loss and cross_entropy: losses of class numbers.

var opNLLLoss, opNLLLossBackward, opNLLLoss2d, opCrossEntropy *Op

func init() {
	opNLLLoss, opNLLLossBackward = classLoss("nll_loss", "mean (or sum) of -weight[t]·logp[i,t] for t = target[i]")
	opNLLLoss2d, _ = classLoss("nll_loss2d", "nll_loss of every place of an image or sequence: logp [n classes …], target [n …]")
	opCrossEntropy = define(Op{
		Name: "cross_entropy", Doc: "nll_loss of log_softmax", Args: []string{"logits", "target", "weight"}, Class: FP32, CPUList: FP32, Parts: ApartOnCUDA,
		Why: "both of its parts run in float32", Composite: []string{"log_softmax", "nll_loss"}, CUDA: "log_softmax",
		Bound: 4, // smoothed targets have two gradients, which may cancel
	})
}

// classLoss defines nll_loss of some rank and the row of its gradient.
func classLoss(name, doc string) (loss, slope *Op) {
	loss = define(Op{
		Name: name, Doc: doc, Args: []string{"logp", "target", "weight"}, Class: FP32, CPUList: FP32, Why: whyLoss, CUDA: name, Saves: SaveIn1 | SaveIn2,
		Check: checkNLL, CPU: nllCPU,
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = b.Shape(0)
			b.Set(0, b.S.apply(slope, a, b.DY, b.In(1), b.optional(2)))
		},
	})
	slope = define(Op{
		Name: name + "_backward", Doc: "-weight·dy at the targets, divided by the sum of their weights for a mean", Args: []string{"dy", "target", "weight"},
		Why: whyBackward, CUDA: name + "_backward", Saves: SaveIn1 | SaveIn2,
		Check: func(c *Call) []int { return c.Shape }, CPU: nllBackwardCPU,
		Backward: func(b *Back) { // linear in dy, and its transpose is the loss itself
			b.Set(0, b.S.apply(loss, b.Attrs(), b.DY, b.In(1), b.optional(2)))
		},
	})
	return loss, slope
}

func checkNLL(c *Call) []int {
	p, t := c.In[0], c.In[1]
	if !p.dt.IsFloat() || t.dt != Int64 {
		fail(c.Op.Name, ErrDType, "logits are floats, targets int64 class numbers: amp.From([]int64{…})", "%s", c.shapes())
	}
	ok := len(p.shape) == 1 && len(t.shape) == 0 || len(p.shape) > 1 && len(t.shape) == len(p.shape)-1 && t.shape[0] == p.shape[0] && slices.Equal(t.shape[1:], p.shape[2:])
	if !ok {
		fail(c.Op.Name, ErrShape, "use [n classes] and a target of [n], or [n classes …] and [n …]", "%s", c.shapes())
	}
	classes := p.shape[min(1, len(p.shape)-1)]
	if classes == 0 && t.Len() > 0 {
		fail(c.Op.Name, ErrShape, "give every target at least one class", "%s: there are no classes", c.shapes())
	}
	if len(c.In) > 2 && c.In[2] != nil {
		c.sameDType(2)
		if w := c.In[2]; len(w.shape) != 1 || w.shape[0] != classes {
			fail(c.Op.Name, ErrShape, fmt.Sprintf("use a weight of [%d], one per class", classes), "%s", c.shapes())
		}
	}
	if c.Reduce == ReduceNone {
		return t.shape
	}
	return nil
}

// A classGrid is a shape [n classes …] seen as rows × classes × places.
type classGrid struct{ classes, places int }

func gridOf(shape []int) classGrid {
	if len(shape) == 1 {
		return classGrid{shape[0], 1}
	}
	return classGrid{shape[1], length(shape[2:])}
}

// eachTarget calls f with the number of every target that counts, its class and weight, and returns the sum of the weights.
func (g classGrid) eachTarget(c *Call, f func(i, class int, weight float64)) float64 {
	t := c.In[1]
	labels := elements[int64](t)
	var weights []float64
	if len(c.In) > 2 && c.In[2] != nil {
		weights = c.In[2].Float64s()
	}
	i, total := -1, 0.0
	t.each(func(off int) {
		i++
		class, w := labels[off], 1.0
		if class == c.Ignore {
			return
		}
		if class < 0 || class >= int64(g.classes) {
			fail(c.Op.Name, ErrArgument, fmt.Sprintf("use classes from 0 to %d, or %d to leave a row out", g.classes-1, c.Ignore), "target[%d] is %d", i, class)
		}
		if weights != nil {
			w = weights[class]
		}
		total += w
		f(i, int(class), w)
	})
	return total
}

func nllCPU(c *Call) {
	p, out := c.In[0], c.Out
	g := gridOf(p.shape)
	row, column, rest, restStrides := 0, p.strides[len(p.strides)-1], []int(nil), []int(nil)
	if len(p.shape) > 1 {
		row, column, rest, restStrides = p.strides[0], p.strides[1], p.shape[2:], p.strides[2:]
	}
	if c.Reduce == ReduceNone {
		clear(out.st.mem)
	}
	sum := 0.0
	var one [1]float64
	buf := lineWorks.Get().(*lineWork)
	defer buf.release()
	picked := g.picked(buf, p, c.In[1], row, column)
	total := g.eachTarget(c, func(i, class int, w float64) {
		if picked != nil {
			one[0] = float64(picked[i])
		} else {
			load(one[:], p, p.off+i/g.places*row+class*column+offset(i%g.places, rest, restStrides), 1)
		}
		one[0] = float64(one[0] * -w)
		sum += one[0]
		if c.Reduce == ReduceNone {
			store(out, out.off+i, one[:])
		}
	})
	if c.Reduce == ReduceMean {
		sum /= total // NaN without any target, as in PyTorch
	}
	if c.Reduce != ReduceNone {
		one[0] = sum
		store(out, out.off, one[:])
	}
}

// picked returns the elements at the targets of a float32 matrix, for which all workers wait for the memory; nil for other tensors.
func (g classGrid) picked(buf *lineWork, p, target *Tensor, row, column int) []float32 {
	if p.dt != Float32 || len(p.shape) != 2 || !target.contiguous() {
		return nil
	}
	x, labels := elements[float32](p), elements[int64](target)[target.off:]
	buf.sums = resize(buf.sums, p.shape[0])
	out := buf.sums
	cpu.Parallel(len(out), grainOf(32), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if class := labels[i]; class >= 0 && class < int64(g.classes) {
				out[i] = x[p.off+i*row+int(class)*column]
			}
		}
	})
	return out
}

// A classPick is what the targets of a call say, by their numbers: the class, -1 for one that does not count, and its weight.
type classPick struct {
	class  []int
	weight []float64
}

var classPicks = sync.Pool{New: func() any { return new(classPick) }}

// nllBackwardCPU clears the rows of a task and sets the elements at their targets while they are near.
func nllBackwardCPU(c *Call) {
	dy, target, out := c.In[0], c.In[1], c.Out
	g := gridOf(c.Shape)
	pick := classPicks.Get().(*classPick)
	defer classPicks.Put(pick)
	pick.class, pick.weight = resize(pick.class, target.Len()), resize(pick.weight, target.Len())
	for i := range pick.class {
		pick.class[i] = -1
	}
	total := g.eachTarget(c, func(i, class int, weight float64) { pick.class[i], pick.weight[i] = class, weight })
	k := -1.0
	if c.Reduce == ReduceMean {
		k = -1 / total
	}
	size, bytes := g.classes*g.places, out.dt.Size()
	cpu.Parallel(target.Len()/max(1, g.places), grainOf(size), func(lo, hi int) {
		clear(out.st.mem[(out.off+lo*size)*bytes : (out.off+hi*size)*bytes])
		var one [1]float64
		for i := lo * g.places; i < hi*g.places; i++ {
			if class := pick.class[i]; class >= 0 {
				load(one[:], dy, dy.off+offset(i, dy.shape, dy.strides), 1)
				one[0] *= k * pick.weight[i]
				store(out, out.off+i/g.places*size+class*g.places+i%g.places, one[:])
			}
		}
	})
}

// NLLLoss returns the mean of -logp[i, target[i]] for log-probabilities [n classes] and int64 targets [n], or what a Reduction asks
// for; also for [classes] and a target without dimension, and for [n classes …] and [n …]. It takes LossWeight, one number per
// class, by whose sum a mean is divided, and IgnoreClass; targets equal to IgnoreIndex do not count otherwise. float32 under autocast.
func NLLLoss(s *Scope, logp, target *Tensor, opts ...LossOption) *Tensor {
	return nllLoss(s, logp, target, lossOf("nll_loss", hasWeight|hasIgnore, opts))
}

func nllLoss(s *Scope, logp, target *Tensor, c lossConfig) *Tensor {
	o := opNLLLoss
	o.need(logp, target)
	if len(logp.shape) > 2 {
		o = opNLLLoss2d
	}
	return s.apply(o, Attrs{Reduce: c.reduce, Ignore: c.ignore}, logp, target, c.weight)
}

// CrossEntropy returns NLLLoss of LogSoftmax over the classes for logits [n classes] and int64 targets [n], or with more dimensions
// as NLLLoss has them. The target may also be probabilities, of the logits' shape and a float dtype. It takes LossWeight, one number
// per class, LabelSmoothing and, for class numbers, IgnoreClass. Its parts are float32 under autocast.
func CrossEntropy(s *Scope, logits, target *Tensor, opts ...LossOption) *Tensor {
	opCrossEntropy.need(logits, target)
	logits.live("cross_entropy")
	target.live("cross_entropy")
	c := lossOf("cross_entropy", hasWeight|hasIgnore|hasSmoothing, opts)
	s, in, done := s.enterWide(opCrossEntropy, logits, target, c.weight)
	logits, target, c.weight = in[0], in[1], in[2]
	if len(logits.shape) == 0 {
		fail("cross_entropy", ErrShape, "use [n classes] and a target of [n]", "logits have no dimension")
	}
	dim := min(1, len(logits.shape)-1)
	logp := LogSoftmax(s, logits, dim)
	if target.dt.IsFloat() {
		return done(soft(s, logp, target, dim, c))
	}
	loss := nllLoss(s, logp, target, c)
	if c.smoothing == 0 {
		return done(loss)
	}
	rest := MulScalar(s, uniform(s, logp, target, dim, c), c.smoothing/float64(logp.shape[dim]))
	return done(Add(s, MulScalar(s, loss, 1-c.smoothing), rest))
}

// soft is the cross entropy with probabilities for targets: -Σ weight·target·logp over the classes; a mean is over the rest.
func soft(s *Scope, logp, target *Tensor, dim int, c lossConfig) *Tensor {
	if c.has(hasIgnore) {
		fail("cross_entropy", ErrArgument, "leave it out, or give int64 class numbers", "probabilities have no class to ignore")
	}
	if !slices.Equal(logp.shape, target.shape) {
		fail("cross_entropy", ErrShape, "probabilities have the shape of the logits; class numbers are int64", "logits %v, target %v %v", logp.shape, target.dt, target.shape)
	}
	classes := float64(logp.shape[dim])
	if c.smoothing > 0 {
		target = AddScalar(s, MulScalar(s, target, 1-c.smoothing), c.smoothing/classes)
	}
	y := Neg(s, Mul(s, perClass(s, logp, dim, c.weight), target))
	switch c.reduce {
	case ReduceNone:
		return Sum(s, y, dim)
	case ReduceSum:
		return Sum(s, y)
	}
	return MulScalar(s, Sum(s, y), classes/float64(logp.Len()))
}

// uniform is the cross entropy with the sum of all classes as target, where targets count. A mean is divided by the sum of the
// targets' weights, as nll_loss's is.
func uniform(s *Scope, logp, target *Tensor, dim int, c lossConfig) *Tensor {
	y := Neg(s, Sum(s, perClass(s, logp, dim, c.weight), dim))
	y = Where(s, Eq(s, target, constant(s, Int64, float64(c.ignore))), constant(s, y.dt, 0), y)
	switch c.reduce {
	case ReduceNone:
		return y
	case ReduceSum:
		return Sum(s, y)
	}
	ones := Expand(s, constant(s, logp.dt, -1), logp.shape...)
	c.reduce = ReduceSum
	return Div(s, Sum(s, y), nllLoss(s, ones, target, c))
}

// perClass multiplies by a weight per class, if there is one.
func perClass(s *Scope, logp *Tensor, dim int, weight *Tensor) *Tensor {
	if weight == nil {
		return logp
	}
	if len(weight.shape) != 1 || weight.shape[0] != logp.shape[dim] {
		fail("cross_entropy", ErrShape, fmt.Sprintf("use a weight of [%d], one per class", logp.shape[dim]), "weight %v for %v", weight.shape, logp.shape)
	}
	shape := make([]int, len(logp.shape)-dim)
	for i := range shape {
		shape[i] = 1
	}
	shape[0] = weight.shape[0]
	return Mul(s, logp, Reshape(s, weight, shape...))
}
