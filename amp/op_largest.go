package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The largest |x| over dimensions, in passes of package cpu: the norm of order ∞, and what scales of short formats are made of. A largest number
// is exact in any dtype and order.

// largestAmounts is the kernel where the numbers to choose from, or the results, are neighbors; it says whether they are.
func largestAmounts(c *Call) bool {
	x := c.In[0]
	r := newReduction(x, c.Dims)
	switch {
	case !narrowLines(x) || r.nReduced == 0 || x.dt != c.Out.dt:
		return false
	case len(r.reduced) == 1 && r.reducedStride[0] == 1:
		largestOfRuns(c, &r)
	case len(r.kept) > 0 && r.keptStride[len(r.kept)-1] == 1 && r.kept[len(r.kept)-1] >= shortLine:
		largestOfColumns(c, &r)
	default:
		return false
	}
	return true
}

// largestOfRuns shares out pieces of runs.
func largestOfRuns(c *Call, r *reduction) {
	pieces := r.pieces()
	room, parts := cleared(r.nKept * pieces)
	r.inPieces(c.In[0], parts, (*lineWork).amountAt)
	for i := range r.nKept {
		parts[i] = extremeAbs(parts[i*pieces:(i+1)*pieces], false) // behind what is still to be read
	}
	store(c.Out, c.Out.off, parts[:r.nKept])
	rowPool.Put(room)
}

// amountAt returns the largest |x| of n neighbors from offset off on, NaN if there is one.
func (w *lineWork) amountAt(x *Tensor, off, n int) float64 {
	w.Acc = [2]cpu.Lanes{}
	if !x.dt.IsHalf() || !w.amountOfHalves(x, off, n) {
		w.F32[0] = w.read(0, x, off, 1, n)
		cpu.LineAmount.Run(n, &w.Line)
	}
	if w.Acc[1].Sum() > 0 {
		return math.NaN()
	}
	return w.Acc[0].Max()
}

func (w *lineWork) amountOfHalves(x *Tensor, off, n int) bool {
	w.Half[0] = bits16(x)[off:][:n]
	return cpu.LineAmount.RunHalf(n, x.dt == BFloat16, &w.Line)
}

// largestOfColumns compares rows with the result, a block of neighbors at a time.
func largestOfColumns(c *Call, r *reduction) {
	x, out := c.In[0], c.Out
	last := len(r.kept) - 1
	n := r.kept[last]
	blocks := (n + sumRun - 1) / sumRun
	cpu.Parallel(r.nKept/n*blocks, grainOf(r.nReduced*min(n, sumRun)), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for b := lo; b < hi; b++ {
			at := b % blocks * sumRun
			from, to, size := x.off+offset(b/blocks, r.kept[:last], r.keptStride[:last])+at, out.off+b/blocks*n+at, min(sumRun, n-at)
			best := w.target(3, out, to, 1, size)
			clear(best)
			for i := range r.nReduced {
				w.F32[0], w.F32[1] = w.read(0, x, from+offset(i, r.reduced, r.reducedStride), 1, size), best
				cpu.LineAmounts.Run(size, &w.Line)
			}
			w.write(out, to, 1, best)
		}
	})
}
