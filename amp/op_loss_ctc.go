package amp

import "fmt"

// ctc_loss (Graves et al., "Connectionist Temporal Classification", 2006). A target of S labels is S labels and S+1 blanks around them: states
// 0 … 2S, of which a path takes one per step, goes on by at most one, or from a label to the next over the blank if they differ, and ends
// in one of the last two. alpha, the log-probability of all beginnings of paths, is a row of its own, which the loss and its gradients take as
// given; autocast decides both as one, so that they see the same numbers. Everything is computed in float64: sums of logarithms over many steps
// leave a float32 few digits.

var opCTCLoss, opCTCAlpha, opCTCNLL, opCTCLossBackward, opCTCLossCurvature *Op

// modeZeroInfinity makes 0 of a loss that is infinite, and of its gradient.
const modeZeroInfinity = "zero infinity"

func init() {
	opCTCLoss = define(Op{
		Name: "ctc_loss", Doc: "mean (or sum) of -log of the probability of all paths through a target, divided by its length for a mean",
		Args: []string{"logp", "targets", "inputLengths", "targetLengths"}, CPUList: FP32, Composite: []string{"ctc_alpha", "ctc_nll"},
		Why: "not on the CUDA lists, where PyTorch takes no halves; float64 inside", CUDA: "ctc_loss",
	})
	opCTCAlpha = define(Op{
		Name: "ctc_alpha", Doc: "log-probabilities of the beginnings of paths that are at a state after a step: [steps states], the items' 2·labels+1 states side by side",
		Args: []string{"logp", "targets", "lengths"}, Why: "kept in float64: sums of logarithms over many steps", CUDA: "ctc_alpha", Counted: true,
		Check: checkCTCAlpha, Result: func(*Call) DType { return Float64 }, CPU: ctcAlphaCPU,
	})
	opCTCNLL = define(Op{
		Name: "ctc_nll", Doc: "ctc_loss, for an alpha that is there", Args: []string{"logp", "targets", "lengths", "alpha"},
		Why: "float64 inside: sums of logarithms over many steps", CUDA: "ctc_loss", Saves: SaveIn0 | SaveIn1 | SaveIn2 | SaveIn3,
		Check: (*Call).ctcLossShape, CPU: ctcNLLCPU,
		Backward: func(b *Back) {
			b.Set(0, b.S.apply(opCTCLossBackward, b.Attrs(), b.DY, b.In(0), b.In(1), b.In(2), b.In(3)))
		},
	})
	opCTCLossBackward = define(Op{
		Name: "ctc_loss_backward", Doc: "dy times e^logp less the probability that a path takes the class then", Args: []string{"dy", "logp", "targets", "lengths", "alpha"},
		Why: whyBackward, CUDA: "ctc_loss_backward", Saves: SaveIn0 | SaveIn1 | SaveIn2 | SaveIn3 | SaveIn4, Wide: true,
		Check: func(c *Call) []int { return c.In[1].shape }, CPU: ctcSlopeCPU,
		Backward: func(b *Back) {
			dy, logp, alpha := b.In(0), b.In(1), b.In(4)
			if b.Needs(0) { // linear in dy
				ones := Expand(b.S, constant(b.S, logp.dt, 1), dy.shape...)
				b.Set(0, sumItems(b.S, Mul(b.S, b.DY, b.S.apply(opCTCLossBackward, b.Attrs(), ones, logp, b.In(2), b.In(3), alpha)), dy))
			}
			if b.Needs(1) {
				b.Set(1, b.S.apply(opCTCLossCurvature, b.Attrs(), To(b.S, b.DY, logp.dt), dy, logp, b.In(2), b.In(3), alpha))
			}
		},
	})
	opCTCLossCurvature = define(Op{
		Name: "ctc_loss_curvature", Doc: "dy times what ctc_loss_backward changes by along v", Args: []string{"v", "dy", "logp", "targets", "lengths", "alpha"},
		Why: whyBackward, CUDA: "ctc_loss_backward", Saves: SaveIn0 | SaveIn1 | SaveIn2 | SaveIn3 | SaveIn4, Wide: true,
		Check: func(c *Call) []int { return c.In[2].shape }, CPU: ctcCurvatureCPU,
		Backward: ctcThird,
	})
}

// ctcThird is the gradient of the curvature, which is linear in v, by a matrix that is symmetric, and in dy. A third derivative by logp is
// not there.
func ctcThird(b *Back) {
	if b.Needs(2) {
		fail("ctc_loss", ErrGrad, "leave out CreateGraph where the second derivative is computed", "it has no third derivative")
	}
	v, dy, logp := b.In(0), b.In(1), b.In(2)
	alpha := b.S.apply(opCTCAlpha, b.Attrs(), logp, b.In(3), b.In(4))
	along := func(v, dy *Tensor) *Tensor {
		return b.S.apply(opCTCLossCurvature, b.Attrs(), v, dy, logp, b.In(3), b.In(4), alpha)
	}
	g := To(b.S, b.DY, logp.dt)
	if b.Needs(0) {
		b.Set(0, along(g, dy))
	}
	if b.Needs(1) {
		ones := Expand(b.S, constant(b.S, logp.dt, 1), dy.shape...)
		b.Set(1, sumItems(b.S, Mul(b.S, g, along(v, ones)), dy))
	}
}

// sumItems sums x, [steps n classes], to the shape of dy: by item or over all.
func sumItems(s *Scope, x, dy *Tensor) *Tensor {
	if len(dy.shape) == 0 {
		return Sum(s, x)
	}
	return Sum(s, x, 0, 2)
}

