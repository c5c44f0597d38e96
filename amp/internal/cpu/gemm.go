package cpu

import (
	"sync/atomic"
	"unsafe"
)

// Gemm computes the product of a [m k] and b [k n], accumulated in T in the order of k, and hands every finished row to store,
// so that rounding to a shorter format happens once, there.
func Gemm[T Float](m, n, k int, a, b Matrix[T], store func(i int, row []T)) {
	GemmTo(m, n, k, a, b, Result[T]{rows: store})
}

// GemmTo is Gemm into memory, or to a function that takes pieces of rows. Every element is one sum in the order of k, and the
// work is split by the shape alone: neither the number of threads nor the blocks below show in the bits.
//
// The loops are those of Goto and van de Geijn (Anatomy of High-Performance Matrix Multiplication, 2008): columns of b are
// packed into panels as wide as a register tile, rows of a into panels as high as one, so that the innermost loop reads both
// in order.
func GemmTo[T Float](m, n, k int, a, b Matrix[T], out Result[T]) {
	if m == 0 || n == 0 {
		return
	}
	a.check(m, k)
	b.check(k, n)
	out.check(m, n)
	w := workspaces[T]().get()
	if n == 1 && m > 1 && out.Fold.Len == 0 && out.RowBias == nil && out.Done == nil && out.rows == nil && (out.Row == 1 || out.Elems == nil && out.F16 == nil && out.BF16 == nil) &&
		(out.Bias == nil || a.dotsRows(m, k)) {
		// A column is the row that the transposed product gives: its elements then share a register.
		m, n, a, b = 1, m, b.Transposed(), a.Transposed()
		out.Row = n
		if out.Bias != nil {
			out.Bias = w.repeat(out.Bias[0], n)
		}
	}
	g := &w.call
	*g = product[T]{m: m, n: n, k: k, depth: k, a: a, b: b, out: out, kern: kernelOf[T](), home: w, serial: products.Add(1)}
	if h, ok := any(g).(*product[float32]); ok && k > 0 && !out.Add && a.format() != NoHalf && a.format() == b.format() {
		if kn := kernelDot(h); kn != nil {
			h.kern, h.k = kn, kn.lanes(k)
		}
	}
	if g.folded() {
		g.checkFolds()
		g.k = g.a.ColFold.pairs(k)
	}
	if h, ok := any(g).(*product[float32]); ok {
		chooseTiles(h)
		widenNear(h, any(w).(*workspace[float32]))
	}
	switch h, _ := any(g).(*product[float32]); {
	case g.kern.run != nil:
		g.kern.run(g)
	case h != nil && rowProduct(h, h.home):
	default:
		g.plan()
		if g.k > 0 && g.byColumns() {
			g.runColumns()
		} else {
			g.widenStrips()
			g.run()
		}
	}
	*g = product[T]{} // hold on to no operand
	workspaces[T]().put(w)
}

// A kernel computes tiles in registers.
type kernel[T Float] struct {
	rows, cols int  // the largest tile
	narrow     int  // tile can write any multiple of it up to cols
	depth      int  // steps of k after which the panels should be changed: they fill the L1 and L2 caches
	raw        bool // tile can read b with any distance of rows
	strip      int  // rows of tiles whose halves are widened right before they are multiplied
	grain      int  // multiply-adds of a task that is worth a worker
	even       bool // tasks have as many rows of tiles as others, or one more
	tall       int  // rows of tiles of a task at most, if that is not 0
	// height returns how high a panel of a must be for at most rows rows.
	height func(rows int) int
	// tile sets (more false) or raises c, distance of rows ldc, by the product of a panel of a that is rows high and k long and
	// at least cols columns of b, distance of rows ldb. It works in whole registers: multiples of kernel.narrow columns. What is at
	// ahead is wanted next, 16 bytes for each step of k: tile may fetch it to the L2 cache.
	tile func(rows, cols, k int, a, b []T, ldb int, c []T, ldc int, more bool, ahead unsafe.Pointer)
	// roundTile, if there is one, sets a whole tile of bfloat16.
	roundTile func(k int, a, b []T, ldb int, dst []uint16, ldd int, ahead unsafe.Pointer)
	// rowTile is tile for rows of a as they are in memory, lda apart, for the numbers of rows that height returns.
	rowTile func(rows, cols, k int, a []T, lda int, b []T, ldb int, c []T, ldc int, more bool)
	// rowTiles, if there is one, is rowTile for n whole tiles below each other.
	rowTiles func(n, cols, k int, a []T, lda int, b []T, ldb int, c []T, ldc int, more bool)

	// tilesDown, if there is one, is tile for n of the largest ones below each other; each fetches its share of what is ahead in next.
	tilesDown func(n, k int, a, b []T, ldb int, c []T, ldc int, more bool, next []T)
	// tilesAcross, if there is one, is tile for n whole ones beside each other, whose panels of b are next elements apart.
	tilesAcross func(n, k int, a, b []T, next int, c []T, ldc int, more bool)

	// A kernel for shorter elements takes several of them along k as one of its own. lanes returns how many of its own are k of them;
	// the steps of k are then a multiple of unit. packA and packB pack a panel: steps of k from p on, of have rows or columns from one on.
	lanes        func(k int) int
	unit         int
	packA, packB func(g *product[T], w *workspace[T], dst []T, have, p, steps, from int)
	// inParts says that operands are packed in two parts each, by HalveF16.
	inParts bool
	// run computes the whole product, if that is not done with tile.
	run func(g *product[T])
}

