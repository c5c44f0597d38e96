package cpu

import (
	"sync/atomic"
	"unsafe"
)

// Float is an accumulator type; int64 is there for integer matrices.
type Float interface{ float32 | float64 | int64 }

// A Matrix is an operand: element (i,j) lies at Off + i*Row + j*Col. Where the elements are in memory, give the slice of
// their type, which is packed without a call per run; else give Load.
type Matrix[T Float] struct {
	Off, Row, Col int

	Elems     []T      // elements of the accumulator's type
	F16, BF16 []uint16 // halves, for T float32

	// Half says that Elems or Load give numbers of this format only, so that instructions for it may multiply them.
	Half Format

	// Load sets dst to len(dst) elements that start at off and lie stride apart, widened to T.
	Load func(dst []T, off, stride int)

	// Table, beside Load, says where the elements are.
	Table *Table[T]
}

// A Format is one of the two halves, or neither.
type Format int8

// The formats.
const (
	NoHalf Format = iota
	F16
	BF16
)

// format is that of the elements.
func (x *Matrix[T]) format() Format {
	switch {
	case x.F16 != nil:
		return F16
	case x.BF16 != nil:
		return BF16
	}
	return x.Half
}

// Transposed returns the matrix with its rows and columns exchanged.
func (x Matrix[T]) Transposed() Matrix[T] {
	x.Row, x.Col = x.Col, x.Row
	if t := x.Table; t != nil {
		x.Table = &Table[T]{t.Src, t.Col, t.Row}
	}
	return x
}

// A Result takes a product. Element (i,j) is written to Off + i*Row + j of Elems, or rounded to F16 or BF16, for T float32; one
// of the three, or none. Bias, if given, has a number per column that is added first. Where Done is given, it is called
// then, once for every finished piece of a row, from column j on, in any order and from several workers: with the values in
// Elems, or with a buffer; it may change them, and what it leaves is rounded to F16 or BF16.
type Result[T Float] struct {
	Off, Row  int
	Elems     []T
	F16, BF16 []uint16
	Bias      []T
	Done      func(i, j int, row []T)

	rows func(i int, row []T) // Done for whole rows
}

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
	if n == 1 && m > 1 && out.Done == nil && out.rows == nil && out.Bias == nil && (out.Row == 1 || out.Elems == nil && out.F16 == nil && out.BF16 == nil) {
		// A column is the row that the transposed product gives: its elements then share a register.
		m, n, a, b = 1, m, b.Transposed(), a.Transposed()
		out.Row = n
	}
	w := workspaces[T]().get()
	g := &w.call
	*g = product[T]{m: m, n: n, k: k, depth: k, a: a, b: b, out: out, kern: kernelOf[T](), home: w, serial: products.Add(1)}
	if h, ok := any(g).(*product[float32]); ok && k > 0 && a.format() != NoHalf && a.format() == b.format() {
		if kn := kernelDot(h); kn != nil {
			h.kern, h.k = kn, kn.lanes(k)
		}
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
			g.run()
		}
	}
	*g = product[T]{} // hold on to no operand
	workspaces[T]().put(w)
}

// check reads the two ends of what assembly will read, so that a wrong stride is a panic.
func (x *Matrix[T]) check(rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	lo, hi := x.Off+min(0, (rows-1)*x.Row)+min(0, (cols-1)*x.Col), x.Off+max(0, (rows-1)*x.Row)+max(0, (cols-1)*x.Col)
	switch {
	case x.Elems != nil:
		_, _ = x.Elems[lo], x.Elems[hi]
	case x.F16 != nil:
		_, _ = x.F16[lo], x.F16[hi]
	case x.BF16 != nil:
		_, _ = x.BF16[lo], x.BF16[hi]
	case x.Table != nil:
		x.Table.check(rows, cols)
	}
}

func (r *Result[T]) check(m, n int) {
	last := r.Off + (m-1)*r.Row + n - 1
	switch {
	case r.Elems != nil:
		_, _ = r.Elems[r.Off], r.Elems[last]
	case r.F16 != nil:
		_, _ = r.F16[r.Off], r.F16[last]
	case r.BF16 != nil:
		_, _ = r.BF16[r.Off], r.BF16[last]
	}
	if r.Bias != nil {
		_ = r.Bias[n-1]
	}
}

// plain says that finished sums need no more than to be in Elems.
func (r *Result[T]) plain() bool {
	return r.Elems != nil && r.Bias == nil && r.Done == nil && r.rows == nil
}

