package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The gradient of attention where the tile registers multiply. The gradients of keys and values are summed as they are wanted by tiles:
// transposed, dvᵀ = dyᵀ·P and dkᵀ = qᵀ·dS, so that P and dS are read as they were computed. P, dS and what they are multiplied by are
// bfloat16 or sums of two: it has the range of float32, which gradients need, and two hold all of a float16.

// pairPart is the distance of the parts of a block of p in pairs of queries.
const pairPart = queryBlock / 2 * keyBlock

// A tileGrader is what a tiler needs for the gradient.
type tileGrader struct {
	valueFeatures []uint32 // by blocks of keys: vᵀ in pairs of features
	keyRows       []uint32 // k in pairs of keys, in parts
	gradients     []uint16 // dy of the block, as queries
	turnedQ       []uint16 // qᵀ and dyᵀ as tiles, in parts
	turnedDY      []uint16
	pairs         []uint32  // p or dp in pairs of queries, in parts
	dkTiles       []float32 // by blocks of keys: dkᵀ and dvᵀ in tiles
	dvTiles       []float32
	wide          []float32
}

func attendBackTiles(c *Call) {
	a := newAttention(c.In[1:], &c.Attrs)
	dy, out := c.In[0], c.Out
	a.grads = a.gradients(out, c.Dims)
	cpu.Parallel(length(a.batch), max(1, 1<<18/max(1, a.T*a.S*(a.d+a.e))), func(lo, hi int) {
		w := tilerFor(a)
		defer w.release()
		for n := lo; n < hi; n++ {
			w.n, w.first, w.count = n, 0, a.T
			if w.packGradient(dy) {
				w.matrixBackward(n, dy, out, w.tileBackward)
				w.foldKeys()
			} else {
				w.matrixBackward(n, dy, out, w.backward)
			}
			w.storeKeys(n)
		}
	})
}

// partsOf is how many bfloat16 hold a half.
func (w *tiler) partsOf() int {
	if w.f == cpu.F16 {
		return 2
	}
	return 1
}

// packGradient packs keys and values of the matrix, and clears the sums. It returns false if q, k or dy is not finite.
func (w *tiler) packGradient(dy *Tensor) bool {
	w.keyPairs = w.packFeatures(w.keyPairs, w.k, w.d, w.dWide)
	w.valueFeatures = w.packFeatures(w.valueFeatures, w.v, w.e, w.eWide)
	blocks := upTo(w.keys(), keyBlock) / keyBlock
	size, finite := w.keyRowsSize(), true
	w.keyRows = resize(w.keyRows, blocks*size)
	w.keyBlocks(func(j, m int) {
		w.stageRows(w.k, j, m, w.d, w.dWide)
		finite = finite && finiteHalves(w.stage, w.f)
		dst := w.keyRows[j/keyBlock*size:]
		if w.partsOf() == 1 {
			w.pairKeys(dst, m, w.dWide)
			return
		}
		w.wide = resize(w.wide, len(w.stage))
		cpu.WidenF16(w.wide, w.stage)
		cpu.SplitPairs(upTo(m, 32)/2, w.dWide, w.wide, w.dWide, dst, w.dWide, size/2)
	})
	w.dkTiles = resize(w.dkTiles, blocks*keyBlock*upTo(w.d, 16))
	w.dvTiles = resize(w.dvTiles, blocks*keyBlock*upTo(w.e, 16))
	clear(w.dkTiles)
	clear(w.dvTiles)
	return finite && w.finiteRows(w.q, w.d, w.dWide) && w.finiteRows(dy, w.e, w.eWide)
}

// keyRowsSize is how many pairs a block of keyRows has.
func (w *tiler) keyRowsSize() int { return w.partsOf() * keyBlock / 2 * w.dWide }

// finiteRows says that the queries' rows of t are finite.
func (w *tiler) finiteRows(t *Tensor, features, width int) bool {
	for i := 0; i < w.T; i += queryBlock {
		w.stageRows(t, i, min(queryBlock, w.T-i), features, width)
		if !finiteHalves(w.stage, w.f) {
			return false
		}
	}
	return true
}