func checkCTCAlpha(c *Call) []int {
	c.isFloat(0)
	return []int{c.In[0].shape[0], 2*c.In[1].Len() + c.In[0].shape[1]}
}

// ctcLossShape is that of the loss of logp [steps n classes].
func (c *Call) ctcLossShape() []int {
	if c.Reduce == ReduceNone {
		return []int{c.In[0].shape[1]}
	}
	return nil
}

// CTCBlank makes class k the blank of CTCLoss, which is class 0 otherwise.
func CTCBlank(k int) LossOption {
	return lossFunc(func(c *lossConfig) { c.blank, c.given = k, c.given|hasBlank })
}

// ZeroInfinity makes CTCLoss count an infinite loss, that of a target which has no path in so few steps, as 0, and its gradient too.
func ZeroInfinity() LossOption {
	return lossFunc(func(c *lossConfig) { c.given |= hasZeroInfinity })
}

// CTCLoss returns -log of the probability that log-probabilities logp [steps n classes], those of LogSoftmax over the classes, give to the
// targets, summed over all ways to spread a target over the steps with repetitions of its labels and blanks between (Graves et al.,
// 2006). targets are int64 classes other than the blank: [n S], of which item i has targetLengths[i], or all of them one after the other in one
// dimension. inputLengths and targetLengths are int64, n of each: how many steps and labels of an item count. One item may come without n: logp
// [steps classes] and targets [S]; its loss has no dimension.
//
// The result is the mean over the items of the loss divided by the target's length, at least 1, or what a Reduction asks for. A target that
// needs more steps than there are, one for each label and for each two equal ones that are neighbors, has an infinite loss and a gradient of
// NaN; ZeroInfinity makes them 0. CTCBlank chooses the blank. As PyTorch's, the gradient is that for logp which come from LogSoftmax, e^logp less the
// share of paths at a class: a step further back it is the exact one. Second derivatives are there, third ones panic with ErrGrad.
//
// In the dtype of logp, float64 inside; not on autocast's lists, but for those of the CPU, where it is float32. It panics with ErrShape and ErrDType for
// tensors that do not fit, and with ErrArgument for a length or target out of range or a target that is the blank, which a GPU finds after
// the call has returned. (PyTorch: torch.nn.functional.ctc_loss, which takes no halves, and reads targets that are blank or no class unchecked.)
func CTCLoss(s *Scope, logp, targets, inputLengths, targetLengths *Tensor, opts ...LossOption) *Tensor {
	s.alive("ctc_loss")
	c := lossOf("ctc_loss", hasBlank|hasZeroInfinity, opts)
	lone := checkCTC(logp, targets, inputLengths, targetLengths, c.blank)
	s, in := s.enter(opCTCLoss, logp, targets, inputLengths, targetLengths)
	if logp, targets = in[0], in[1]; lone {
		logp = Unsqueeze(s, logp, 1)
	}
	n := logp.shape[1]
	lengths := Stack(s, 0, Reshape(s, in[2], n), Reshape(s, in[3], n))
	at := Attrs{Ignore: int64(c.blank), Reduce: c.reduce}
	alpha := s.apply(opCTCAlpha, at, logp, targets, lengths)
	if c.has(hasZeroInfinity) {
		at.Mode = modeZeroInfinity
	}
	y := s.apply(opCTCNLL, at, logp, targets, lengths, alpha)
	if lone && c.reduce == ReduceNone {
		return Reshape(s, y)
	}
	return y
}

// checkCTC refuses what no call can take, and says whether logp is one item's.
func checkCTC(logp, targets, inputLengths, targetLengths *Tensor, blank int) (lone bool) {
	const op = "ctc_loss"
	names := []string{"logp", "targets", "input lengths", "target lengths"}
	for i, t := range []*Tensor{logp, targets, inputLengths, targetLengths} {
		switch {
		case t == nil:
			fail(op, ErrArgument, "pass a tensor", "%s is nil", names[i])
		case i == 0 && !t.dt.IsFloat():
			fail(op, ErrDType, "log-probabilities are floats: amp.LogSoftmax(s, logits, -1)", "%s %v %v", names[i], t.dt, t.shape)
		case i > 0 && t.dt != Int64:
			fail(op, ErrDType, "targets and lengths are int64: amp.From([]int64{…})", "%s %v %v", names[i], t.dt, t.shape)
		}
		t.live(op)
	}
	refuse := func(fix string) {
		fail(op, ErrShape, fix, "logp %v %v, targets %v, input lengths %v, target lengths %v", logp.dt, logp.shape, targets.shape, inputLengths.shape, targetLengths.shape)
	}
	n, rank := 1, len(logp.shape)
	if rank < 2 || rank > 3 || logp.Len() == 0 {
		refuse("use log-probabilities [steps n classes] or [steps classes], which are not empty")
	}
	if rank == 3 {
		n = logp.shape[1]
	}
	if inputLengths.Len() != n || targetLengths.Len() != n {
		refuse(fmt.Sprintf("use lengths of [%d], one for each item", n))
	}
	if k := len(targets.shape); k < 1 || k > 2 || k == 2 && targets.shape[0] != n {
		refuse(fmt.Sprintf("use targets of [%d S], or all in one dimension", n))
	}
	if classes := logp.shape[rank-1]; blank < 0 || blank >= classes {
		fail(op, ErrArgument, fmt.Sprintf("use a class from 0 to %d", classes-1), "blank %d", blank)
	}
	return rank == 2
}
