package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// A scan is an op whose output at each place of a dimension is made of the inputs there and the output before: cumsum, cumprod, recurrence. Its
// formula stands in two loops, which TestScansAcross holds to the same bits: along one line, where the value before is in a register, and across
// many, where each row of values is made of the row before.
type scan[T float64 | int64] struct {
	start T                                       // before the first
	line  func(out []T, in [][]T, from, step int) // the places in their order: from, from+step …
	step  func(sofar []T, in [][]T)               // brings the values so far one row of the inputs further
}

// run computes the scan of a call along its dimension, from the end where the call is reversed.
func (s scan[T]) run(c *Call) {
	if s.across(c) {
		return
	}
	overLines(c.Out, c.Dims[0], c.In, func(out []T, in [][]T) {
		if c.Reverse {
			s.line(out, in, len(out)-1, -1)
			return
		}
		s.line(out, in, 0, 1)
	})
}

func cumsums[T float64 | int64]() scan[T] {
	return scan[T]{
		start: 0,
		line: func(out []T, in [][]T, k, step int) {
			var sum T
			for range out {
				sum += in[0][k]
				out[k] = sum
				k += step
			}
		},
		step: func(sofar []T, in [][]T) {
			for j, v := range in[0] {
				sofar[j] += v
			}
		},
	}
}

func cumprods[T float64 | int64]() scan[T] {
	return scan[T]{
		start: 1,
		line: func(out []T, in [][]T, k, step int) {
			p := T(1)
			for range out {
				p *= in[0][k]
				out[k] = p
				k += step
			}
		},
		step: func(sofar []T, in [][]T) {
			for j, v := range in[0] {
				sofar[j] *= v
			}
		},
	}
}

// recurrences has a and b as inputs: h = a·h + b.
var recurrences = scan[float64]{
	line: func(out []float64, in [][]float64, k, step int) {
		a, b, h := in[0], in[1], 0.0
		for range out {
			h = float64(a[k]*h) + b[k]
			out[k] = h
			k += step
		}
	},
	step: func(sofar []float64, in [][]float64) {
		a, b := in[0], in[1]
		for j, h := range sofar {
			sofar[j] = float64(a[j]*h) + b[j]
		}
	},
}

// acrossColumns are the neighbors that a scan takes along another dimension than the last: their values so far stay in the nearest cache.
const acrossColumns = 256

// across is overLines for a scan along another dimension than the last. The elements of a line meet in the order they have there. It says whether
// the tensors are so.
func (s scan[T]) across(c *Call) bool {
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
			fill(sofar, s.start)
			for q := range n {
				if c.Reverse {
					q = n - 1 - q
				}
				at := (t/blocks*n+q)*inner + first
				for k, x := range c.In {
					load(rows[k], x, x.off+at, 1)
				}
				s.step(sofar, rows)
				store(out, out.off+at, sofar)
			}
		}
	})
	return true
}
