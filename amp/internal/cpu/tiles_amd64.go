package cpu

import "unsafe"

// The product with tile registers. It is so fast that packing, storing and fetching from the L3 cache would take longer than multiplying if
// they were done as for the other kernels, and the L3 cache delivers little more while the tile registers multiply than when they do not: a
// worker packs columns of b that stay in its L2 cache, takes rows of a past them, as many at a time as a tile has, and the kernel writes the
// sums of one tile to the result while it multiplies the next.

// Bounds of what is packed at a time, in pairs, and of a task.
const (
	tileDepth = 1024      // pairs along k; beyond, sums wait in memory
	tilePackB = 1 << 21   // pairs of b that all workers pack
	tilePackA = 1 << 21   // pairs of a that all workers pack
	tileBlock = 256 << 10 // pairs of b, by a task: they stay in the L2 cache
	tileChunk = 256       // pairs along k that are multiplied at a time: these of 32 rows of a stay in the L1 cache
	tileLow   = 64        // rows of a task, at least
	tileCols  = 256       // columns of a task, at least
	tileOften = 4         // times that rows of a are taken from which on they are packed for all tasks
	tileTasks = 16        // as many as there should be
)

// runTiles computes the product.
func runTiles(g *product[float32]) {
	w := g.home
	if g.parts = 1; g.kern.inParts {
		g.parts = 2
	}
	cuts := (g.k + tileDepth - 1) / tileDepth
	g.ks = up((g.k+cuts-1)/cuts, 16)
	if rows := g.out.rows; rows != nil {
		all := make([]float32, g.m*g.n)
		defer func() {
			for i := range g.m {
				rows(i, all[i*g.n:(i+1)*g.n])
			}
		}()
		g.out.rows, g.out.Elems, g.out.Off, g.out.Row = nil, all, 0, g.n
	}
	if g.ks < g.k && g.out.Elems == nil {
		w.sum = grow(w.sum, g.m*g.n)
		g.sum = w.sum
	}
	g.nc = up(g.n, 32)
	if g.b.halves() == nil { // all workers pack b, as that takes long, and wait for each other
		g.nc = min(g.nc, max(tilePackB/g.ks/g.parts&^31, 256))
		w.b = grow(w.b, g.parts*g.nc*g.ks)
		g.packed = w.b
	}
	g.mb, g.nb = g.tileBlocks()
	for ps := 0; ps < g.k; ps += g.ks {
		steps := min(g.ks, g.k-ps)
		for jc := 0; jc < g.n; jc += g.nc {
			cols := min(g.nc, g.n-jc)
			if g.packed != nil {
				packPanels(g, jc, cols, ps, steps)
			}
			if cols <= g.nb || g.tilesFromRows(32, ps, steps) || cols < tileOften*g.nb && g.packsRows(ps, steps) {
				runTileTasks(g, 0, g.m, jc, cols, ps, steps)
				continue
			}
			high := max(tilePackA/g.ks/g.parts/g.mb, 1) * g.mb
			for i := 0; i < g.m; i += high {
				rows := min(high, g.m-i)
				packAllRows(g, i, rows, ps, steps)
				runTileTasks(g, i, rows, jc, cols, ps, steps)
				g.packedA = nil
			}
		}
	}
}

// tileBlocks returns the rows and columns of a task; there should be about sixteen where that leaves each enough.
func (g *product[T]) tileBlocks() (rows, cols int) {
	across := (g.parts*g.nc*g.ks + tileBlock - 1) / tileBlock
	down := max(1, min(tileTasks/across, g.m/tileLow))
	across = max(across, min(tileTasks/down, g.nc/tileCols))
	return up((g.m+down-1)/down, 32), up((g.nc+across-1)/across, 32)
}

// packAllRows packs rows of a that several tasks will take.
func packAllRows(g *product[float32], i, rows, ps, steps int) {
	w := g.home
	w.a = grow(w.a, g.parts*up(rows, 32)*steps)
	w.piece = [3]int{}
	g.packedA, g.from = w.a, i
	spread((rows+31)/32, max(1, 1<<16/(32*steps)), w, func(w *workspace[float32], t int) {
		packTilesA(g, w, g.packedA[32*t*g.parts*steps:], min(32, rows-32*t), ps, steps, g.a.Off+(i+32*t)*g.a.Row)
	})
}

// runTileTasks spreads rows from i0 on and columns of a pass over the workers: each takes tasks of the same columns, where there are enough.
func runTileTasks(g *product[float32], i0, rows, jc, cols, ps, steps int) {
	down := (rows + g.mb - 1) / g.mb
	tasks := (cols + g.nb - 1) / g.nb * down
	grain := max(g.kern.grain/(g.mb*g.nb*steps), min(down, tasks/threads()))
	spread(tasks, grain, g.home, func(w *workspace[float32], t int) {
		i, j := t%down*g.mb, t/down*g.nb
		tileTask(g, w, i0+i, min(g.mb, rows-i), jc, j, min(g.nb, cols-j), ps, steps)
	})
}