// A kernel computes tiles in registers.
type kernel[T Float] struct {
	rows, cols int  // the largest tile
	narrow     int  // the other width that tile can write, or cols
	depth      int  // steps of k after which the panels should be changed: they fill the L1 and L2 caches
	raw        bool // tile can read b with any distance of rows
	grain      int  // multiply-adds of a task that is worth a worker
	// height returns how high a panel of a must be for at most rows rows.
	height func(rows int) int
	// tile sets (more false) or raises c, distance of rows ldc, by the product of a panel of a that is rows high and k long and
	// at least cols columns of b, distance of rows ldb. It works in whole registers: kernel.narrow or kernel.cols columns. What is at
	// ahead is wanted next, 16 bytes for each step of k: tile may fetch it to the L2 cache.
	tile func(rows, cols, k int, a, b []T, ldb int, c []T, ldc int, more bool, ahead unsafe.Pointer)
	// rowTile is tile for rows of a as they are in memory, lda apart, for the numbers of rows that height returns.
	rowTile func(rows, cols, k int, a []T, lda int, b []T, ldb int, c []T, ldc int, more bool)

	// A kernel for shorter elements takes several of them along k as one of its own. lanes returns how many of its own are k of them;
	// the steps of k are then a multiple of unit. packA and packB pack a panel: steps of k from p on, of the rows or columns at off.
	lanes        func(k int) int
	unit         int
	packA, packB func(g *product[T], w *workspace[T], dst []T, have, p, steps, off int)
	// run computes the whole product, if that is not done with tile.
	run func(g *product[T])
}

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
	packed     []T  // panels of b
	sum        []T  // unfinished rows, where k is cut and the result is not in memory
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

func (g *product[T]) whole() bool { return g.out.rows != nil }

