package amp

import (
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// acrossColumns are the neighbors that a scan takes along another dimension than the last: their values so far stay in the nearest cache.
const acrossColumns = 256

// scanAcross is overLines for a scan along another dimension than the last: step brings the values so far, which begin as start, one row of the
// inputs further. The elements of a line meet in the order they have there. It says whether the tensors are so.
func scanAcross[T float64 | int64](c *Call, start T, step func(sofar []T, in [][]T)) bool {
	out, d := c.Out, c.Dims[0]
	inner := length(out.shape[d+1:])
	if inner < shortLine || out.Len() == 0 || !out.contiguous() {
		return false
	}
	for _, t := range c.In {
		if !t.contiguous() {
			return false
		}
	}
	n, blocks := out.shape[d], (inner+acrossColumns-1)/acrossColumns
	pool := linePool[T]()
	cpu.Parallel(out.Len()/(n*inner)*blocks, grainOf(8*n*acrossColumns), func(lo, hi int) {
		b := pool.Get().(*lineBufs[T])
		defer pool.Put(b)
		rows := make([][]T, len(c.In))
		for t := lo; t < hi; t++ {
			first := t % blocks * acrossColumns
			width := min(acrossColumns, inner-first)
			for k := range c.In {
				rows[k] = b.grow(k, width)
			}
			sofar := b.grow(len(c.In), width)
			fill(sofar, start)
			for q := range n {
				if c.Reverse {
					q = n - 1 - q
				}
				at := (t/blocks*n+q)*inner + first
				for k, x := range c.In {
					load(rows[k], x, x.off+at, 1)
				}
				step(sofar, rows)
				store(out, out.off+at, sofar)
			}
		}
	})
	return true
}

func cumsumStep[T float64 | int64](sofar []T, in [][]T) {
	for j, v := range in[0] {
		sofar[j] += v
	}
}

func cumprodStep[T float64 | int64](sofar []T, in [][]T) {
	for j, v := range in[0] {
		sofar[j] *= v
	}
}

func recurrenceStep(sofar []float64, in [][]float64) {
	a, b := in[0], in[1]
	for j, h := range sofar {
		sofar[j] = float64(a[j]*h) + b[j]
	}
}