// tileTask computes rows i… and columns jc+j…. The columns stay in the L2 cache while rows of a, as many as a tile has, go by: these stay
// in the L1 cache while they are multiplied by all columns.
func tileTask(g *product[float32], w *workspace[float32], i, rows, jc, j, cols, ps, steps int) {
	b, apart := w.last, up(cols, 32)*steps
	if g.packed != nil {
		b, apart = g.packed[j*steps:], len(g.packed)/g.parts
	} else if columns := [3]int{int(g.serial), j, ps}; w.columns != columns {
		w.last = grow(w.last, g.parts*apart)
		b = w.last
		packOwnColumns(g, w, b, apart, j, cols, ps, steps)
		w.columns = columns
	}
	w.tile = grow(w.tile, 32*up(cols, 32))
	for y := 0; y < rows; y += 32 {
		tileRows(g, w, b, apart, i+y, min(32, rows-y), jc+j, cols, ps, steps)
	}
}

// tileRows computes at most 32 rows; the second parts of b lie apart elements behind the first.
func tileRows(g *product[float32], w *workspace[float32], b []float32, apart, i, rows, j, cols, ps, steps int) {
	last := ps+steps == g.k
	aside := last && !g.out.plain() && (g.out.Elems == nil && g.out.Done != nil) // finished sums are handed out by rows
	if ps > 0 {
		for x := 0; x < cols; x += 32 {
			g.loadTiles(w.tile[32*x:], i, rows, j+x, min(32, cols-x))
		}
	}
	var to tileResult
	if last && !aside && rows == 32 {
		to = g.tileResult(i, j, cols/32)
	}
	a := g.tileSource(w, i, rows, cols/32, ps, steps)
	if g.parts > 1 {
		a.parts = [2]int{4 * amxHeight(rows) * steps, 4 * apart}
	}
	multiplyTiles(g.a.format() == F16, w.tile, a, b, to, rows, cols, steps, ps > 0)
	if a.next.left > 0 {
		w.piece = [3]int{int(g.serial), i + 32, ps}
	}
	if aside {
		w.c = grow(w.c, 32*up(cols, 32))
	}
	for x := 32 * to.panels; x < cols; x += 32 {
		switch wide := min(32, cols-x); {
		case !last:
			g.keepTiles(w.tile[32*x:], i, rows, j+x, wide)
		case aside:
			storeTileF32(rows, &w.tile[32*x], &w.c[x], 4*up(cols, 32), mask(wide), nil)
		default:
			g.storeTiles(w.tile[32*x:], i, rows, j+x, wide)
		}
	}
	switch {
	case aside:
		for y := range rows {
			g.done(i+y, j, w.c[y*up(cols, 32):][:cols])
		}
	case last && g.out.Done != nil:
		for y := range rows {
			at := g.out.Off + (i+y)*g.out.Row + j
			g.out.Done(i+y, j, g.out.Elems[at:at+cols])
		}
	}
}

// A tileSource is where at most 32 rows of a are that multiplyTiles takes.
type tileSource struct {
	at    unsafe.Pointer // the first element
	lda   int            // bytes from row to row
	block int            // from 32 elements of all rows to the next ones along k
	next  nextRows
	parts [2]int // of numbers in two parts: bytes from the first to the second, here and in b; else 0
}

// tileSource packs rows, unless they are in memory as the tile registers take them, or were packed while the rows above were multiplied by
// so many panels of b. The next rows, if the kernel can pack them, are left to it.
func (g *product[T]) tileSource(w *workspace[T], i, rows, panels, ps, steps int) tileSource {
	h, high := g.a.halves(), amxHeight(rows)
	if g.packedA != nil {
		return tileSource{at: unsafe.Pointer(&g.packedA[(i-g.from)*g.parts*steps]), lda: 64, block: 64 * high}
	}
	if g.tilesFromRows(rows, ps, steps) {
		x := h[g.a.Off+i*g.a.Row+2*ps:]
		_ = x[(rows-1)*g.a.Row+2*steps-1]
		return tileSource{at: unsafe.Pointer(&x[0]), lda: 2 * g.a.Row, block: 64}
	}
	const page = 512 // elements: packNext counts rows by the address
	w.a = grow(w.a, 64*steps+page)
	first := int(-uintptr(unsafe.Pointer(&w.a[0]))%2048) / 4
	here, there := w.a[first:first+32*steps], w.a[first+32*steps:first+64*steps]
	if g.parts > 1 {
		here = w.a[first : first+64*steps]
	} else if i&32 != 0 {
		here, there = there, here
	}
	if w.piece != [3]int{int(g.serial), i, ps} {
		packTilesA(any(g).(*product[float32]), any(w).(*workspace[float32]), any(here).([]float32), rows, ps, steps, g.a.Off+i*g.a.Row)
	}
	w.piece = [3]int{}
	a := tileSource{at: unsafe.Pointer(&here[0]), lda: 64, block: 64 * high}
	if i+64 <= g.m && rows == 32 && panels >= 8 && g.packsRows(ps, steps) {
		x := h[g.a.Off+(i+32)*g.a.Row+2*ps:]
		_ = x[31*g.a.Row+2*steps-1]
		a.next = nextRows{&x[0], 2 * g.a.Row, (*float32)(unsafe.Pointer(&there[0])), 32 * steps / 64}
	}
	return a
}

