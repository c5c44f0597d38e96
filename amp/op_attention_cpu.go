package amp

import (
	"math"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Blocks of the score matrix: with two of them in float32 a worker stays within a usual L2 cache.
const (
	queryBlock = 64
	keyBlock   = 256
)

// An attender is one worker's part of attention: a block of queries and what it needs for that. Pooled.
type attender[T float32 | float64] struct {
	*attention
	n, first, count int // matrix of the batch, first query and number of queries
	p, dp           []T // scores, then probabilities, of a block of keys; their gradient
	ld              int // distance of their rows
	rows, dk, dv    []T // sums
	bias            [keyBlock]T
	top, sum, delta [queryBlock]T // per query: largest score, sum of exponentials, Σ dP∘P
	most            [queryBlock]T // largest products of the block of keys, where known says so
	known           [queryBlock / 32]bool
	row             rowKernels[T]
	keeper[T]
	dropper
}

var (
	attenders32 = sync.Pool{New: func() any { return &attender[float32]{row: newLineRows()} }}
	attenders64 = sync.Pool{New: func() any { return &attender[float64]{row: plainRows} }}
)

func attentionCPU(c *Call) {
	if c.Out.dt == Float64 {
		attend[float64](c, &attenders64)
		return
	}
	if newAttention(c.In, &c.Attrs).tiled() {
		attendTiles(c)
		return
	}
	attend[float32](c, &attenders32)
}

// attend works block of queries by block of queries, spread over the workers by shape alone.
func attend[T float32 | float64](c *Call, pool *sync.Pool) {
	a := newAttention(c.In, &c.Attrs)
	per := (a.T + queryBlock - 1) / queryBlock
	cost := max(1, min(a.T, queryBlock)*a.S*(a.d+a.e))
	cpu.Parallel(length(a.batch)*per, max(1, 1<<17/cost), func(lo, hi int) {
		w := pool.Get().(*attender[T])
		defer pool.Put(w)
		w.attention = a
		for i := lo; i < hi; i++ {
			w.begin(i/per, i%per*queryBlock)
			w.forward(c.Out)
		}
		w.end()
	})
}

// end lets go of the tensors.
func (w *attender[T]) end() {
	w.attention = nil
	w.row.release()
}

// begin turns to the queries from first on.
func (w *attender[T]) begin(n, first int) {
	w.n, w.first, w.count = n, first, min(queryBlock, w.T-first)
	w.p = resize(w.p, queryBlock*keyBlock)
	w.rows = resize(w.rows, queryBlock*max(w.d, w.e))
	clear(w.rows)
	clear(w.sum[:])
	clear(w.delta[:])
	for i := range w.top {
		w.top[i] = T(math.Inf(-1))
	}
}

// keys returns how many keys this block's queries see.
func (w *attender[T]) keys() int {
	if w.causal {
		return min(w.S, w.first+w.count)
	}
	return w.S
}

// forward is softmax by running maximum and sum, so that the scores of a row are never all there.
func (w *attender[T]) forward(out *Tensor) {
	for j := 0; j < w.keys(); j += keyBlock {
		m := min(keyBlock, w.keys()-j)
		w.scores(j, m)
		for i := range w.count {
			if shrink := w.exponentials(i, j, m); shrink != 1 && j > 0 {
				w.row.scale(w.rows[i*w.e:(i+1)*w.e], shrink)
			}
		}
		w.dropRows(0, w.count, j, m, w.p)
		cpu.GemmTo(w.count, w.e, m, held(w.p, w.ld, 1), w.operand(w.v, j), addRows(w.rows, w.e, j == 0))
	}
	for i := range w.count {
		w.row.scale(w.rows[i*w.e:(i+1)*w.e], w.share(i))
	}
	storeRows(w.attention, out, w.n, w.first, w.rows[:w.count*w.e])
}

// operand is the matrix of t that belongs to this part of the batch, from a row on.
func (w *attender[T]) operand(t *Tensor, row int) cpu.Matrix[T] {
	k := len(t.shape) - 2
	return operand[T](t, w.at(t, w.n)+row*t.strides[k], t.strides[k], t.strides[k+1])
}

func transposed[T cpu.Float](m cpu.Matrix[T]) cpu.Matrix[T] {
	m.Row, m.Col = m.Col, m.Row
	return m
}

// held is a matrix in a worker's own memory.
func held[T cpu.Float](v []T, row, col int) cpu.Matrix[T] {
	return cpu.Matrix[T]{Row: row, Col: col, Elems: v}
}

// addRows adds a product to rows of a matrix, or sets them where nothing was added so far.
func addRows[T cpu.Float](v []T, width int, first bool) cpu.Result[T] {
	return cpu.Result[T]{Row: width, Elems: v, Add: !first}
}

// scores sets p to the products of the queries with m keys from j on; exponentials scales and masks them.
func (w *attender[T]) scores(j, m int) {
	w.ld = rowLength[T](m)
	cpu.GemmTo(w.count, m, w.d, w.operand(w.q, w.first), transposed(w.operand(w.k, j)), cpu.Result[T]{Row: w.ld, Elems: w.p})
	for r := 0; r < w.count; r += 32 {
		if w.known[r/32] = w.bare(r, j, m); w.known[r/32] {
			w.row.most(min(32, w.count-r), m, w.p[r*w.ld:], w.ld, w.most[r:])
		}
	}
}

// bare says that the scores of queries from r on with m keys from j on are products times the scale, a positive one, and all of them count.
func (w *attender[T]) bare(r, j, m int) bool {
	return w.mask == nil && w.scale > 0 && w.visible(r, j, m) == m
}

// visible returns how many of m keys from j on query i may look at by the causal rule.
func (w *attender[T]) visible(i, j, m int) int {
	if w.causal {
		return max(0, min(m, w.first+i+1-j))
	}
	return m
}

// masked scales one row of scores for the keys from j on and applies the mask: minus infinity where the query may not look. Without a
// mask it leaves a positive scale, which it returns, to the exponentials.
func (w *attender[T]) masked(i, j int, row []T) T {
	scale := T(w.scale)
	if w.mask == nil {
		if scale > 0 {
			return scale
		}
		w.row.scale(row, scale)
		return 1
	}
	bias := w.bias[:len(row)]
	off, step := w.maskRow(i, j)
	load(bias, w.mask, off, step)
	if w.additive() {
		w.row.add(row, bias, scale)
	} else {
		w.row.mask(row, bias, scale)
	}
	return 1
}

// maskRow returns where the mask of query i and key j lies, and the step to the next key.
func (w *attender[T]) maskRow(i, j int) (off, step int) {
	r := len(w.mask.shape)
	off = w.at(w.mask, w.n) + batchOffset(w.mask, r-2, w.first+i)
	if r > 0 && w.mask.shape[r-1] != 1 {
		step = w.mask.strides[r-1]
	}
	return off + j*step, step
}

// exponentials turns the scores of query i into e^(score - top), adds them to its sum and returns the factor by which what was
// summed before shrank: top may have grown.
func (w *attender[T]) exponentials(i, j, m int) (shrink T) {
	p, scale := w.seen(i, j, m)
	if !w.known[i/32] {
		w.row.most(1, len(p), p, 0, w.most[i:])
	}
	top := max(w.top[i], w.most[i]*scale)
	if math.IsInf(float64(top), -1) { // no key so far, unless NaN among them
		for x, v := range p {
			if v == v {
				p[x] = 0
			}
			w.sum[i] += p[x]
		}
		return 1
	}
	shrink = 1
	if top != w.top[i] {
		if shrink = 0; !math.IsInf(float64(w.top[i]), -1) {
			shrink = T(cpu.Exp.Of(float64(w.top[i] - top)))
		}
		w.top[i] = top
	}
	w.sum[i] = T(w.sum[i]*shrink) + w.row.exps(p, scale, top)
	return shrink
}

// seen returns the masked scores of query i, which are still to be multiplied with scale, and minus infinity behind them up to a length
// that suits vectors; what no query may look at is cleared.
func (w *attender[T]) seen(i, j, m int) (p []T, scale T) {
	n := w.visible(i, j, m)
	row := w.p[i*w.ld:][:w.ld]
	scale = w.masked(i, j, row[:n])
	end := w.inBlocks(n)
	for x := n; x < end; x++ {
		row[x] = T(math.Inf(-1))
	}
	clear(row[end:])
	return row[:end], scale
}

// rowLength is the distance of rows of m elements: whole blocks of float32, so that no pass over a row has to copy the rest of one.
func rowLength[T float32 | float64](m int) int {
	if _, ok := any(T(0)).(float32); ok {
		return upTo(m, 32)
	}
	return m
}

// inBlocks is up to where the passes go over a row of which n elements count.
func (w *attender[T]) inBlocks(n int) int { return min(w.ld, upTo(n, 32)) }

// share is what one exponential of query i is to be multiplied with; 0 for a query without keys.
func (w *attender[T]) share(i int) T {
	if w.sum[i] == 0 {
		return 0
	}
	return 1 / w.sum[i]
}
