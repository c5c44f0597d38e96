package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// logsumexp and cumsum: reductions and sums whose results need float32.

var opLogSumExp, opCumsum *Op

func init() {
	opLogSumExp = define(Op{
		Name: "logsumexp", Doc: "log Σ e^x over dimensions", Args: []string{"x"}, Class: FP32, Why: "exponentials and their sum need float32's range", CUDA: "logsumexp", Floats: true, Saves: SaveIn0 | SaveOut,
		Check: func(c *Call) []int { c.floats(); return reducedShape(c) },
		CPU: func(c *Call) {
			if logSumExpLines(c) {
				return
			}
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
		Ints: true, CUDA: "cumsum", Line: LikeFirst,
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
	if d := c.Dims[0]; x.dt == Float32 && c.Out.dt == Float32 && !c.Reverse && d == len(x.shape)-1 && x.contiguous() {
		cumsumRows(values[float32](c.Out)[c.Out.off:][:x.Len()], values[float32](x)[x.off:][:x.Len()], x.shape[d])
		return
	}
	if !x.dt.IsFloat() {
		cumsums[int64]().run(c)
		return
	}
	cumsums[float64]().run(c)
}

// cumsumRows is the scan for rows of float32 whose elements are neighbors, four rows at a time: each sum waits for the one before it.
func cumsumRows(dst, x []float32, n int) {
	rows := len(x) / max(1, n)
	cpu.Parallel((rows+3)/4, grainOf(4*n), func(lo, hi int) {
		for r := 4 * lo; r < min(4*hi, rows); r++ {
			if r+4 > rows {
				var sum float64
				for k, v := range x[r*n : (r+1)*n] {
					sum += float64(v)
					dst[r*n+k] = float32(sum)
				}
				continue
			}
			a, b, c, d := x[r*n:][:n], x[(r+1)*n:][:n], x[(r+2)*n:][:n], x[(r+3)*n:][:n]
			to0, to1, to2, to3 := dst[r*n:][:n], dst[(r+1)*n:][:n], dst[(r+2)*n:][:n], dst[(r+3)*n:][:n]
			var s0, s1, s2, s3 float64
			for k, v := range a {
				s0 += float64(v)
				s1 += float64(b[k])
				s2 += float64(c[k])
				s3 += float64(d[k])
				to0[k], to1[k], to2[k], to3[k] = float32(s0), float32(s1), float32(s2), float32(s3)
			}
			r += 3
		}
	})
}

// logSumExpLines is the kernel for lines that are neighbors in memory, in the passes of log_softmax; it says whether they are. Where one
// element is infinite there are the few cases of logSumExp.
func logSumExpLines(c *Call) bool {
	x := c.In[0]
	r := newReduction(x, c.Dims)
	if !narrowLines(x) || len(r.reduced) != 1 || r.reducedStride[0] != 1 || r.nReduced < shortLine {
		return false
	}
	cpu.Parallel(r.nKept, grainOf(2*r.nReduced), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for i := lo; i < hi; i++ {
			row := w.read(0, x, x.off+offset(i, r.kept, r.keptStride), 1, r.nReduced)
			m := w.MaxOf(row)
			w.Arg[0], w.Acc[0] = float32(m), cpu.Lanes{}
			if math.IsInf(m, 0) {
				wide := make([]float64, len(row))
				narrow(wide, row)
				store(c.Out, c.Out.off+i, []float64{logSumExp(wide)})
				continue
			}
			cpu.LineExpSum.Run(len(row), &w.Line)
			store(c.Out, c.Out.off+i, []float64{m + cpu.Log.Of(w.Acc[0].Sum())})
		}
	})
	return true
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
	a.Dims = []int{opCumsum.axis(x, dim)}
	return s.apply(opCumsum, a, x)
}
