package amp

import (
	"math"
	"sync"
	"unsafe"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Attention of halves where the tile registers multiply them. Scores and the gradient of the weights are products of halves as they are. The
// weights, and the gradient of the scores, are float32: each is split into a sum of halves, which the tile registers multiply one after another
// with the other operand. Keys and values are packed once for all the queries that a worker takes.

// fewestTiled is the number of queries, and of keys, from which on tiles pay.
const fewestTiled = 16

// tiled says that the products go through the tile registers.
func (a *attention) tiled() bool {
	f := halfFormat(a.q)
	return f != cpu.NoHalf && cpu.TileSteps(f) && a.T >= fewestTiled && a.S >= fewestTiled && a.d > 0 && a.e > 0
}

// A tiler is an attender whose products are of tiles. Its features are padded with zeros.
type tiler struct {
	attender[float32]
	f            cpu.Format
	dWide, eWide int // d and e, rounded up to a multiple of 32

	keyPairs   []uint32 // by blocks of keys: kᵀ in pairs of features
	valuePairs []uint32 // v in pairs of keys
	queries    []uint16 // of the block, rows of oddLines(dWide)
	parts      []uint16 // of a block of p or dp
	stage      []uint16
	sums       []float32 // of a product
	total      []float32 // of forward or dq: for each 32 queries, in tiles
	features   tileJob   // products of queries
	weighted   tileJob   // products of weights
	exps       cpu.ExpRows
	shift      [32]float32 // what is subtracted of scores, what sums before are multiplied by, and sums of the block of keys: of 32 queries
	shrink     [32]float32
	sumOf      [32]float32
	terms      [3]term
	tileGrader
}

var tilers = sync.Pool{New: func() any { return &tiler{attender: attender[float32]{row: newLineRows()}} }}

func tilerFor(a *attention) *tiler {
	w := tilers.Get().(*tiler)
	w.attention, w.f = a, halfFormat(a.q)
	w.dWide, w.eWide = upTo(a.d, 32), upTo(a.e, 32)
	w.sums = resize(w.sums, 32*keyBlock)
	return w
}

func (w *tiler) release() {
	w.end()
	w.features.forget()
	w.weighted.forget()
	tilers.Put(w)
}

func upTo(n, step int) int { return (n + step - 1) / step * step }

// oddLines is a distance of at least n halves between rows that do not get in each other's way in the cache.
func oddLines(n int) int { return upTo(n, 32) | 32 }

// Distances of rows: of the parts of a block of p, and from one part to the next.
const (
	partRow  = keyBlock + 32
	partSize = queryBlock * partRow
)

// attendTiles is attend. A task has blocks of queries of a matrix, so many that there are about sixteen tasks.
func attendTiles(c *Call) {
	a := newAttention(c.In, &c.Attrs)
	per := (a.T + queryBlock - 1) / queryBlock
	batch := length(a.batch)
	blocks := min(per, max(1, batch*per/16))
	tasks := (per + blocks - 1) / blocks
	cost := max(1, min(a.T, blocks*queryBlock)*a.S*(a.d+a.e))
	cpu.Parallel(batch*tasks, max(1, 1<<19/cost), func(lo, hi int) {
		w := tilerFor(a)
		defer w.release()
		for i := lo; i < hi; i++ {
			first := i % tasks * blocks * queryBlock
			end := min(a.T, first+blocks*queryBlock)
			w.n = i / tasks
			step := w.tileForward
			if !w.packValues(first, end) {
				step = w.forward
			}
			for ; first < end; first += queryBlock {
				w.begin(i/tasks, first)
				step(c.Out)
			}
		}
	})
}

// packValues packs the keys and values of matrix n that queries first … end-1 see. It returns false if a value is not finite: a sum of
// parts times that is not the number times that.
func (w *tiler) packValues(first, end int) bool {
	w.first, w.count = first, end-first
	w.keyPairs = w.packFeatures(w.keyPairs, w.k, w.d, w.dWide)
	size, finite := keyBlock/2*w.eWide, true
	w.valuePairs = resize(w.valuePairs, upTo(w.keys(), keyBlock)/keyBlock*size)
	w.keyBlocks(func(j, m int) {
		w.stageRows(w.v, j, m, w.e, w.eWide)
		finite = finite && finiteHalves(w.stage, w.f)
		w.pairKeys(w.valuePairs[j/keyBlock*size:], m, w.eWide)
	})
	return finite
}

// packFeatures packs the keys that the queries see, or their values, in pairs of features.
func (w *tiler) packFeatures(dst []uint32, t *Tensor, features, width int) []uint32 {
	size := width / 2 * keyBlock
	dst = resize(dst, upTo(w.keys(), keyBlock)/keyBlock*size)
	w.keyBlocks(func(j, m int) {
		w.stageRows(t, j, m, features, width)
		cpu.TransposePairs(m, width/2, w.stage, width, dst[j/keyBlock*size:], keyBlock)
	})
	return dst
}

// keyBlocks calls f for the blocks of keys that the queries see.
func (w *tiler) keyBlocks(f func(j, m int)) {
	for j := 0; j < w.keys(); j += keyBlock {
		f(j, min(keyBlock, w.keys()-j))
	}
}

// rowGroups calls f for each 32 queries, and the last ones: how many there are, and rows of a tile for them.
func (w *tiler) rowGroups(f func(r, rows, high int)) {
	for r := 0; r < w.count; r += 32 {
		rows := min(32, w.count-r)
		f(r, rows, upTo(rows, 16))
	}
}

// copyRows copies rows of the matrix of t that belongs to this part of the batch to rows of ldd, which go on with zeros.
func (w *tiler) copyRows(dst []uint16, ldd int, t *Tensor, row, rows, width int) {
	k := len(t.shape) - 2
	src, off, down, step := halvesOf(t), w.at(t, w.n)+row*t.strides[k], t.strides[k], t.strides[k+1]
	if step == 1 && down >= 0 {
		cpu.TakeHalves(rows, width, 1, src[off:], down, dst, ldd)
	} else {
		for r := range rows {
			for i := range width {
				dst[r*ldd+i] = src[off+r*down+i*step]
			}
		}
	}
	for r := range rows {
		clear(dst[r*ldd+width : (r+1)*ldd])
	}
}

// stageRows copies m rows of t from row j on, width elements each, and zeros up to a multiple of 32 rows.
func (w *tiler) stageRows(t *Tensor, j, m, features, width int) {
	w.stage = resize(w.stage, upTo(m, 32)*width)
	w.copyRows(w.stage, width, t, j, m, features)
	clear(w.stage[m*width:])
}

// pairKeys packs the staged rows in pairs of rows.
func (w *tiler) pairKeys(dst []uint32, m, width int) {
	cpu.PairRows(upTo(m, 32)/2, width, 1, w.stage, 2*width, width, true, dst, width)
}

// finiteHalves says that there is no infinity or NaN among a multiple of 32 halves.
func finiteHalves(x []uint16, f cpu.Format) bool {
	mask := uint64(0x7f80)
	if f == cpu.F16 {
		mask = 0x7c00
	}
	const each, signs = 0x0001000100010001, 0x8000800080008000
	one := (mask & -mask) * each // an exponent of ones overflows to the sign
	mask *= each
	found := uint64(0)
	for _, four := range unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/4) {
		found |= four&mask + one
	}
	return found&signs == 0
}

