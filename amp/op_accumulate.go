package amp

import "slices"

// logsumexp and cumsum: reductions and sums whose results need float32.

var opLogSumExp, opCumsum *Op

func init() {
	opLogSumExp = define(Op{
		Name: "logsumexp", Doc: "log Σ e^x over dimensions", Args: []string{"x"}, Class: FP32, Why: "exponentials and their sum need float32's range", CUDA: "logsumexp", Saves: SaveIn0 | SaveOut,
		Check: func(c *Call) []int { c.floats(); return reducedShape(c) },
		CPU: func(c *Call) {
			eachGroup(c.In[0], c.Dims, func(i int, group []float64) {
				store(c.Out, c.Out.off+i, []float64{logSumExp(group)})
			})
		},
		Wide: true,
		Backward: func(b *Back) { // e^(x-y)
			b.Set(0, Mul(b.S, b.repeat(b.DY), Exp(b.S, Sub(b.S, b.In(0), b.repeat(b.Out())))))
		},
	})
	opCumsum = define(Op{
		Name: "cumsum", Doc: "sums of the elements so far along a dimension", Args: []string{"x"}, Class: FP32Output, Why: "a sum of many half numbers leaves the half range or its precision",
		Ints: true, CUDA: "cumsum",
		Check: func(c *Call) []int { return c.In[0].shape }, Result: sumResult, CPU: cumsumCPU,
		Backward: func(b *Back) { // the same from the other end
			a := b.Attrs()
			a.Reverse, a.DType = !a.Reverse, NoDType
			b.Set(0, To(b.S, b.S.apply(opCumsum, a, b.DY), b.DType(0)))
		},
	})
}

func cumsumCPU(c *Call) {
	x := c.In[0]
	if !x.dt.IsFloat() {
		cumsumOn[int64](c)
		return
	}
	cumsumOn[float64](c)
}

func cumsumOn[T number](c *Call) {
	x, out, d := c.In[0], c.Out, c.Dims[0]
	n := x.shape[d]
	lines := newReduction(x, []int{d})
	row := make([]T, n)
	inner := out.strides[d]
	for i := range lines.nKept {
		load(row, x, x.off+offset(i, lines.kept, lines.keptStride), x.strides[d])
		if c.Reverse {
			slices.Reverse(row)
		}
		var sum T
		for k, v := range row {
			sum += v
			row[k] = sum
		}
		if c.Reverse {
			slices.Reverse(row)
		}
		base := out.off + i/inner*inner*n + i%inner
		for k := range row {
			store(out, base+k*inner, row[k:k+1])
		}
	}
}

// LogSumExp returns log Σ e^x over dims, over all dimensions without any; reduced dimensions go. float32 under autocast.
func LogSumExp(s *Scope, x *Tensor, dims ...int) *Tensor {
	x.live("logsumexp")
	return s.apply(opLogSumExp, Attrs{Dims: reducedAxes("logsumexp", x, dims)}, x)
}

// Cumsum returns the sums of the elements so far along dim: float32 under autocast, int64 for integers. An explicit dtype wins over
// autocast; as in PyTorch, x is brought to it first.
func Cumsum(s *Scope, x *Tensor, dim int, dtype ...DType) *Tensor {
	x.live("cumsum")
	x, a := s.asked(opCumsum, x, dtype)
	a.Dims = []int{x.axis("cumsum", dim)}
	return s.apply(opCumsum, a, x)
}