// tileBackward is backward. The gradient of q is left in rows.
func (w *tiler) tileBackward(dy, out *Tensor, maskAt int) {
	w.queries = w.blockRows(w.queries, w.q, w.d, w.dWide)
	w.gradients = w.blockRows(w.gradients, dy, w.e, w.eWide)
	w.turnedQ = w.turn(w.turnedQ, w.queries, w.d, w.dWide)
	w.turnedDY = w.turn(w.turnedDY, w.gradients, w.e, w.eWide)
	w.total = resize(w.total, queryBlock*w.dWide)
	w.parts = resize(w.parts, 2*partSize)
	keys := w.keys()
	w.keepBlocks(keys)
	w.keyBlocks(func(j, m int) {
		w.place(j)
		w.gradientOfWeights(j, m)
		w.queryProduct(w.queries, w.dWide, w.keyPairs, j, m, func(r, rows, high, n int) {
			wide, scale := w.takeScores(r, rows, high, j, n)
			w.raiseTops(r, rows, scale)
			w.exponentialsOf(cpu.NoHalf, r, rows, wide, scale, 1)
			w.addDeltas(r, rows, wide, j, m)
		})
		copy(w.topsAt(j), w.top[:])
	})
	w.keyBlocks(func(j, m int) {
		w.place(j)
		tops := w.topsAt(j)
		w.ld = upTo(m, 32)
		if !w.keeps {
			copy(tops, w.top[:])
			w.gradientOfWeights(j, m)
			w.againExponentials(j, m)
		}
		for i, top := range tops {
			w.scoreGradient(i, j, m, w.sinceTop(i, top))
			if w.additive() {
				store(out, maskAt+i*w.S+j, w.dp[i*w.ld:][:m])
			}
		}
		w.dropRows(0, w.count, j, m, w.p)
		w.addGradients(j, m)
	})
	w.rowGroups(func(r, rows, high int) { unfold(w.total[r*w.dWide:], high, rows, w.d, w.rows[r*w.d:], w.d) })
}

// gradientOfWeights sets dp to dy·vᵀ, times dropout's factors. Elements that a query does not see are anything.
func (w *tiler) gradientOfWeights(j, m int) {
	w.queryProduct(w.gradients, w.eWide, w.valueFeatures, j, m, func(r, rows, high, n int) { unfold(w.sums, high, rows, n, w.dp[r*w.ld:], w.ld) })
	w.dropRows(0, w.count, j, m, w.dp)
}

// addDeltas adds Σ dP∘P over m keys from j on, of which p has a number of for the queries r ….
func (w *tiler) addDeltas(r, rows, wide, j, m int) {
	for i := r; i < r+rows; i++ {
		n := w.visible(i, j, m)
		p, dp := w.p[i*w.ld:(i+1)*w.ld], w.dp[i*w.ld:(i+1)*w.ld]
		clear(p[wide:])
		clear(dp[n:]) // what was there before
		w.delta[i] = float32(w.delta[i]*w.shrink[i-r]) + w.row.dot(p[:upTo(n, 32)], dp[:upTo(n, 32)])
	}
}

// againExponentials computes those of a block of keys when the tops are known.
func (w *tiler) againExponentials(j, m int) {
	w.queryProduct(w.queries, w.dWide, w.keyPairs, j, m, func(r, rows, high, n int) {
		wide, scale := w.takeScores(r, rows, high, j, n)
		for i := range rows {
			w.shift[i] = w.top[r+i]
			if math.IsInf(float64(w.top[r+i]), -1) {
				w.shift[i] = 0
			}
			clear(w.p[(r+i)*w.ld+wide : (r+i+1)*w.ld])
		}
		w.exps.Run(cpu.NoHalf, rows, wide, scale, 1, w.p[r*w.ld:], w.ld, w.shift[:], w.sumOf[:], nil, 0, 0)
	})
}