// fits says that tile writes so many columns and no more.
func (kn *kernel[T]) fits(cols int) bool { return cols%kn.narrow == 0 }

// products counts calls, so that a workspace knows whose panels it holds.
var products atomic.Uint64

// A product is a call of GemmTo on its way.
type product[T Float] struct {
	serial     uint64
	home       *workspace[T] // of the caller
	m, n, k    int           // k in elements of the kernel
	depth      int           // k in elements of the operands
	a, b       Matrix[T]
	out        Result[T]
	kern       *kernel[T]
	nc, ks, kc int  // columns and steps of k that are packed at a time; steps of k between changes of panels
	mb, nb     int  // rows and columns of a task
	raw        bool // b is read as it is in memory
	rawA       bool // a is
	lda        int  // and first widened to rows so far apart, if that is not 0
	packed     []T  // panels of b
	parts      int  // of an element, for the tile registers; in what is packed they follow each other
	packedA    []T  // rows of a, from row from on, that all tasks take where they do not pack them
	from       int
	sum        []T // unfinished rows, where k is cut and the result is not in memory
}

// fewColumns is how many columns of the result are too few to pack a for: each element of a is used once per register of them.
const fewColumns = 64

// Bounds of what is packed of b at a time, in elements: it should stay in the L2 or L3 cache while all rows of a pass. More than fewB are
// cut along k, so that what is packed of a serves all columns; the sums then wait in the result, or, if there are not too many, beside it.
const (
	packedB = 1 << 20
	fewB    = 1 << 18
	waiting = 1 << 22
	nearB   = 1 << 13 // that stays in the L1 cache
)

func up(n, step int) int { return (n + step - 1) / step * step }

// more says that the sums of steps of k from p on are added to what is in the result.
func (g *product[T]) more(p int) bool { return p > 0 || g.out.Add }

func (g *product[T]) whole() bool { return g.out.rows != nil }

// plan fixes the blocks, from the shape.
func (g *product[T]) plan() {
	kn := g.kern
	g.nc, g.ks = up(g.n, kn.cols), g.k
	g.raw = kn.raw && g.b.Elems != nil && g.b.Col == 1 && g.b.Row >= 0 && (g.m <= 2*kn.rows || g.panelInMemory())
	g.rawA = kn.rowTile != nil && g.a.Elems != nil && g.a.Col == 1 && g.a.Row >= 0 && g.n <= fewColumns
	if !g.raw && g.nc*g.k > fewB {
		steps := g.even(g.k)
		nc := packedB / g.k / kn.cols * kn.cols
		switch {
		case g.out.Elems != nil || g.m*g.n <= waiting || g.whole():
			g.ks = steps
			if !g.whole() {
				g.nc = min(g.nc, up(packedB/steps, kn.cols)) // a power of two of columns is not cut for a few
			}
		case nc >= 256:
			g.nc = min(g.nc, nc)
		default:
			g.nc = min(g.nc, 1024)
			g.ks = steps
		}
	}
	g.kc = g.even(g.ks)
	g.mb, g.nb = g.blocks()
}

// even cuts k into parts that the caches hold, of nearly the same length.
func (g *product[T]) even(k int) int {
	cuts := max(1, (k+g.kern.depth-1)/g.kern.depth)
	return min(k, up((k+cuts-1)/cuts, max(g.kern.unit, 8)))
}

