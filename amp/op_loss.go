package amp

import "fmt"

// mse_loss, nll_loss and cross_entropy: float32 under autocast.

// A Reduction says what a loss does with its elements.
type Reduction uint8

// The reductions.
const (
	ReduceMean Reduction = iota // divide the sum by the number of elements that count
	ReduceSum
	ReduceNone // keep one loss per element
)

// IgnoreIndex is the target value that nll_loss and cross_entropy leave out, as in PyTorch.
const IgnoreIndex = -100

var opMSELoss, opNLLLoss, opNLLLossBackward, opCrossEntropy *Op

func init() {
	opMSELoss = define(Op{
		Name: "mse_loss", Doc: "mean (or sum) of (x - target)²", Args: []string{"x", "target"}, Class: FP32, CPUList: FP32,
		Why: "squares leave the half range, and their mean feeds every gradient", CUDA: "mse_loss", Saves: SaveIn0 | SaveIn1,
		Check: checkPair, CPU: pairCPU(func(_ *Call, x, t float64) float64 { return (x - t) * (x - t) }), Wide: true, Backward: mseBackward,
	})
	opNLLLoss = define(Op{
		Name: "nll_loss", Doc: "mean (or sum) of -logp[i, target[i]]", Args: []string{"logp", "target"}, Class: FP32, CPUList: FP32,
		Why: "the loss feeds every gradient", CUDA: "nll_loss", Saves: SaveIn1,
		Check: checkNLL, CPU: nllCPU,
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = b.Shape(0)
			b.Set(0, b.S.apply(opNLLLossBackward, a, b.DY, b.In(1)))
		},
	})
	opNLLLossBackward = define(Op{
		Name: "nll_loss_backward", Doc: "-dy at the targets, divided by their count for a mean", Args: []string{"dy", "target"},
		Why: "runs in the dtype its forward ran in", CUDA: "nll_loss_backward", Saves: SaveIn1,
		Check: func(c *Call) []int { return c.Shape }, CPU: nllBackwardCPU,
		Backward: func(b *Back) { // linear in dy, and its transpose is the loss itself
			b.Set(0, b.S.apply(opNLLLoss, b.Attrs(), b.DY, b.In(1)))
		},
	})
	opCrossEntropy = define(Op{
		Name: "cross_entropy", Doc: "nll_loss of log_softmax", Args: []string{"logits", "target"}, Class: FP32, CPUList: FP32, Parts: ApartOnCUDA,
		Why: "both of its parts run in float32", Composite: []string{"log_softmax", "nll_loss"}, CUDA: "log_softmax",
	})
}

// MSELoss returns the mean of (x - target)², or what reduction asks for. The shapes must be equal: broadcasting a target is
// the classic silent bug of this loss.
func MSELoss(s *Scope, x, target *Tensor, reduction ...Reduction) *Tensor {
	return s.apply(opMSELoss, Attrs{Reduce: first(reduction)}, x, target)
}

// NLLLoss returns the mean of -logp[i, target[i]] for log-probabilities [n classes] and int64 targets [n], or what reduction asks
// for. Targets equal to IgnoreIndex do not count.
func NLLLoss(s *Scope, logp, target *Tensor, reduction ...Reduction) *Tensor {
	return s.apply(opNLLLoss, Attrs{Reduce: first(reduction), Ignore: IgnoreIndex}, logp, target)
}

// CrossEntropy returns NLLLoss of LogSoftmax for logits [n classes] and int64 targets [n].
func CrossEntropy(s *Scope, logits, target *Tensor, reduction ...Reduction) *Tensor {
	s, in := s.enter(opCrossEntropy, logits, target)
	return NLLLoss(s, LogSoftmax(s, in[0], -1), in[1], reduction...)
}

func first(r []Reduction) Reduction {
	if len(r) > 0 {
		return r[0]
	}
	return ReduceMean
}

