package amp

import (
	"fmt"
)

// Batch norm. The statistics of a batch are a row of their own; batch_norm and its gradients take them as given, and know that in
// training they depend on x. Their own gradients lead back to the same three rows, so that any order can be had.

var opBatchStats, opBatchNorm, opBatchSums, opBatchNormBackward, opRunningStats *Op

const (
	whyBatchNorm = "follows x; statistics and arithmetic are wide, as cuDNN has it: float32 weights beside half activations"
	// modeRunning marks statistics that do not depend on x: those of evaluation.
	modeRunning = "running"
)

func init() {
	opBatchStats = define(Op{
		Name: "batch_norm_stats", Doc: "mean and biased variance of each channel, as rows of a matrix", Args: []string{"x"}, Why: "accumulated in float64, kept in float32", CUDA: "batch_norm_stats", Counted: true,
		Check: func(c *Call) []int { return []int{2, c.In[0].shape[1]} }, Result: statsResult, CPU: floatKernel(batchStatsLines, batchStatsCPU),
	})
	opBatchNorm = define(Op{
		Name: "batch_norm", Doc: "(x - mean) / √(variance + eps) · weight + bias per channel", Args: []string{"x", "weight", "bias", "stats"},
		Why: whyBatchNorm, CUDA: "batch_norm", Saves: SaveIn0 | SaveIn1 | SaveIn3,
		Check: checkBatchNorm, CPU: floatKernel(batchNormLines, batchNormCPU), Backward: batchNormBackward,
	})
	opBatchSums = define(Op{
		Name: "batch_norm_sums", Doc: "Σ dy·x̂ and Σ dy of each channel, as rows of a matrix: the gradients of weight and bias", Args: []string{"dy", "stats", "x"},
		Why: "runs in the dtype its forward ran in", CUDA: "batch_norm_sums", Saves: SaveIn0 | SaveIn1 | SaveIn2,
		Check: func(c *Call) []int { return []int{2, c.In[0].shape[1]} }, Result: explicit, CPU: floatKernel(batchSumsLines, batchSumsCPU),
		Backward: batchSumsBackward,
	})
	opBatchNormBackward = define(Op{
		Name: "batch_norm_backward", Doc: "weight/√(variance + eps) · (dy - mean dy - x̂·mean(dy·x̂)): the gradient of x", Args: []string{"dy", "x", "weight", "stats", "sums"},
		Why: "runs in the dtype its forward ran in", CUDA: "batch_norm_backward", Saves: SaveIn0 | SaveIn1 | SaveIn2 | SaveIn3, Wide: true,
		Check: func(c *Call) []int { return c.In[0].shape }, CPU: floatKernel(batchDXLines, batchDXCPU),
		Backward: batchNormSecond,
	})
	opRunningStats = define(Op{
		Name: "running_stats_", Doc: "mean and var += momentum·(statistic - running), the variance without bias; batches, if given, += 1", Args: []string{"mean", "var", "batches", "stats"},
		Why: "in place", InPlace: true, Changes: 3, CUDA: "running_stats", Check: func(c *Call) []int { return c.In[0].shape }, CPU: runningStatsCPU,
	})
}

// statsResult: statistics are float32, float64 of float64.
func statsResult(c *Call) DType {
	if c.In[0].dt == Float64 {
		return Float64
	}
	return Float32
}

// A BatchNormState holds the settings of BatchNorm and what it keeps between batches.
type BatchNormState struct {
	RunningMean, RunningVar *Tensor // [c]; nil where none are kept
	Batches                 *Tensor // 0-dimensional int64, counts the batches of training; nil where nobody counts
	Momentum                float64 // weight of the present batch in the running statistics; PyTorch's default is 0.1
	Eps                     float64 // added to the variance; PyTorch's default is 1e-5
}