// queryProduct multiplies rows of halves, a, by the m keys from j on in pairs of features, and hands the sums of each 32 rows to finish: with
// the first n keys, as many as the last row sees.
func (w *tiler) queryProduct(a []uint16, width int, b []uint32, j, m int, finish func(r, rows, high, n int)) {
	lda, size := oddLines(width), width/2*keyBlock
	w.ld = upTo(m, 32)
	w.features.begin(w.f, a, lda, 16*lda, b[j/keyBlock*size:], keyBlock)
	w.features.setTerms(width, 32, term{})
	w.rowGroups(func(r, rows, high int) {
		n := w.visible(r+rows-1, j, m)
		w.features.multiply(high, r*lda, n, w.sums, false)
		finish(r, rows, high, n)
	})
}

// takeScores copies the sums to rows of p, masked, with minus infinity behind what a query sees up to a multiple of 32, and finds the largest
// ones. It returns that number of keys, and what the scores are still to be multiplied with.
func (w *tiler) takeScores(r, rows, high, j, n int) (wide int, scale float32) {
	wide = upTo(n, 32)
	p := w.p[r*w.ld:]
	if w.bare(r, j, n) {
		cpu.MaxTileRows(rows, n, w.sums, high, p, w.ld, w.most[r:])
		for i := range rows {
			fillLowest(p[i*w.ld+n : i*w.ld+wide])
		}
		return wide, float32(w.scale)
	}
	unfold(w.sums, high, rows, n, p, w.ld)
	for i := range rows {
		row, sees := p[i*w.ld:][:wide], w.visible(r+i, j, n)
		scale = w.masked(r+i, j, row[:sees])
		fillLowest(row[sees:])
	}
	cpu.MaxRows(rows, wide, p, w.ld, w.most[r:])
	return wide, scale
}

