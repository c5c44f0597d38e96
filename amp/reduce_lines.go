package amp

import (
	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"
)

// Sums of float32 and halves in passes of package cpu.

// sumRun is how many neighbors, and sumRows how many rows of a matrix, one task adds up or compares.
const (
	sumRun  = 1 << 15
	sumRows = 512
)

// sumLinesInto is sumInto where the numbers of a sum are neighbors, or those of neighboring sums are; it says whether it has done it.
func sumLinesInto(out, t *Tensor, r reduction, scale float64) bool {
	if r.nKept == 0 || r.nReduced < 16 {
		return false
	}
	var room *[]float64
	var sums []float64
	n, stride, outer, _ := last(r.kept, r.keptStride)
	switch {
	case len(r.reduced) == 1 && r.reducedStride[0] == 1:
		room, sums = runSums(t, &r)
	case stride == 1 && len(outer) == 0 && n >= 16 && len(r.reduced) == 1:
		room, sums = columnSums(t, &r)
	case r.reducedStride[len(r.reduced)-1] == 1 && r.reduced[len(r.reduced)-1] >= 16:
		room, sums = scatteredSums(t, &r)
	default:
		return false
	}
	for i := range sums {
		sums[i] *= scale
	}
	store(out, out.off, sums)
	rowPool.Put(room)
	return true
}

// runSums adds up neighbors.
func runSums(t *Tensor, r *reduction) (room *[]float64, sums []float64) {
	pieces := r.pieces()
	room, parts := cleared(r.nKept * pieces)
	if pieces == 1 && len(r.kept) == 1 && r.keptStride[0] >= r.nReduced && t.dt == Float32 {
		x, stride := elements[float32](t)[t.off:], r.keptStride[0]
		cpu.Parallel(r.nKept, grainOf(r.nReduced), func(lo, hi int) {
			w := lineWorks.Get().(*lineWork)
			defer w.release()
			w.SumRows(parts[lo:hi], x[lo*stride:], r.nReduced, stride)
		})
		return room, parts
	}
	r.inPieces(t, parts, (*lineWork).sumAt)
	if pieces == 1 {
		return room, parts
	}
	for i := range r.nKept {
		sum := 0.0
		for _, v := range parts[i*pieces : (i+1)*pieces] {
			sum += v
		}
		parts[i] = sum
	}
	return room, parts[:r.nKept]
}

// inPieces sets parts to what f makes of each piece of sumRun neighbors of each run, the last piece of a run shorter.
func (r *reduction) inPieces(t *Tensor, parts []float64, f func(w *lineWork, t *Tensor, off, n int) float64) {
	pieces := r.pieces()
	cpu.Parallel(len(parts), grainOf(r.nReduced), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for p := lo; p < hi; p++ {
			at := p % pieces * sumRun
			parts[p] = f(w, t, t.off+offset(p/pieces, r.kept, r.keptStride)+at, min(sumRun, r.nReduced-at))
		}
	})
}

// pieces is how many of them a run has.
func (r *reduction) pieces() int { return (r.nReduced + sumRun - 1) / sumRun }

// halfPiece is how many halves are widened at a time to be summed, which the L1 cache holds; as many as a pass adds up in float32, so that
// a sum's bits do not depend on it.
const halfPiece = 2048

// sumAt returns the sum of n neighbors from offset off on.
func (w *lineWork) sumAt(t *Tensor, off, n int) float64 {
	if !t.dt.IsHalf() {
		return w.SumOf(w.read(0, t, off, 1, n))
	}
	w.Acc[0] = cpu.Lanes{}
	if w.Half[0] = bits16(t)[off:][:n]; cpu.LineSum.RunHalf(n, t.dt == BFloat16, &w.Line) {
		return w.Acc[0].Sum()
	}
	for at := 0; at < n; at += halfPiece {
		m := min(halfPiece, n-at)
		w.F32[0] = w.read(0, t, off+at, 1, m)
		cpu.LineSum.Run(m, &w.Line)
	}
	return w.Acc[0].Sum()
}

// scatteredSums adds up runs of neighbors that lie apart, such as the planes of a channel.
func scatteredSums(t *Tensor, r *reduction) (room *[]float64, sums []float64) {
	room, sums = cleared(r.nKept)
	n, _, outer, outerStride := last(r.reduced, r.reducedStride)
	cpu.Parallel(r.nKept, grainOf(r.nReduced), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for i := lo; i < hi; i++ {
			base := t.off + offset(i, r.kept, r.keptStride)
			if t.dt == Float32 && n <= sumRun && len(outer) == 1 && outerStride[0] >= n {
				w.wide = resize(w.wide, outer[0])
				w.SumRows(w.wide, elements[float32](t)[base:], n, outerStride[0])
				for _, v := range w.wide {
					sums[i] += v
				}
				continue
			}
			for j := range r.nReduced / n {
				from := base + offset(j, outer, outerStride)
				for at := 0; at < n; at += sumRun {
					sums[i] += w.sumAt(t, from+at, min(sumRun, n-at))
				}
			}
		}
	})
	return room, sums
}

// columnSums adds up the rows of a matrix.
func columnSums(t *Tensor, r *reduction) (room *[]float64, sums []float64) {
	n, rows, stride := r.nKept, r.nReduced, r.reducedStride[0]
	block := max(sumRows, (rows+normBlocks-1)/normBlocks)
	room, parts := cleared((rows + block - 1) / block * n)
	cpu.Parallel(rows, block, func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		own := parts[lo/block*n:][:n]
		w.sums = resize(w.sums, n)
		for i := lo; i < hi; i += sumLines {
			t.sumRows(w.sums, t.off+i*stride, min(sumLines, hi-i), stride)
			cpu.AddWide(own, w.sums)
		}
	})
	addBlocks(parts, n)
	return room, parts[:n]
}

// sumRows sets sums to those of the columns of rows rows from offset off on, stride apart, added up in float32.
func (t *Tensor) sumRows(sums []float32, off, rows, stride int) {
	switch t.dt {
	case Float16:
		cpu.SumColumnsF16(sums, raw16(elements[float16.Float16](t)[off:]), rows, stride)
	case BFloat16:
		cpu.SumColumnsBF16(sums, raw16(elements[bfloat16.BFloat16](t)[off:]), rows, stride)
	default:
		cpu.SumColumns(sums, elements[float32](t)[off:], rows, stride)
	}
}