// blocks returns the rows and columns of a task. A panel of b comes from the L2 or L3 cache once per task: that many rows must use it that
// the kernel hides the way. On the other hand there should be about eight tasks, of the same length, where they are worth a worker.
func (g *product[T]) blocks() (rows, cols int) {
	kn := g.kern
	down := max(min(4, (g.m+11*kn.rows-1)/(11*kn.rows)), (g.m+22*kn.rows-1)/(22*kn.rows))
	if kn.tall > 0 { // so many tiles of c below each other are on few enough pages, and two workers get as many parts
		down = up((g.m+kn.tall*kn.rows-1)/(kn.tall*kn.rows), 2)
	}
	tasks := min(8, g.m*g.nc*g.ks/kn.grain)
	if g.nc*g.ks <= nearB { // rows of tiles: see task
		down = max(down, min(tasks, g.m/(4*kn.rows)))
		tasks = down
	}
	step := 4
	if kn.rows%step != 0 || kn.packA != nil && g.m > 8*kn.rows { // a lower tile would take as long as a whole one, or nearly so
		step = kn.rows
	}
	rows = up((g.m+down-1)/down, step)
	if g.whole() || tasks <= down {
		return rows, g.nc
	}
	across := max(1, min((tasks+down-1)/down, g.nc/(4*kn.cols)))
	return rows, up((g.nc+across-1)/across, kn.cols)
}

func (g *product[T]) run() {
	w := g.home
	if g.k == 0 {
		g.zero(w)
		return
	}
	if g.ks < g.k && g.out.Elems == nil {
		w.sum = grow(w.sum, g.m*g.nc)
		g.sum = w.sum
	}
	if !g.raw {
		w.b = grow(w.b, g.nc*g.ks)
		g.packed = w.b
	}
	for jc := 0; jc < g.n; jc += g.nc {
		cols := min(g.nc, g.n-jc)
		for ps := 0; ps < g.k; ps += g.ks {
			steps := min(g.ks, g.k-ps)
			if !g.raw {
				g.packB(jc, cols, ps, steps)
			}
			g.tasks(jc, cols, ps, steps)
		}
	}
}

// tasks spreads the rows and columns of one pass over the workers.
func (g *product[T]) tasks(jc, cols, ps, steps int) {
	across := (cols + g.nb - 1) / g.nb
	n := g.down() * across
	if n == 1 { // without a closure on the heap
		g.task(g.home, 0, g.m, jc, 0, cols, ps, steps)
		return
	}
	spread(n, g.kern.grain/(g.mb*g.nb*steps), g.home, func(w *workspace[T], t int) {
		i, j := g.part(t/across), t%across*g.nb
		g.task(w, i, g.part(t/across+1)-i, jc, j, min(g.nb, cols-j), ps, steps)
	})
}

// down is into how many parts the rows are cut.
func (g *product[T]) down() int { return (g.m + g.mb - 1) / g.mb }

// part is the first row of part q, which starts with a tile; m for the part beyond the last.
func (g *product[T]) part(q int) int {
	if kn := g.kern; kn.even {
		tiles := (g.m + kn.rows - 1) / kn.rows
		return min(g.m, tiles*q/g.down()*kn.rows)
	}
	return min(g.m, q*g.mb)
}

// spread calls f for 0 … n-1, grain at a time, with a workspace that it shares with no other call at the same time.
func spread[T Float](n, grain int, home *workspace[T], f func(w *workspace[T], i int)) {
	if n <= max(grain, 1) {
		for i := range n {
			f(home, i)
		}
		return
	}
	parallel(n, grain, nil, func(part, lo, hi int) {
		w := workspaces[T]().of(part)
		for i := lo; i < hi; i++ {
			f(w, i)
		}
		workspaces[T]().back(part, w)
	})
}

// zero is the product over no k at all.
func (g *product[T]) zero(w *workspace[T]) {
	w.c = grow(w.c, g.n)
	for i := range g.m {
		row := w.c
		if g.out.Elems != nil {
			row = g.out.Elems[g.out.Off+i*g.out.Row:][:g.n]
		}
		if !g.out.Add {
			clear(row)
		}
		g.done(i, 0, row)
	}
}

// done finishes a piece of a row: bias, what the caller wants, and rounding.
func (g *product[T]) done(i, j int, row []T) {
	o := &g.out
	if o.Bias != nil {
		for q, v := range o.Bias[j : j+len(row)] {
			row[q] += v
		}
	}
	if o.RowBias != nil {
		for q := range row {
			row[q] += o.RowBias[i]
		}
	}
	switch {
	case o.rows != nil:
		o.rows(i, row)
	case o.Done != nil:
		o.Done(i, j, row)
	}
	if o.F16 == nil && o.BF16 == nil {
		return
	}
	if r, ok := any(row).([]float32); ok {
		o.putRow(i, j, r)
	}
}
