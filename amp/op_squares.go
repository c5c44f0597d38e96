package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"
)

// Sums of squares of float32 numbers and halves, which are exact in float64; of halves also to the digits of a float32, in half the time.

// sumSquares adds up the squares of n neighbors from offset off on.
func sumSquares(t *Tensor, off, n int) float64 { return sumSquaresBy((*lineWork).squaresAt, t, off, n) }

// sumSquaresBy adds up in parts of fixed length, of which of gives the sums, and these in order.
func sumSquaresBy(of func(w *lineWork, t *Tensor, off, n int) float64, t *Tensor, off, n int) float64 {
	room, parts := cleared((n + sumRun - 1) / sumRun)
	defer rowPool.Put(room)
	cpu.Parallel(n, sumRun, func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		parts[lo/sumRun] = of(w, t, off+lo, hi-lo)
		w.release()
	})
	sum := 0.0
	for _, v := range parts {
		sum += v
	}
	return sum
}

// squaresAt returns the sum of the squares of n neighbors from offset off on.
func (w *lineWork) squaresAt(t *Tensor, off, n int) float64 {
	if !t.dt.IsHalf() {
		return cpu.SumSquares(w.read(0, t, off, 1, n))
	}
	var sum cpu.Squares
	if t.dt == Float16 {
		sum.AddF16(raw16(elements[float16.Float16](t)[off:][:n]))
	} else {
		sum.AddBF16(raw16(elements[bfloat16.BFloat16](t)[off:][:n]))
	}
	return sum.Sum()
}

// squarePairsAt is squaresAt to the digits of a float32.
func (w *lineWork) squarePairsAt(t *Tensor, off, n int) float64 {
	switch t.dt {
	case Float16:
		return cpu.SumSquaresF16(raw16(elements[float16.Float16](t)[off:][:n]))
	case BFloat16:
		return cpu.SumSquaresBF16(raw16(elements[bfloat16.BFloat16](t)[off:][:n]))
	}
	return w.squaresAt(t, off, n)
}

// normOfRuns is the kernel of the 2-norm of neighbors; it says whether they are.
func normOfRuns(c *Call) bool {
	x := c.In[0]
	r := newReduction(x, c.Dims)
	if c.Scalar != 2 || x.dt == Float64 || len(r.reduced) != 1 || r.reducedStride[0] != 1 || r.nReduced == 0 {
		return false
	}
	cpu.Parallel(r.nKept, grainOf(r.nReduced), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			store(c.Out, c.Out.off+i, []float64{math.Sqrt(sumSquaresBy((*lineWork).squarePairsAt, x, x.off+offset(i, r.kept, r.keptStride), r.nReduced))})
		}
	})
	return true
}