// BatchNorm normalizes each channel of x [n c …] to mean 0 and variance 1, multiplies by weight [c] and adds bias [c], which may be
// nil: y = (x - mean) / √(variance + eps) · weight + bias. In training (s.Training()) and where there are no running statistics,
// mean and biased variance are those of the batch; training then moves the running statistics towards those of the batch, the
// variance unbiased: running += momentum·(statistic - running). In evaluation the running statistics are used. In the dtype of x;
// weight and bias may be float32 while x is half, statistics are float32 or wider always. It panics with ErrShape where shapes do
// not fit, and in training with a single value per channel; with ErrArgument unless eps is above 0, or also 0 where the running statistics are
// used. An empty batch has an empty result; training counts it, and moves nothing.
func BatchNorm(s *Scope, x, weight, bias *Tensor, st BatchNormState) *Tensor {
	s.alive("batch_norm")
	x.live("batch_norm")
	if len(x.shape) < 2 || !x.dt.IsFloat() {
		fail("batch_norm", ErrShape, "give x a float dtype, a batch and a channel dimension", "x %v %v", x.dt, x.shape)
	}
	x = Contiguous(s, x)
	running := st.RunningMean != nil && st.RunningVar != nil
	at := Attrs{Scalar: st.Eps}
	var stats *Tensor
	if running && !s.Training() {
		st.checkEps(st.Eps >= 0)
		at.Mode = modeRunning
		stats = s.runningStats(x, st)
	} else {
		per := x.shape[0] * length(x.shape[2:])
		if per == 0 {
			return s.batchNormOfNothing(x, weight, bias, st)
		}
		if per < 2 {
			fail("batch_norm", ErrShape, "use a batch of at least two, or s.Eval()", "x %v has %d values per channel: too few for a variance", x.shape, per)
		}
		st.checkEps(st.Eps > 0)
		stats = s.apply(opBatchStats, Attrs{}, x)
		if running && !s.again {
			s.checkStat(x, st.RunningMean, st.RunningVar)
			st.move(s.NoGrad(), stats, float64(per)/float64(max(1, per-1)))
		}
	}
	return s.apply(opBatchNorm, at, x, contiguousOrNil(s, weight), contiguousOrNil(s, bias), stats)
}

func (st BatchNormState) checkEps(ok bool) {
	if !ok {
		fail("batch_norm", ErrArgument, "use an eps above 0; the usual one is 1e-5", "eps %v", st.Eps)
	}
}

// batchNormOfNothing normalizes an empty batch, by any statistics: a batch of training is counted, but has none to move the others by.
func (s *Scope) batchNormOfNothing(x, weight, bias *Tensor, st BatchNormState) *Tensor {
	if st.RunningMean != nil && st.RunningVar != nil {
		s.checkStat(x, st.RunningMean, st.RunningVar)
		if st.Batches != nil {
			s.NoGrad().apply(opCountStep, Attrs{}, st.checkedBatches(), nil)
		}
	}
	stats := s.Own(Full(s, statsResult(&Call{In: []*Tensor{x}}), 1, 2, x.shape[1]))
	return s.apply(opBatchNorm, Attrs{Scalar: st.Eps, Mode: modeRunning}, x, contiguousOrNil(s, weight), contiguousOrNil(s, bias), stats)
}

// checkedBatches returns the counter of batches.
func (st *BatchNormState) checkedBatches() *Tensor {
	n := st.Batches
	n.live("batch_norm")
	if n.dt != Int64 || len(n.shape) != 0 {
		fail("batch_norm", ErrShape, "count batches in a 0-dimensional int64", "batches is %v %v", n.dt, n.shape)
	}
	return n
}