// pairCPU makes the kernel of a loss of two tensors of one shape: f of each pair, in float64, reduced as asked. Pairs are summed
// in their order, one after another, so that the result does not depend on the workers.
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
		if c.Reduce == ReduceMean {
			sum /= float64(x.Len())
		}
		store(c.Out, c.Out.off, []float64{sum})
	}
}

// checkPair is the rule of such losses.
func checkPair(c *Call) []int {
	c.floats()
	c.sameShape()
	if c.Reduce == ReduceNone {
		return c.In[0].shape
	}
	return nil
}

// perElement is the factor that a reduction gives each element's gradient.
func (b *Back) perElement() float64 {
	if b.Attrs().Reduce == ReduceMean {
		return 1 / float64(length(b.Shape(0)))
	}
	return 1
}

// mseBackward: dx = 2·(x - target)·dy, divided by the count for a mean; the target's gradient is its negative.
func mseBackward(b *Back) {
	// The difference is multiplied by the factor first and by dy, which carries the loss scale, last.
	g := Mul(b.S, MulScalar(b.S, Sub(b.S, b.In(0), b.In(1)), 2*b.perElement()), b.DY)
	b.Set(0, g)
	if b.Needs(1) {
		b.Set(1, Neg(b.S, g))
	}
}

func checkNLL(c *Call) []int {
	p, t := c.In[0], c.In[1]
	if !p.dt.IsFloat() || t.dt != Int64 {
		fail(c.Op.Name, ErrDType, "logits are floats, targets int64 class numbers: amp.From([]int64{…})", "%s", c.shapes())
	}
	if len(p.shape) != 2 || len(t.shape) != 1 || p.shape[0] != t.shape[0] {
		fail(c.Op.Name, ErrShape, "use [n classes] and a target of [n]", "%s", c.shapes())
	}
	if c.Reduce == ReduceNone {
		return t.shape
	}
	return nil
}

// eachTarget calls f with every row and its class, and returns the rows that count.
func eachTarget(c *Call, classes int, f func(row, class int)) int {
	t := c.In[1]
	labels := elements[int64](t)
	n := 0
	for i := range t.shape[0] {
		class := labels[t.off+i*t.strides[0]]
		if class == c.Ignore {
			continue
		}
		if class < 0 || class >= int64(classes) {
			fail(c.Op.Name, ErrArgument, fmt.Sprintf("use classes from 0 to %d, or %d to leave a row out", classes-1, c.Ignore), "target[%d] is %d", i, class)
		}
		n++
		f(i, int(class))
	}
	return n
}

func nllCPU(c *Call) {
	p, out := c.In[0], c.Out
	sum := 0.0
	if c.Reduce == ReduceNone {
		out.setFloat64s(make([]float64, out.Len()))
	}
	var one [1]float64
	n := eachTarget(c, p.shape[1], func(i, class int) {
		load(one[:], p, p.off+i*p.strides[0]+class*p.strides[1], 1)
		one[0] = -one[0]
		sum += one[0]
		if c.Reduce == ReduceNone {
			store(out, out.off+i, one[:])
		}
	})
	if c.Reduce == ReduceMean {
		sum /= float64(n) // NaN without any target, as in PyTorch
	}
	if c.Reduce != ReduceNone {
		store(out, out.off, []float64{sum})
	}
}

func nllBackwardCPU(c *Call) {
	dy, out := c.In[0], c.Out
	clear(out.st.mem[out.off*out.dt.Size() : (out.off+out.Len())*out.dt.Size()])
	k := -1.0
	if c.Reduce == ReduceMean {
		k = -1 / float64(eachTarget(c, c.Shape[1], func(int, int) {}))
	}
	stride := 0
	if c.Reduce == ReduceNone {
		stride = dy.strides[0]
	}
	var one [1]float64
	eachTarget(c, c.Shape[1], func(i, class int) {
		load(one[:], dy, dy.off+i*stride, 1)
		one[0] *= k
		store(out, out.off+i*c.Shape[1]+class, one[:])
	})
}