// plan fixes the blocks, from the shape.
func (g *product[T]) plan() {
	kn := g.kern
	g.nc, g.ks = up(g.n, kn.cols), g.k
	g.raw = kn.raw && g.b.Elems != nil && g.b.Col == 1 && g.b.Row >= 0 && g.m <= 2*kn.rows
	g.rawA = kn.rowTile != nil && g.a.Elems != nil && g.a.Col == 1 && g.a.Row >= 0 && g.n <= fewColumns
	if !g.raw && g.nc*g.k > fewB {
		steps := g.even(g.k)
		nc := packedB / g.k / kn.cols * kn.cols
		switch {
		case g.out.Elems != nil || g.m*g.nc <= waiting || g.whole():
			g.ks = steps
			if !g.whole() {
				g.nc = min(g.nc, packedB/steps/kn.cols*kn.cols)
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
	tasks := min(8, g.m*g.nc*g.ks/kn.grain)
	if g.nc*g.ks <= nearB { // rows of tiles: see task
		down = max(down, min(tasks, g.m/(4*kn.rows)))
		tasks = down
	}
	rows = up((g.m+down-1)/down, 4)
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
	n := (g.m + g.mb - 1) / g.mb * across
	if n == 1 { // without a closure on the heap
		g.task(g.home, 0, g.m, jc, 0, cols, ps, steps)
		return
	}
	spread(n, g.kern.grain/(g.mb*g.nb*steps), g.home, func(w *workspace[T], t int) {
		i, j := t/across*g.mb, t%across*g.nb
		g.task(w, i, min(g.mb, g.m-i), jc, j, min(g.nb, cols-j), ps, steps)
	})
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
		clear(row)
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
	switch {
	case o.rows != nil:
		o.rows(i, row)
	case o.Done != nil:
		o.Done(i, j, row)
	}
	if o.F16 == nil && o.BF16 == nil {
		return
	}
	at := o.Off + i*o.Row + j
	if r, ok := any(row).([]float32); ok && o.F16 != nil {
		NarrowF16(o.F16[at:at+len(r)], r)
	} else if ok {
		NarrowBF16(o.BF16[at:at+len(r)], r)
	}
}

// task computes rows i… and columns jc+j… of the result over steps of k from ps on.
func (g *product[T]) task(w *workspace[T], i, rows, jc, j, cols, ps, steps int) {
	c, ldc, padded := g.target(w, i, rows, jc, j, cols)
	kn := g.kern
	for p := 0; p < steps; p += g.kc {
		kc := min(g.kc, steps-p)
		if piece := [3]int{int(g.serial), i, ps + p}; !g.rawA && w.piece != piece {
			g.packA(w, i, rows, ps+p, kc)
			w.piece = piece
		}
		// Tiles follow each other down a panel of b, or along the rows of the result if all of b is near.
		strip := rows
		if kc*cols <= nearB && !g.rawA {
			strip = kn.rows
		}
		for y := 0; y < rows; y += strip {
			for x := 0; x < cols; x += kn.cols {
				wide := min(kn.cols, cols-x)
				b, ldb := g.panel(w, jc, j+x, wide, ps, p, steps, kc)
				if g.rawA {
					g.rowTiles(w, i, rows, x, wide, ps+p, kc, b, ldb, c, ldc, padded)
					continue
				}
				g.tileColumn(w, y, min(y+strip, rows), x, wide, kc, b, ldb, g.next(jc, j+x, p, steps), c, ldc, ps+p > 0, padded)
			}
		}
	}
	switch o := &g.out; {
	case ps+steps < g.k || o.plain():
	case o.Elems != nil && o.Done == nil && o.rows == nil:
		addToRows(c, rows, ldc, o.Bias[jc+j:jc+j+cols])
	default:
		for y := range rows {
			g.done(i+y, jc+j, c[y*ldc:y*ldc+cols])
		}
	}
}

// tileColumn computes a column of tiles: rows y … end of those that were packed.
func (g *product[T]) tileColumn(w *workspace[T], y, end, x, wide, kc int, b []T, ldb int, next []T, c []T, ldc int, more, padded bool) {
	kn := g.kern
	for ; y < end; y += kn.rows {
		high := min(kn.rows, end-y)
		h := kn.height(high)
		a, at := w.a[y*kc:y*kc+h*kc], y*ldc+x
		if padded || high == h && (wide == kn.cols || wide == kn.narrow) {
			ahead := unsafe.Pointer(&b[0])
			if from := y / kn.rows * kc * 16 / int(unsafe.Sizeof(b[0])); from < len(next) {
				ahead = unsafe.Pointer(&next[from])
			}
			kn.tile(h, wide, kc, a, b, ldb, c[at:], ldc, more, ahead)
			continue
		}
		g.edge(w, h, high, wide, kc, a, b, ldb, c[at:], ldc, more)
	}
}

// rowTiles is a column of tiles for rows of a that were not packed: as high as they can be, then lower ones.
func (g *product[T]) rowTiles(w *workspace[T], i, rows, x, wide, p, kc int, b []T, ldb int, c []T, ldc int, padded bool) {
	kn := g.kern
	fits := padded || wide == kn.cols || wide == kn.narrow
	for y := 0; y < rows; {
		h := kn.height(min(kn.rows, rows-y))
		for h > rows-y {
			h = kn.height(h / 2)
		}
		a := g.a.Elems[g.a.Off+(i+y)*g.a.Row+p*g.a.Col:]
		if fits {
			kn.rowTile(h, wide, kc, a, g.a.Row, b, ldb, c[y*ldc+x:], ldc, p > 0)
		} else {
			g.aside(w, h, wide, c[y*ldc+x:], ldc, p > 0, func(t []T, ldt int) { kn.rowTile(h, wide, kc, a, g.a.Row, b, ldb, t, ldt, p > 0) })
		}
		y += h
	}
}

// target returns where a task writes, the distance of its rows, and whether whole tiles fit there.
func (g *product[T]) target(w *workspace[T], i, rows, jc, j, cols int) (c []T, ldc int, padded bool) {
	switch {
	case g.out.Elems != nil:
		return g.out.Elems[g.out.Off+i*g.out.Row+jc+j:], g.out.Row, false
	case g.sum != nil:
		return g.sum[i*g.nc+j:], g.nc, false
	}
	ldc = up(cols, g.kern.cols)
	w.c = grow(w.c, up(rows, g.kern.rows)*ldc)
	return w.c, ldc, true
}

// edge computes a tile that reaches beyond the result, beside it.
func (g *product[T]) edge(w *workspace[T], h, rows, cols, k int, a, b []T, ldb int, c []T, ldc int, more bool) {
	g.aside(w, rows, cols, c, ldc, more, func(t []T, ldt int) { g.kern.tile(h, cols, k, a, b, ldb, t, ldt, more, unsafe.Pointer(&b[0])) })
}

// aside lets compute work on a copy of a part of c that has room for whole registers.
func (g *product[T]) aside(w *workspace[T], rows, cols int, c []T, ldc int, more bool, compute func(t []T, ldt int)) {
	ldt := g.kern.cols
	t := grow(w.tile, g.kern.rows*ldt)
	w.tile = t
	if more {
		for y := range rows {
			copy(t[y*ldt:], c[y*ldc:y*ldc+cols])
		}
	}
	compute(t, ldt)
	for y := range rows {
		copy(c[y*ldc:y*ldc+cols], t[y*ldt:])
	}
}

// panel returns kc rows of the panel of b that starts at column j.
func (g *product[T]) panel(w *workspace[T], jc, j, wide, ps, p, steps, kc int) (b []T, ldb int) {
	nr := g.kern.cols
	if !g.raw {
		return g.packed[j*steps+p*nr:], nr
	}
	off := g.b.Off + (ps+p)*g.b.Row + jc + j
	if wide == nr || wide == g.kern.narrow {
		return g.b.Elems[off:], g.b.Row
	}
	w.last = grow(w.last, nr*kc)
	w.pack(w.last, nr, wide, kc, &g.b, off, 1, g.b.Row)
	return w.last, nr
}

// next returns the panel of b beside the one at column j, as far as it is packed.
func (g *product[T]) next(jc, j, p, steps int) []T {
	nr := g.kern.cols
	if j += nr; g.raw || jc+j >= g.n || j >= g.nc {
		return nil
	}
	return g.packed[j*steps+p*nr : (j+nr)*steps]
}