func fillLowest(x []float32) {
	for i := range x {
		x[i] = float32(math.Inf(-1))
	}
}

// raiseTops takes the largest scores of the queries r … into account: shift is what is to be subtracted of the scores, shrink the factor by
// which what was summed before is smaller.
func (w *tiler) raiseTops(r, rows int, scale float32) {
	for i := range rows {
		was := w.top[r+i]
		top := max(was, w.most[r+i]*scale)
		w.shift[i], w.shrink[i] = top, 1
		switch {
		case math.IsInf(float64(top), -1): // no key so far, unless NaN among them
			w.shift[i] = 0
		case top != was:
			w.shrink[i] = 0
			if !math.IsInf(float64(was), -1) {
				w.shrink[i] = float32(cpu.Exp.Of(float64(was - top)))
			}
			w.top[r+i] = top
		}
	}
}

// exponentialsOf turns the scores of queries r … with the first wide keys into e^(score·scale - shift), in p or as parts of format f, and adds
// them to the sums.
func (w *tiler) exponentialsOf(f cpu.Format, r, rows, wide int, scale, factor float32) {
	w.exps.Run(f, rows, wide, scale, factor, w.p[r*w.ld:], w.ld, w.shift[:], w.sumOf[:], w.parts[r*partRow:], partRow, partSize)
	for i := range rows {
		w.sum[r+i] = float32(w.sum[r+i]*w.shrink[i]) + w.sumOf[i]
	}
}

// blockRows copies the block's rows of t.
func (w *tiler) blockRows(dst []uint16, t *Tensor, features, width int) []uint16 {
	ld := oddLines(width)
	dst = resize(dst, queryBlock*ld)
	w.copyRows(dst, ld, t, w.first, w.count, features)
	return dst
}

// tileForward is forward: the sums of weighted values stay in tiles while block after block of keys is added.
func (w *tiler) tileForward(out *Tensor) {
	w.queries = w.blockRows(w.queries, w.q, w.d, w.dWide)
	w.total = resize(w.total, queryBlock*w.eWide)
	w.parts = resize(w.parts, 2*partSize)
	factor := w.weightFactor()
	w.keyBlocks(func(j, m int) {
		w.weighted.begin(w.f, w.parts, partRow, 16*partRow, w.valuePairs[j/2*w.eWide:], w.eWide)
		w.ld = upTo(m, 32)
		w.queryProduct(w.queries, w.dWide, w.keyPairs, j, m, func(r, rows, high, n int) {
			wide, scale := w.takeScores(r, rows, high, j, n)
			w.raiseTops(r, rows, scale)
			if w.drop == nil {
				w.exponentialsOf(w.f, r, rows, wide, scale, factor)
			} else {
				w.exponentialsOf(cpu.NoHalf, r, rows, wide, scale, 1)
				w.dropRows(r, rows, j, m, w.p)
				cpu.SplitRows(w.f, 2, rows, n, factor, w.p[r*w.ld:], w.ld, w.parts[r*partRow:], partRow, partSize)
			}
			for i, shrink := range w.shrink[:rows] {
				if shrink != 1 && j > 0 {
					w.shrinkTotal(r+i, w.eWide, shrink)
				}
			}
			w.weighted.setTerms(n, 32, term{}, term{a: partSize})
			w.weighted.multiply(high, r*partRow, w.e, w.total[r*w.eWide:], j > 0)
		})
	})
	w.rowGroups(func(r, rows, high int) { unfold(w.total[r*w.eWide:], high, rows, w.e, w.rows[r*w.e:], w.e) })
	for i := range w.count {
		w.row.scale(w.rows[i*w.e:(i+1)*w.e], w.share(i)/factor)
	}
	storeRows(w.attention, out, w.n, w.first, w.rows[:w.count*w.e])
}

// weightFactor is what weights of float16 are multiplied by, so that the largest are near its bound and the smallest far from the other: a
// power of two.
func (w *tiler) weightFactor() float32 {
	if w.f == cpu.BF16 {
		return 1
	}
	e := 1
	if w.drop != nil {
		_, e = math.Frexp(w.drop.scale)
	}
	return float32(math.Ldexp(1, 15-e))
}

// shrinkTotal multiplies the sums of query i.
func (w *tiler) shrinkTotal(i, width int, shrink float32) {
	r := i &^ 31
	high := upTo(min(32, w.count-r), 16)
	for x := 0; x < width; x += 32 {
		w.row.scale(w.total[r*width+x*high+i%32*32:][:32], shrink)
	}
}