// turn packs the transposed matrix of the block's rows as tiles, in parts.
func (w *tiler) turn(dst, rows []uint16, features, width int) []uint16 {
	ld, size := oddLines(width), w.turnedSize(features)
	dst = resize(dst, w.partsOf()*size)
	if w.partsOf() == 1 {
		cpu.PackTileColumns(dst, features, w.count, rows, ld)
		return dst
	}
	w.wide = resize(w.wide, w.count*ld)
	cpu.WidenF16(w.wide, rows[:w.count*ld])
	part := w.count * ld
	w.stage = resize(w.stage, 2*part)
	cpu.SplitRows(cpu.BF16, 2, w.count, width, 1, w.wide, ld, w.stage, ld, part)
	for p := range 2 {
		cpu.PackTileColumns(dst[p*size:], features, w.count, w.stage[p*part:], ld)
	}
	return dst
}

// turnedSize is how many elements a part of a turned block has.
func (w *tiler) turnedSize(features int) int { return upTo(w.count, 32) * upTo(features, 16) }

// addGradients adds what p and dp, probabilities and the gradient of scores, give for m keys from j on.
func (w *tiler) addGradients(j, m int) {
	high := upTo(w.count, 32)
	clear(w.p[w.count*w.ld : high*w.ld])
	clear(w.dp[w.count*w.ld : high*w.ld])
	w.addTurned(w.turnedDY, w.e, w.p, w.dvTiles, j, m)
	w.addTurned(w.turnedQ, w.d, w.dp, w.dkTiles, j, m)

	size := w.keyRowsSize()
	w.weighted.begin(cpu.BF16, w.parts, partRow, 16*partRow, w.keyRows[j/keyBlock*size:], w.dWide)
	w.rowGroups(func(r, rows, high int) {
		if n := w.visible(r+rows-1, j, m); n > 0 {
			cpu.SplitRows(cpu.BF16, 2, rows, n, 1, w.dp[r*w.ld:], w.ld, w.parts[r*partRow:], partRow, partSize)
			w.weighted.setTerms(n, 32, w.products(partSize, size/2, true)...)
			w.weighted.multiply(high, r*partRow, w.d, w.total[r*w.dWide:], j > 0)
		}
	})
}

// products are those of a float32 and a half in parts that lie so far apart: a, or b, is the float32. That of two second parts is too small.
func (w *tiler) products(partA, partB int, first bool) []term {
	all := [3]term{{}, {b: partB}, {a: partA}}
	switch {
	case w.partsOf() == 2:
		return append(w.terms[:0], all[:]...)
	case first:
		return append(w.terms[:0], all[0], all[2])
	}
	return append(w.terms[:0], all[:2]...)
}

// addTurned raises tiles of features by keys by the product of a turned block and x, p or dp, of m keys from j on.
func (w *tiler) addTurned(turned []uint16, features int, x, tiles []float32, j, m int) {
	all, k := upTo(features, 16), upTo(w.count, 32)
	w.pairs = resize(w.pairs, 2*pairPart)
	cpu.SplitPairs(k/2, m, x, w.ld, w.pairs, keyBlock, pairPart)
	w.weighted.begin(cpu.BF16, turned, 32, 16*32, w.pairs, keyBlock)
	w.weighted.setTerms(k, 32*all, w.products(w.turnedSize(features), pairPart, false)...)
	for r := 0; r < all; r += 32 {
		w.weighted.multiply(min(32, all-r), 32*r, m, tiles[j*all+r*keyBlock:], true)
	}
}

// foldKeys transposes the sums of tiles into dk and dv.
func (w *tiler) foldKeys() {
	w.first, w.count = 0, w.T
	w.keyBlocks(func(j, m int) {
		foldTiles(w.dk[j*w.d:], w.dkTiles[j*upTo(w.d, 16):], w.d, m)
		foldTiles(w.dv[j*w.e:], w.dvTiles[j*upTo(w.e, 16):], w.e, m)
	})
}

func foldTiles(dst, tiles []float32, features, m int) {
	all := upTo(features, 16)
	for r := 0; r < all; r += 32 {
		high := min(32, all-r)
		for c := 0; c < m; c += 32 {
			cpu.TransposeRows(min(high, features-r), min(32, m-c), tiles[r*keyBlock+c*high:], 32, dst[c*features+r:], features)
		}
	}
}