// packsRows says that kernels can pack rows of a: of 64 pairs at a time.
func (g *product[T]) packsRows(ps, steps int) bool {
	return g.parts == 1 && g.a.halves() != nil && g.a.Col == 1 && g.a.Row > 0 && g.left(ps, steps) == 2*steps && steps%64 == 0
}

// Rows of halves in memory are as the tile registers take them, if there are as many as those hold and the L1 cache has places for them.
func (g *product[T]) tilesFromRows(rows, ps, steps int) bool {
	return g.parts == 1 && g.a.halves() != nil && g.a.Col == 1 && rows%16 == 0 && g.left(ps, steps) == 2*steps && g.a.Row%32 == 0 && g.a.Row > 0 && g.a.Row <= directRow
}

// directRow is the most elements that rows may lie apart; those further apart are packed.
const directRow = 1 << 9

// multiplyTiles sets or raises tiles, rows of 32 sums, by at most 32 rows of a and panels of b. It takes so much of k at a time that these
// rows stay in the L1 cache. What it can write to the result itself, it does not leave in c.
func multiplyTiles(f16 bool, c []float32, a tileSource, b []float32, to tileResult, rows, cols, steps int, more bool) {
	_, _ = b[up(cols, 32)*steps-1+a.parts[1]/4], c[32*up(cols, 32)-1]
	whole, rest := cols/32, cols%32
	most := tileChunk
	if a.parts[0] != 0 {
		most /= 2
	}
	cuts := (steps + most - 1) / most
	chunk := up((steps+cuts-1)/cuts, 16)
	for p := 0; p < steps; p += chunk {
		k := min(chunk, steps-p)
		t := tilePanels{n: k / 16, panels: whole, a: (*float32)(unsafe.Add(a.at, p/16*a.block)), b: &b[32*p], c: &c[0], more: flag(more || p > 0),
			lda: a.lda, step: a.block, skip: 128 * (steps - k), next: a.next.after(p / 16 * whole), parts: a.parts}
		switch {
		case whole == 0:
		case p+k == steps && to.panels > 0:
			t.finish(f16, to)
		default:
			t.multiply(f16, rows, 32)
		}
		if rest > 0 {
			t.panels, t.b, t.c, t.next = 1, &b[32*(whole*steps+p)], &c[32*32*whole], nextRows{}
			t.multiply(f16, rows, rest)
		}
	}
}

// unfinished is where the sums of row i from column j on wait.
func (g *product[T]) unfinished(i, j int) []T {
	if g.sum != nil {
		return g.sum[i*g.n+j:]
	}
	return g.out.Elems[g.out.Off+i*g.out.Row+j:]
}

func (g *product[T]) loadTiles(c []T, i, rows, j, cols int) {
	for y := range rows {
		copy(c[32*y:32*y+cols], g.unfinished(i+y, j))
	}
}

func (g *product[T]) keepTiles(c []T, i, rows, j, cols int) {
	for y := range rows {
		copy(g.unfinished(i+y, j)[:cols], c[32*y:])
	}
}

// storeTiles writes finished sums to the result.
func (g *product[T]) storeTiles(c []T, i, rows, j, cols int) {
	o := &g.out
	at := o.Off + i*o.Row + j
	src := &any(c).([]float32)[0]
	var bias *float32
	if o.Bias != nil {
		bias = &any(o.Bias).([]float32)[j]
	}
	switch {
	case o.F16 != nil:
		storeTileF16(rows, src, &o.F16[at], 2*o.Row, mask(cols), bias)
	case o.BF16 != nil && bias == nil: // none of the sums is subnormal
		storeTileFlat(rows, src, &o.BF16[at], 2*o.Row, mask(cols), nil)
	case o.BF16 != nil:
		storeTileBF16(rows, src, &o.BF16[at], 2*o.Row, mask(cols), bias)
	case o.Elems != nil:
		storeTileF32(rows, src, &any(o.Elems).([]float32)[at], 4*o.Row, mask(cols), bias)
	}
}