// move moves the running statistics; unbias is the factor of the variance.
func (st *BatchNormState) move(s *Scope, stats *Tensor, unbias float64) {
	for _, r := range []*Tensor{st.RunningMean, st.RunningVar} { // the row writes neighbors
		if !r.contiguous() {
			fail("batch_norm", ErrShape, "use contiguous tensors", "the running statistics are parts of others that do not lie together")
		}
	}
	st.RunningVar.st.changing() // the first input's change is noted with every row in place
	if st.Batches != nil {
		st.checkedBatches().st.changing()
	}
	s.apply(opRunningStats, Attrs{Scalar: st.Momentum, Pair: [2]float64{unbias}}, st.RunningMean, st.RunningVar, st.Batches, stats)
}

// runningStats puts the running statistics together as batch_norm takes them.
func (s *Scope) runningStats(x *Tensor, st BatchNormState) *Tensor {
	s.checkStat(x, st.RunningMean, st.RunningVar)
	off := s.NoGrad().Autocast(NoDType, Enabled(false))
	stats := Stack(off, 0, st.RunningMean, st.RunningVar)
	if x.dt == Float64 {
		return To(off, stats, Float64)
	}
	return To(off, stats, Float32)
}

func (s *Scope) checkStat(x *Tensor, running ...*Tensor) {
	for i, r := range running {
		r.live("batch_norm")
		if len(r.shape) != 1 || r.shape[0] != x.shape[1] || !r.dt.IsFloat() {
			fail("batch_norm", ErrShape, fmt.Sprintf("it has one float for each of the %d channels of x", x.shape[1]), "the running %s is %v %v for x %v",
				[]string{"mean", "variance"}[i], r.dt, r.shape, x.shape)
		}
	}
}

func checkBatchNorm(c *Call) []int {
	c.checkAffine(c.In[1:3])
	return c.In[0].shape
}

// checkAffine refuses weights and biases that do not fit the channels of x; they may be float32 where x is half.
func (c *Call) checkAffine(params []*Tensor) {
	x := c.In[0]
	for i, t := range params {
		if t == nil {
			continue
		}
		if t.dt != x.dt && !(t.dt == Float32 && x.dt.IsHalf()) {
			fail(c.Op.Name, ErrDType, "weight and bias have the dtype of x, or float32 beside a half x", "%s", c.shapes())
		}
		if len(t.shape) != 1 || t.shape[0] != x.shape[1] {
			fail(c.Op.Name, ErrShape, fmt.Sprintf("%s needs one element for each of the %d channels of x", c.Op.argName(i+1), x.shape[1]), "%s: %s has shape %v",
				c.shapes(), c.Op.argName(i+1), t.shape)
		}
	}
}

// batchNormBackward: one row sums over the channels, one gives dx; the sums are the gradients of weight and bias.
func batchNormBackward(b *Back) {
	dy, x, stats := Contiguous(b.S, b.DY), b.In(0), b.In(3)
	sums := b.S.batchSums(b.Attrs(), dy, x, stats)
	if b.Needs(0) {
		b.Set(0, b.S.apply(opBatchNormBackward, b.Attrs(), dy, x, b.optional(1), stats, sums))
	}
	for i := range 2 {
		if !b.Needs(1 + i) {
			continue
		}
		g := Reshape(b.S, Narrow(b.S, sums, 0, i, 1), -1)
		g.apart = true // dx is done with, and the other row is small
		b.Set(1+i, To(b.S, g, b.DType(1+i)))
	}
}

// batchSums keeps the sums in the dtype of the statistics: sums of many halves leave their range.
func (s *Scope) batchSums(at Attrs, dy, x, stats *Tensor) *Tensor {
	at.DType = stats.dt
	return s.apply(opBatchSums, at, dy, stats, x)
}

// optional returns input i, nil if there is none.
func (b *Back) optional(i int) *Tensor {
	if !b.given(i) {
		return nil
	}
	return b.In(i)
}

