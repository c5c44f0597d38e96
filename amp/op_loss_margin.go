package amp

import "fmt"

// Losses with a margin that are made of other rows.

var opMarginRankingLoss, opCosineEmbeddingLoss, opTripletMarginLoss, opMultiMarginLoss, opMultilabelSoftMarginLoss *Op

func init() {
	composite := func(o Op) *Op {
		if o.Parts == Together {
			o.Class, o.CPUList, o.Why = FP32, FP32, whyLoss
		}
		o.CUDA = "relu"
		return define(o)
	}
	opMarginRankingLoss = composite(Op{
		Name: "margin_ranking_loss", Doc: "mean (or sum) of max(0, margin - target·(a - b)), broadcast", Args: []string{"a", "b", "target"},
		Composite: []string{"sub", "mul", "clamp", "mean"},
	})
	opCosineEmbeddingLoss = composite(Op{
		Name: "cosine_embedding_loss", Doc: "mean (or sum) of 1 - cos(a, b) where target is 1, max(0, cos(a, b) - margin) where it is -1", Args: []string{"a", "b", "target"},
		Composite: []string{"mul", "sum", "sqrt", "div", "clamp", "where", "mean"},
	})
	opTripletMarginLoss = composite(Op{
		Name: "triplet_margin_loss", Doc: "mean (or sum) of max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm of a difference", Args: []string{"anchor", "positive", "negative"},
		Composite: []string{"sub", "norm", "clamp", "mean"},
	})
	opMultiMarginLoss = composite(Op{
		Name: "multi_margin_loss", Doc: "mean (or sum) of Σ over other classes j of max(0, margin - x[t] + x[j])^p / classes", Args: []string{"x", "target", "weight"},
		Composite: []string{"gather", "sub", "relu", "where", "sum", "mean"},
	})
	opMultilabelSoftMarginLoss = composite(Op{
		Name: "multilabel_soft_margin_loss", Doc: "mean (or sum) of the mean over classes of -target·log σ(x) - (1 - target)·log σ(-x)", Args: []string{"x", "target", "weight"},
		Why: "PyTorch makes it of logsigmoid and a sum, which decide for themselves", Composite: []string{"logsigmoid", "mul", "sum", "mean"}, Parts: Apart,
	})
}

// MarginRankingLoss returns the mean of max(0, margin - target·(a - b)), or what a Reduction asks for: target 1 asks for a above b, -1
// for b above a. The three have as many dimensions, and sizes of 1 are broadcast. PyTorch's margin is 0. float32 under autocast.
func MarginRankingLoss(s *Scope, a, b, target *Tensor, margin float64, opts ...LossOption) *Tensor {
	const op = "margin_ranking_loss"
	c := lossOf(op, 0, opts)
	opMarginRankingLoss.need(a, b, target)
	for _, t := range []*Tensor{a, b, target} {
		t.live(op)
	}
	if n := len(a.shape); len(b.shape) != n || len(target.shape) != n {
		fail(op, ErrShape, "reshape them to as many dimensions", "a %v, b %v, target %v", a.shape, b.shape, target.shape)
	}
	s, in, done := s.enterWide(opMarginRankingLoss, a, b, target)
	y := Mul(s, Neg(s, in[2]), Sub(s, in[0], in[1]))
	return done(reduceLoss(s, ClampMin(s, AddScalar(s, y, margin), 0), c.reduce))
}

// CosineEmbeddingLoss returns the mean of 1 - cos(a, b) for pairs of rows whose target is 1 and of max(0, cos(a, b) - margin) where it
// is -1, or what a Reduction asks for: a and b are [n features] with a target of [n], or [features] with a target without dimension.
// PyTorch's margin is 0. float32 under autocast. The target has no gradient.
func CosineEmbeddingLoss(s *Scope, a, b, target *Tensor, margin float64, opts ...LossOption) *Tensor {
	const op = "cosine_embedding_loss"
	c := lossOf(op, 0, opts)
	a.live(op)
	b.live(op)
	target.live(op)
	if k := len(a.shape); k < 1 || k > 2 || len(b.shape) != k || len(target.shape) != k-1 || k == 2 && target.shape[0] != a.shape[0] {
		fail(op, ErrShape, "use [n features] twice and a target of [n]", "a %v, b %v, target %v", a.shape, b.shape, target.shape)
	}
	s, in, done := s.enterWide(opCosineEmbeddingLoss, a, b, target)
	a, b, target = in[0], in[1], in[2]
	square := func(x *Tensor) *Tensor { return AddScalar(s, Sum(s, Mul(s, x, x), -1), 1e-12) }
	cos := Div(s, Sum(s, Mul(s, a, b), -1), Sqrt(s, Mul(s, square(a), square(b))))
	zero := constant(s, cos.dt, 0)
	alike := Where(s, Eq(s, target, constant(s, target.dt, 1)), oneMinus(s, cos), zero)
	apart := Where(s, Eq(s, target, constant(s, target.dt, -1)), ClampMin(s, AddScalar(s, cos, -margin), 0), zero)
	return done(reduceLoss(s, Add(s, alike, apart), c.reduce))
}

