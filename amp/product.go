package amp

import (
	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"
)

// What the matrix products share: operands and results as package cpu wants them, and the walk over a batch.

// operand describes the matrix of t that starts at off, with these distances of rows and columns, for a product in T.
func operand[T cpu.Float](t *Tensor, off, row, col int) cpu.Matrix[T] {
	m := cpu.Matrix[T]{Off: off, Row: row, Col: col}
	var one T
	_, single := any(one).(float32)
	switch {
	case t.dt == dtypeOf[T]():
		m.Elems = elements[T](t)
	case t.dt == Float16 && single:
		m.F16 = raw16(elements[float16.Float16](t))
	case t.dt == BFloat16 && single:
		m.BF16 = raw16(elements[bfloat16.BFloat16](t))
	default:
		m.Load = func(dst []T, off, stride int) { load(dst, t, off, stride) }
	}
	return m
}

// halfFormat is the format of t's elements where they are halves, however they were brought to float32.
func halfFormat(t *Tensor) cpu.Format {
	switch t.dt {
	case Float16:
		return cpu.F16
	case BFloat16:
		return cpu.BF16
	}
	return cpu.NoHalf
}

// productInto returns the place for a product whose rows of n elements follow each other in t from off on. Where finish is
// given, it may change every piece of a row before it is rounded.
func productInto[T cpu.Float](t *Tensor, off, n int, finish func(i, j int, row []T)) cpu.Result[T] {
	if t.dt == dtypeOf[T]() {
		return cpu.Result[T]{Elems: elements[T](t), Off: off, Row: n, Done: finish}
	}
	var one T
	if _, single := any(one).(float32); single && t.dt == Float16 {
		return cpu.Result[T]{F16: raw16(elements[float16.Float16](t)), Off: off, Row: n, Done: finish}
	} else if single && t.dt == BFloat16 {
		return cpu.Result[T]{BF16: raw16(elements[bfloat16.BFloat16](t)), Off: off, Row: n, Done: finish}
	}
	return cpu.Result[T]{Done: func(i, j int, row []T) {
		if finish != nil {
			finish(i, j, row)
		}
		store(t, off+i*n+j, row)
	}}
}

// batched multiplies the matrices of a batch that is broadcast.
func batched[T cpu.Float](c *Call) {
	a, b, out := c.In[0], c.In[1], c.Out
	ra, rb, ro := len(a.shape), len(b.shape), len(out.shape)
	m, n, k := out.shape[ro-2], out.shape[ro-1], a.shape[ra-1]
	batch := out.shape[:ro-2]
	if length(b.shape[:rb-2]) == 1 && stacked(a) {
		m, batch = m*length(batch), nil // one matrix b for all: the rows of a are those of one tall matrix
	}
	cpu.Parallel(length(batch), max(1, 1<<20/max(1, m*n*k)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			oa, ob, rest := a.off, b.off, i
			for d := len(batch) - 1; d >= 0; d-- {
				j := rest % batch[d]
				rest /= batch[d]
				oa += batchOffset(a, d-(ro-ra), j)
				ob += batchOffset(b, d-(ro-rb), j)
			}
			cpu.GemmTo(m, n, k,
				operand[T](a, oa, a.strides[ra-2], a.strides[ra-1]),
				operand[T](b, ob, b.strides[rb-2], b.strides[rb-1]),
				productInto[T](out, out.off+i*m*n, n, nil))
		}
	})
}

// stacked says whether all rows of t lie at one distance, over its whole batch.
func stacked(t *Tensor) bool {
	r := len(t.shape) - 2
	next := t.shape[r] * t.strides[r]
	for d := r - 1; d >= 0; d-- {
		if t.shape[d] != 1 && t.strides[d] != next {
			return false
		}
		next *= t.shape[d]
	}
	return true
}

func batchOffset(t *Tensor, d, j int) int {
	if d < 0 || t.shape[d] == 1 {
		return 0
	}
	return j * t.strides[d]
}
