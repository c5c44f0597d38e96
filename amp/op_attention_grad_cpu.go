package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

func attentionBackwardCPU(c *Call) {
	if c.Out.dt == Float64 {
		attendBack[float64](c, &attenders64)
		return
	}
	if newAttention(c.In[1:], &c.Attrs).tiled() {
		attendBackTiles(c)
		return
	}
	attendBack[float32](c, &attenders32)
}

// attendBack takes one matrix of the batch after another per worker: the gradients of its keys and values are sums over its queries,
// added up in their order.
func attendBack[T float32 | float64](c *Call, pool *sync.Pool) {
	a := newAttention(c.In[1:], &c.Attrs)
	dy, out := c.In[0], c.Out
	a.grads = a.gradients(out, c.Dims)
	cpu.Parallel(length(a.batch), max(1, 1<<16/max(1, a.T*a.S*(a.d+a.e))), func(lo, hi int) {
		w := pool.Get().(*attender[T])
		defer pool.Put(w)
		w.attention = a
		for n := lo; n < hi; n++ {
			w.matrixBackward(n, dy, out, w.backward)
			w.storeKeys(n)
		}
		w.end()
	})
}

// matrixBackward goes over the queries of matrix n; step is backward.
func (w *attender[T]) matrixBackward(n int, dy, out *Tensor, step func(dy, out *Tensor, maskAt int)) {
	w.dk, w.dv = resize(w.dk, w.S*w.d), resize(w.dv, w.S*w.e)
	clear(w.dk)
	clear(w.dv)
	sizes := w.sizes()
	at := out.off + sizes[0] + sizes[1] + sizes[2] + n*w.T*w.S
	for first := 0; first < w.T; first += queryBlock {
		w.begin(n, first)
		step(dy, out, at+first*w.S)
		w.row.scale(w.rows[:w.count*w.d], T(w.scale))
		storeRows(w.attention, w.grads[0], n, first, w.rows[:w.count*w.d])
	}
}

// storeKeys rounds the gradients of the keys and values of matrix n.
func (w *attender[T]) storeKeys(n int) {
	w.row.scale(w.dk, T(w.scale))
	storeRows(w.attention, w.grads[1], n, 0, w.dk)
	storeRows(w.attention, w.grads[2], n, 0, w.dv)
}

// keptKeys is up to how many keys the scores of a block of queries are kept from the first walk to the second.
const keptKeys = 8 * keyBlock

// A keeper has blocks of p and dp that wait for the second walk.
type keeper[T float32 | float64] struct {
	keptP, keptDP []T
	tops          []T  // by blocks of keys: tops of the queries when they were computed
	keeps         bool // all blocks of keys are kept, not one
}

// keepBlocks makes room for the blocks of so many keys.
func (w *attender[T]) keepBlocks(keys int) {
	blocks := (keys + keyBlock - 1) / keyBlock
	w.tops = resize(w.tops, blocks*queryBlock)
	if w.keeps = keys <= keptKeys; !w.keeps {
		blocks = 1
	}
	w.keptP, w.keptDP = resize(w.keptP, blocks*queryBlock*keyBlock), resize(w.keptDP, blocks*queryBlock*keyBlock)
}

// place makes p and dp those of the block of keys j.
func (w *attender[T]) place(j int) {
	if !w.keeps {
		j = 0
	}
	at := j * queryBlock
	w.p, w.dp = w.keptP[at:at+queryBlock*keyBlock], w.keptDP[at:at+queryBlock*keyBlock]
}

// topsAt is where the tops are that the exponentials of the block of keys j were computed with.
func (w *attender[T]) topsAt(j int) []T { return w.tops[j/keyBlock*queryBlock:][:w.count] }

// sinceTop is what exponentials of query i are still to be multiplied by that were computed with this top.
func (w *attender[T]) sinceTop(i int, top T) T {
	if top == w.top[i] {
		return 1
	}
	return T(cpu.Exp.Of(float64(top - w.top[i])))
}

// backward adds one block of queries to dk and dv and leaves its dq in rows. The first walk over the keys finds each row's top, sum
// and Σ dP∘P, the second the gradients, from scores that are computed again if there are too many keys to keep them.
func (w *attender[T]) backward(dy, out *Tensor, maskAt int) {
	keys := w.keys()
	w.keepBlocks(keys)
	for j := 0; j < keys; j += keyBlock {
		m := min(keyBlock, keys-j)
		w.place(j)
		w.scores(j, m)
		w.probabilityGradient(dy, j, m)
		for i := range w.count {
			shrink, n := w.exponentials(i, j, m), w.visible(i, j, m)
			row := i * w.ld
			clear(w.dp[row+n : row+w.ld]) // NaN may be there, and p is 0
			end := row + w.inBlocks(n)
			w.delta[i] = T(w.delta[i]*shrink) + w.row.dot(w.p[row:end], w.dp[row:end])
		}
		copy(w.topsAt(j), w.top[:])
	}
	for j := 0; j < keys; j += keyBlock {
		m := min(keyBlock, keys-j)
		w.place(j)
		w.ld = rowLength[T](m)
		if !w.keeps {
			w.computeAgain(dy, j, m)
		}
		for i, top := range w.topsAt(j) {
			w.scoreGradient(i, j, m, w.sinceTop(i, top))
			if w.additive() {
				store(out, maskAt+i*w.S+j, w.dp[i*w.ld:][:m])
			}
		}
		w.dropRows(0, w.count, j, m, w.p)
		cpu.GemmTo(m, w.e, w.count, held(w.p, 1, w.ld), w.operand(dy, w.first), addRows(w.dv[j*w.e:], w.e, w.first == 0))
		cpu.GemmTo(w.count, w.d, m, held(w.dp, w.ld, 1), w.operand(w.k, j), addRows(w.rows, w.d, j == 0))
		cpu.GemmTo(m, w.d, w.count, held(w.dp, 1, w.ld), w.operand(w.q, w.first), addRows(w.dk[j*w.d:], w.d, w.first == 0))
	}
}

// computeAgain computes p and dp of a block of keys when the tops are known.
func (w *attender[T]) computeAgain(dy *Tensor, j, m int) {
	w.scores(j, m)
	w.probabilityGradient(dy, j, m)
	for i := range w.count {
		if w.sum[i] != 0 {
			p, scale := w.seen(i, j, m)
			w.row.exps(p, scale, w.top[i])
		}
	}
	copy(w.topsAt(j), w.top[:])
}

// probabilityGradient sets dp to dy·vᵀ, times dropout's factors.
func (w *attender[T]) probabilityGradient(dy *Tensor, j, m int) {
	cpu.GemmTo(w.count, m, w.e, w.operand(dy, w.first), transposed(w.operand(w.v, j)), cpu.Result[T]{Row: w.ld, Elems: w.dp})
	w.dropRows(0, w.count, j, m, w.dp)
}

// scoreGradient turns row i of p, exponentials that are still to be multiplied by more, into probabilities and of dp into the gradient of the
// scores, P∘(dP - Σ dP∘P).
func (w *attender[T]) scoreGradient(i, j, m int, more T) {
	n := w.visible(i, j, m)
	end := w.inBlocks(n)
	p, dp, k := w.p[i*w.ld:][:end], w.dp[i*w.ld:][:w.ld], w.share(i)
	clear(dp[n:])
	dp = dp[:end]
	if k == 0 {
		clear(p)
		clear(dp)
		return
	}
	w.row.gradient(p, dp, k*more, T(w.delta[i]*k))
	clear(p[n:]) // 0 unless k is NaN
	clear(dp[n:])
}