// batchSumsBackward, for a gradient g of the sums: with respect to dy it is x̂·g₀ + g₁, which is batch_norm with g for weight and
// bias; with respect to x what batch_norm_backward gives with g₀ for the weight.
func batchSumsBackward(b *Back) {
	dy, stats, x := b.In(0), b.In(1), b.In(2)
	g := [2]*Tensor{}
	for i := range g {
		g[i] = Reshape(b.S, Narrow(b.S, b.DY, 0, i, 1), -1)
	}
	if b.Needs(0) {
		b.Set(0, b.S.apply(opBatchNorm, b.Attrs(), x, g[0], g[1], stats))
	}
	if b.Needs(2) {
		sums := b.S.batchSums(b.Attrs(), dy, x, stats)
		b.Set(2, b.S.apply(opBatchNormBackward, b.Attrs(), dy, x, g[0], stats, sums))
	}
}

// batchNormSecond differentiates batch_norm_backward, for a gradient g of dx. Per channel, with r = 1/√(variance + eps), A and B the
// means of dy and dy·x̂, G, H and P those of g, g·x̂ and g·dy:
//
//	∂/∂dy      the row itself applied to g: it is its own adjoint
//	∂/∂weight  Σ g·dx / weight
//	∂/∂x       -weight·r²·(x̂·(P - A·G - B·H) + H·(dy - A - x̂·B) + B·(g - G - x̂·H))
//
// Running statistics do not depend on x: dx is weight·r·dy then, without the last line.
func batchNormSecond(b *Back) {
	s, at, g := b.S, b.Attrs(), Contiguous(b.S, b.DY)
	dy, x, stats := b.In(0), b.In(1), b.In(3)
	back := func(dy, weight *Tensor) *Tensor {
		return s.apply(opBatchNormBackward, at, dy, x, weight, stats, s.batchSums(at, dy, x, stats))
	}
	if b.Needs(0) {
		b.Set(0, back(g, b.optional(2)))
	}
	dims := []int{0}
	for d := 2; d < len(x.shape); d++ {
		dims = append(dims, d)
	}
	if b.Needs(2) {
		b.Set(2, Sum(s, Mul(s, g, back(dy, nil)), dims...))
	}
	if !b.Needs(1) || at.Mode == modeRunning {
		return
	}
	mean := func(t *Tensor) *Tensor { return meanKeep(s, t, dims) }
	centered := Sub(s, x, mean(x))
	rate := Rsqrt(s, AddScalar(s, mean(Mul(s, centered, centered)), at.Scalar))
	xhat := Mul(s, centered, rate)
	mA, mB, mG, mH, mP := mean(dy), mean(Mul(s, dy, xhat)), mean(g), mean(Mul(s, g, xhat)), mean(Mul(s, g, dy))
	inner := Mul(s, xhat, Sub(s, mP, Add(s, Mul(s, mA, mG), Mul(s, mB, mH))))
	inner = Add(s, inner, Mul(s, mH, Sub(s, Sub(s, dy, mA), Mul(s, xhat, mB))))
	inner = Add(s, inner, Mul(s, mB, Sub(s, Sub(s, g, mG), Mul(s, xhat, mH))))
	scale := Mul(s, rate, rate)
	if w := b.optional(2); w != nil {
		shape := make([]int, len(x.shape))
		for d := range shape {
			shape[d] = 1
		}
		shape[1] = -1
		scale = Mul(s, scale, Reshape(s, w, shape...))
	}
	b.Set(1, Neg(s, Mul(s, scale, inner)))
}

func runningStatsCPU(c *Call) {
	stats, n := c.In[3], c.In[0].shape[0]
	was, now := make([]float64, n), make([]float64, n)
	for k, factor := range [2]float64{1, c.Pair[0]} {
		r := c.In[k]
		load(was, r, r.off, r.strides[0])
		load(now, stats, stats.off+k*n, 1)
		for i, v := range now {
			was[i] = float64((1-c.Scalar)*was[i]) + float64(c.Scalar*factor*v)
		}
		store(r, r.off, was)
	}
	if b := c.In[2]; b != nil {
		values[int64](b)[b.off]++
	}
}