// TripletMarginLoss returns the mean of max(0, d(anchor, positive) - d(anchor, negative) + margin), or what a Reduction asks for,
// where d is the p-norm of a difference plus eps along the last dimension. It takes SwapNegatives. PyTorch's margin is 1, its p 2, its
// eps 1e-6. float32 under autocast. It panics with ErrArgument for a margin of 0 or below.
func TripletMarginLoss(s *Scope, anchor, positive, negative *Tensor, margin, p, eps float64, opts ...LossOption) *Tensor {
	const op = "triplet_margin_loss"
	c := lossOf(op, hasSwap, opts)
	if !(margin > 0) {
		fail(op, ErrArgument, "use a margin above 0; the usual one is 1", "margin %v", margin)
	}
	opTripletMarginLoss.need(anchor, positive, negative)
	for _, t := range []*Tensor{anchor, positive, negative} {
		t.live(op)
		if len(t.shape) != len(anchor.shape) || len(t.shape) == 0 {
			fail(op, ErrShape, "give them as many dimensions, at least one", "anchor %v, positive %v, negative %v", anchor.shape, positive.shape, negative.shape)
		}
	}
	s, in, done := s.enterWide(opTripletMarginLoss, anchor, positive, negative)
	near := PairwiseDistance(s, in[0], in[1], p, eps, false)
	far := PairwiseDistance(s, in[0], in[2], p, eps, false)
	if c.has(hasSwap) {
		far = Minimum(s, far, PairwiseDistance(s, in[1], in[2], p, eps, false))
	}
	return done(reduceLoss(s, ClampMin(s, AddScalar(s, Sub(s, near, far), margin), 0), c.reduce))
}

// MultiMarginLoss returns the mean of Σ max(0, margin - x[i,t] + x[i,j])^p / classes over the classes j other than t = target[i], for x
// [n classes] and int64 targets [n], or what a Reduction asks for; also for [classes] and a target without dimension. p is 1 or 2. It
// takes LossWeight, one number per class. PyTorch's p is 1, its margin 1. float32 under autocast.
func MultiMarginLoss(s *Scope, x, target *Tensor, p int, margin float64, opts ...LossOption) *Tensor {
	const op = "multi_margin_loss"
	c := lossOf(op, hasWeight, opts)
	x.live(op)
	target.live(op)
	if p != 1 && p != 2 {
		fail(op, ErrArgument, "use 1 or 2", "p %d", p)
	}
	if target.dt != Int64 {
		fail(op, ErrDType, "targets are int64 class numbers: amp.From([]int64{…})", "target %v", target.dt)
	}
	if k := len(x.shape); k < 1 || k > 2 || len(target.shape) != k-1 || k == 2 && target.shape[0] != x.shape[0] {
		fail(op, ErrShape, "use [n classes] and a target of [n]", "x %v, target %v", x.shape, target.shape)
	}
	s, in, done := s.enterWide(opMultiMarginLoss, x, target, c.weight)
	x, target = in[0], in[1]
	classes := x.shape[len(x.shape)-1]
	column := Reshape(s, target, append(target.Shape(), 1)...)
	y := ReLU(s, AddScalar(s, Sub(s, x, Gather(s, x, -1, column)), margin))
	if p == 2 {
		y = Mul(s, y, y)
	}
	others := Ne(s, count64(s, classes), column)
	y = MulScalar(s, Sum(s, Where(s, others, y, constant(s, y.dt, 0)), -1), 1/float64(classes))
	if w := in[2]; w != nil {
		checkClassWeight(op, w, classes)
		y = Mul(s, y, Reshape(s, Gather(s, w, 0, Reshape(s, target, -1)), target.shape...))
	}
	return done(reduceLoss(s, y, c.reduce))
}

func checkClassWeight(op string, w *Tensor, classes int) {
	if len(w.shape) != 1 || w.shape[0] != classes {
		fail(op, ErrShape, fmt.Sprintf("use a weight of [%d], one per class", classes), "weight %v", w.shape)
	}
}

// count64 is the tensor 0, 1 … n-1.
func count64(s *Scope, n int) *Tensor {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i)
	}
	return indices(s, v)
}

// MultilabelSoftMarginLoss returns the mean over the rows of the mean over the classes of -target·log σ(x) - (1 - target)·log σ(-x),
// for x and target of [… classes], or what a Reduction asks for. It takes LossWeight, one number per class. Not on autocast's lists;
// its sum is, so that its mean is float32.
func MultilabelSoftMarginLoss(s *Scope, x, target *Tensor, opts ...LossOption) *Tensor {
	const op = "multilabel_soft_margin_loss"
	c := lossOf(op, hasWeight, opts)
	opMultilabelSoftMarginLoss.need(x, target)
	s, in, done := s.enterWide(opMultilabelSoftMarginLoss, x, target, c.weight)
	x, target = in[0], in[1]
	(&Call{Op: opMultilabelSoftMarginLoss, In: in}).sameShape()
	if len(x.shape) == 0 {
		fail(op, ErrShape, "use [n classes]", "x has no dimension")
	}
	classes := x.shape[len(x.shape)-1]
	y := Neg(s, Add(s, Mul(s, target, LogSigmoid(s, x)), Mul(s, oneMinus(s, target), LogSigmoid(s, Neg(s, x)))))
	if w := in[2]; w != nil {
		checkClassWeight(op, w, classes)
		y = Mul(s, y, w)
	}
	return done(reduceLoss(s, MulScalar(s, Sum(s, y, -1), 1/float64(classes)), c.reduce))
}
