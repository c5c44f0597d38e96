package amp

// multilabel_margin_loss: each class that a row names should be above each that it does not, by 1.

var opMultilabelMarginLoss, opMultilabelMarginLossBackward *Op

func init() {
	opMultilabelMarginLoss = define(Op{
		Name: "multilabel_margin_loss", Doc: "mean (or sum) of Σ max(0, 1 - x[j] + x[i]) / classes over the named classes j and the others i", Args: []string{"x", "target"},
		Class: FP32, CPUList: FP32, Why: whyLoss, CUDA: "multilabel_margin_loss", Saves: SaveIn0 | SaveIn1, Check: checkMultilabel,
		CPU: func(c *Call) {
			total := 0.0
			eachLabeled(c, c.In[0], c.In[1], func(i int, x []float64, named []bool, targets []int) {
				sum := 0.0
				eachBelow(x, named, targets, func(_, _ int, gap float64) { sum += gap })
				sum /= float64(len(x))
				total += sum
				if c.Reduce == ReduceNone {
					store(c.Out, c.Out.off+i, []float64{sum})
				}
			})
			if c.Reduce != ReduceNone {
				store(c.Out, c.Out.off, []float64{total * rowShare(c.Reduce, c.In[0])})
			}
		},
		Backward: func(b *Back) {
			b.Set(0, b.S.apply(opMultilabelMarginLossBackward, b.Attrs(), b.DY, b.In(0), b.In(1)))
		},
	})
	opMultilabelMarginLossBackward = define(Op{
		Name: "multilabel_margin_loss_backward", Doc: "dy times the slope of multilabel_margin_loss at x", Args: []string{"dy", "x", "target"}, Why: whyBackward,
		CUDA: "multilabel_margin_loss_backward", Saves: SaveIn1 | SaveIn2, Wide: true, Check: func(c *Call) []int { return c.In[1].shape }, CPU: multilabelSlope,
		Backward: func(b *Back) { // linear in dy: Σ DY·slope; flat in x
			x := b.In(1)
			ones := Expand(b.S, constant(b.S, x.dt, 1), b.Shape(0)...)
			g := Mul(b.S, b.DY, b.S.apply(opMultilabelMarginLossBackward, b.Attrs(), ones, x, b.In(2)))
			if len(b.Shape(0)) > 0 {
				b.Set(0, Sum(b.S, g, -1))
				return
			}
			b.Set(0, Sum(b.S, g))
		},
	})
}

func checkMultilabel(c *Call) []int {
	x, t := c.In[0], c.In[1]
	if !x.dt.IsFloat() || t.dt != Int64 {
		fail(c.Op.Name, ErrDType, "x is of floats, targets are int64 class numbers: amp.From([]int64{…})", "%s", c.shapes())
	}
	c.sameShape()
	if len(x.shape) < 1 || len(x.shape) > 2 {
		fail(c.Op.Name, ErrShape, "use [n classes] or [classes]", "%s", c.shapes())
	}
	if c.Reduce == ReduceNone {
		return x.shape[:len(x.shape)-1]
	}
	return nil
}

// rowShare is the weight that a reduction gives each row.
func rowShare(r Reduction, x *Tensor) float64 {
	if r == ReduceMean && len(x.shape) == 2 {
		return 1 / float64(x.shape[0])
	}
	return 1
}

// eachLabeled calls f for each row with its numbers, which classes its target names, and the list of them: up to the first -1.
func eachLabeled(c *Call, x, target *Tensor, f func(i int, x []float64, named []bool, targets []int)) {
	classes := x.shape[len(x.shape)-1]
	labels := elements[int64](target)
	row, named, targets := make([]float64, classes), make([]bool, classes), make([]int, 0, classes)
	d := len(x.shape) - 1
	rows, step, labelStep := 1, 0, 0
	if d == 1 {
		rows, step, labelStep = x.shape[0], x.strides[0], target.strides[0]
	}
	for i := range rows {
		load(row, x, x.off+i*step, x.strides[d])
		clear(named)
		targets = targets[:0]
		for k := range classes {
			class := labels[target.off+i*labelStep+k*target.strides[d]]
			if class == -1 {
				break
			}
			if class < 0 || class >= int64(classes) {
				fail(c.Op.Name, ErrArgument, "use class numbers, and -1 after the last", "target[%d,%d] is %d of %d classes", i, k, class, classes)
			}
			named[class] = true
			targets = append(targets, int(class))
		}
		f(i, row, named, targets)
	}
}

// eachBelow calls f for the pairs of a named class j and another i that are not 1 apart, with what is lacking.
func eachBelow(x []float64, named []bool, targets []int, f func(j, i int, gap float64)) {
	for _, j := range targets {
		for i, v := range x {
			if gap := 1 - x[j] + v; !named[i] && gap > 0 {
				f(j, i, gap)
			}
		}
	}
}

func multilabelSlope(c *Call) {
	dy, x, out := c.In[0], c.In[1], c.Out
	classes := x.shape[len(x.shape)-1]
	slope, one := make([]float64, classes), make([]float64, 1)
	share := rowShare(c.Reduce, x) / float64(classes)
	eachLabeled(c, x, c.In[2], func(i int, v []float64, named []bool, targets []int) {
		load(one, dy, dy.off+offset(i, dy.shape, dy.strides), 1)
		clear(slope)
		eachBelow(v, named, targets, func(j, i int, _ float64) {
			slope[j] -= float64(share * one[0])
			slope[i] += float64(share * one[0])
		})
		store(out, out.off+i*classes, slope)
	})
}

// MultilabelMarginLoss returns the mean of Σ max(0, 1 - x[i,j] + x[i,k]) / classes over the classes j that row i of target names and
// the classes k that it does not, for x [n classes] and an int64 target [n classes] that lists class numbers and, after the last,
// -1; also for [classes]; or what a Reduction asks for. float32 under autocast.
func MultilabelMarginLoss(s *Scope, x, target *Tensor, opts ...LossOption) *Tensor {
	return s.apply(opMultilabelMarginLoss, Attrs{Reduce: lossOf("multilabel_margin_loss", 0, opts).reduce}, x, target)
}
