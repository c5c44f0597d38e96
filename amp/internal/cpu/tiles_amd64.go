package cpu

import "unsafe"

// The product with tile registers. It is so fast that packing, storing and fetching from the L3 cache would take longer than multiplying if
// they were done as for the other kernels: b is packed once, by all workers; a task packs rows of a, as many as a quarter of the L2 cache holds,
// and takes a panel of b for all of them while the next one is fetched; finished tiles go to their place straight from a small buffer.

// Bounds of what is packed at a time, in pairs, and of a task.
const (
	tileDepth  = 1024      // pairs along k; beyond, sums wait in memory
	tilePackB  = 1 << 21   // pairs of b
	tilePackA  = 128 << 10 // pairs of a, by a task
	tileChunk  = 256       // pairs along k that are multiplied at a time: these of a panel of b stay in the L1 cache
	tileRows   = 128       // rows that a panel of b is multiplied by while it is in the L1 cache, where their sums stay too
	tileResult = 1 << 18   // elements of a result that may lie in the L2 cache
	tileFirst  = 192 << 10 // pairs of a that may be among more rows, at most 256, where a panel of b goes to the L1 cache in several chunks
	tileMost   = 512       // rows of a task
	tileCols   = 128       // columns of a task, at least
	tileNear   = 1 << 17   // pairs of a up to which every task packs its columns of b for itself
	tileAlone  = 1 << 21   // pairs multiplied by such a task, at least
)

// runTiles computes the product.
func runTiles(g *product[float32]) {
	w := g.home
	cuts := (g.k + tileDepth - 1) / tileDepth
	g.ks = up((g.k+cuts-1)/cuts, 16)
	if cuts == 1 && !g.whole() && g.m*g.k <= tileNear {
		tilesByColumns(g)
		return
	}
	g.nc = min(up(g.n, 32), max(tilePackB/g.ks&^31, 256))
	if g.whole() {
		g.nc = up(g.n, 32)
	}
	if g.ks < g.k && g.out.Elems == nil {
		w.sum = grow(w.sum, g.m*g.n)
		g.sum = w.sum
	}
	w.b = grow(w.b, g.nc*g.ks)
	g.packed = w.b
	g.mb, g.nb = g.tileBlocks()
	for ps := 0; ps < g.k; ps += g.ks {
		steps := min(g.ks, g.k-ps)
		for jc := 0; jc < g.n; jc += g.nc {
			cols := min(g.nc, g.n-jc)
			packPanels(g, jc, cols, ps, steps)
			tileTasks(g, jc, cols, ps, steps)
		}
	}
}

// tileBlocks returns the rows and columns of a task; there should be about sixteen where that leaves each enough.
func (g *product[T]) tileBlocks() (rows, cols int) {
	most := min(tileMost, max(tilePackA/g.ks, chunkRows(g.ks)))
	if g.whole() {
		return tileRows, g.nc
	}
	down := max((g.m+most-1)/most, min(2, g.m/tileRows))
	across := max(1, min((16+down-1)/down, g.nc/tileCols))
	return up((g.m+down-1)/down, 32), up((g.nc+across-1)/across, 32)
}

// chunkRows returns the rows that a chunk of a panel of b is multiplied by: the more, the less often it goes to the L1 cache, and the longer
// the sums wait for the next chunk.
func chunkRows(steps int) int {
	if steps <= tileChunk {
		return tileRows
	}
	return max(tileRows, min(2*tileRows, tileFirst/steps&^31))
}

// tilesByColumns is the product of a small a: no worker waits for what another one packs, or fetches it from its cache.
func tilesByColumns(g *product[float32]) {
	tasks := max(1, min(8, g.m*g.n*g.k/tileAlone))
	wide := up((g.n+tasks-1)/tasks, 32)
	spread((g.n+wide-1)/wide, 1, g.home, func(w *workspace[float32], t int) {
		j := t * wide
		cols := min(wide, g.n-j)
		w.last = grow(w.last, up(cols, 32)*g.k)
		for c := 0; c < cols; c += line {
			packTileColumns(g, w, w.last[c*g.k:], j+c, min(line, cols-c), 0, g.k)
		}
		tileTask(g, w, w.last, 0, g.m, j, 0, cols, 0, g.k)
	})
}

// tileTasks spreads the rows and columns of a pass over the workers.
func tileTasks(g *product[float32], jc, cols, ps, steps int) {
	across, down := (cols+g.nb-1)/g.nb, (g.m+g.mb-1)/g.mb
	spread(across*down, g.kern.grain/(g.mb*g.nb*steps), g.home, func(w *workspace[float32], t int) {
		i, j := t/across*g.mb, t%across*g.nb
		tileTask(g, w, g.packed, i, min(g.mb, g.m-i), jc, j, min(g.nb, cols-j), ps, steps)
	})
}

// tileTask computes rows i… and columns jc+j…; packed holds the columns of b from jc on.
func tileTask(g *product[float32], w *workspace[float32], packed []float32, i, rows, jc, j, cols, ps, steps int) {
	direct := g.tilesFromRows(rows, ps, steps)
	if piece := [3]int{int(g.serial), i, ps}; !direct && w.piece != piece {
		w.a = grow(w.a, up(rows, 32)*steps)
		for y := 0; y < rows; y += 32 {
			packTilesA(g, w, w.a[y*steps:], min(32, rows-y), ps, steps, g.a.Off+(i+y)*g.a.Row)
		}
		w.piece = piece
	}
	last := ps+steps == g.k
	aside := last && !g.out.plain() && (g.out.Elems == nil && g.out.Done != nil || g.out.rows != nil) // finished sums are handed out by rows
	ldc := up(cols, 32)
	most := chunkRows(steps)
	w.tile = grow(w.tile, 32*most)
	if aside {
		w.c = grow(w.c, rows*ldc)
	}
	for x := 0; x < cols; x += 32 {
		wide := min(32, cols-x)
		b, next := packed[(j+x)*steps:(j+x+32)*steps], []float32(nil)
		if at := (j + x + 32) * steps; jc+j+x+32 < g.n && at < len(packed) {
			next = packed[at : at+32*steps]
		}
		for y := 0; y < rows; y += most {
			high := min(most, rows-y)
			if ps > 0 {
				g.loadTiles(w.tile, i+y, high, jc+j+x, wide)
			}
			fetched := y / 32 * (steps / 16) * 64
			lines := resultLines{}
			if last && !aside && (steps >= tileChunk || 2*steps >= tileChunk && g.m*g.n > tileResult) { // else the lines come too late
				lines = g.fetchResult(i+y, high, jc+j+x, wide)
			}
			var a tileSource
			if direct {
				a = g.rowsAsTiles(i+y, high, ps, steps)
			} else {
				a = packedTiles(w.a, y, high, steps)
			}
			multiplyTiles(g.a.format() == F16, w.tile, a, b, next[min(fetched, len(next)):], lines, high, wide, steps, ps > 0)
			switch {
			case !last:
				g.keepTiles(w.tile, i+y, high, jc+j+x, wide)
			case aside:
				storeTileF32(high, &w.tile[0], &w.c[y*ldc+x], 4*ldc, mask(wide), nil)
			default:
				g.storeTiles(w.tile, i+y, high, jc+j+x, wide)
			}
		}
	}
	switch {
	case aside:
		for y := range rows {
			g.done(i+y, jc+j, w.c[y*ldc:y*ldc+cols])
		}
	case last && g.out.Done != nil:
		for y := range rows {
			at := g.out.Off + (i+y)*g.out.Row + jc + j
			g.out.Done(i+y, jc+j, g.out.Elems[at:at+cols])
		}
	}
}

// A tileSource is where the rows of a are that multiplyTiles takes.
type tileSource struct {
	at    unsafe.Pointer // the first element
	lda   int            // bytes from row to row
	block int            // from 32 elements of 16 rows to the next ones along k; of 32 rows twice that if they are packed
	panel int            // from 32 rows to the next
}

// packedTiles is what packTilesA has written.
func packedTiles(a []float32, y, rows, steps int) tileSource {
	_ = a[y*steps:][up(rows, 16)*steps-1]
	return tileSource{unsafe.Pointer(&a[y*steps]), 64, 1024, 128 * steps}
}

// Rows of halves in memory are as the tile registers take them, if there are as many as those hold and the L1 cache has places for them.
func (g *product[T]) tilesFromRows(rows, ps, steps int) bool {
	return g.a.halves() != nil && g.a.Col == 1 && rows%16 == 0 && g.left(ps, steps) == 2*steps && g.a.Row%32 == 0 && g.a.Row > 0 && g.a.Row <= directRow
}

// directRow is the most elements that rows may lie apart; those further apart are packed.
const directRow = 1 << 9

func (g *product[T]) rowsAsTiles(i, rows, ps, steps int) tileSource {
	x := g.a.halves()[g.a.Off+i*g.a.Row+2*ps:]
	_ = x[(rows-1)*g.a.Row+2*steps-1]
	return tileSource{unsafe.Pointer(&x[0]), 2 * g.a.Row, 64, 64 * g.a.Row}
}

// multiplyTiles sets or raises tiles, rows of 32 sums, by panels of a and one panel of b. It takes so much of k at a time that this part
// of b stays in the L1 cache, and fetches what is in next to the L2 cache, 64 numbers for each block of 32 rows and 16 pairs.
func multiplyTiles(f16 bool, c []float32, a tileSource, b, next []float32, to resultLines, rows, cols, steps int, more bool) {
	_, _ = b[32*steps-1], c[32*up(rows, 16)-1]
	tall := (rows + 15) / 32 // panels of 32 rows; the last may be one of 16
	for p := 0; p < steps; p += tileChunk {
		k, m := min(tileChunk, steps-p), flag(more || p > 0)
		lines := resultLines{}
		if p+k == steps {
			lines = to
		}
		ahead := &b[p*32]
		if at := p / 16 * tall * 64; at < len(next) {
			ahead = &next[at]
		}
		block := a.block
		if block > 64 {
			block *= 2 // of 32 rows
		}
		if tall > 0 {
			at := (*float32)(unsafe.Add(a.at, p/16*block))
			tiles(f16, 2, cols, k/16, tall, at, &b[32*p], &c[0], m, a.panel-k/16*block, ahead, a.lda, block, lines)
		}
		if rows > 32*tall {
			at := (*float32)(unsafe.Add(a.at, tall*a.panel+p/16*a.block))
			tiles(f16, 1, cols, k/16, 1, at, &b[32*p], &c[32*32*tall], m, 0, ahead, a.lda, a.block, resultLines{})
		}
	}
}

func tiles(f16 bool, high, cols, n, panels int, a, b, c *float32, more, skip int, ahead *float32, lda, step int, to resultLines) {
	kind := 0
	if f16 {
		kind = 4
	}
	if high == 2 {
		kind += 2
	}
	if cols > 16 {
		kind++
	}
	switch kind {
	case 0:
		amxBF16x1x1(n, panels, a, b, c, more, skip, tileConfig, ahead, lda, step, to.at, to.row)
	case 1:
		amxBF16x1x2(n, panels, a, b, c, more, skip, tileConfig, ahead, lda, step, to.at, to.row)
	case 2:
		amxBF16x2x1(n, panels, a, b, c, more, skip, tileConfig, ahead, lda, step, to.at, to.row)
	case 3:
		amxBF16x2x2(n, panels, a, b, c, more, skip, tileConfig, ahead, lda, step, to.at, to.row)
	case 4:
		amxF16x1x1(n, panels, a, b, c, more, skip, tileConfig, ahead, lda, step, to.at, to.row)
	case 5:
		amxF16x1x2(n, panels, a, b, c, more, skip, tileConfig, ahead, lda, step, to.at, to.row)
	case 6:
		amxF16x2x1(n, panels, a, b, c, more, skip, tileConfig, ahead, lda, step, to.at, to.row)
	case 7:
		amxF16x2x2(n, panels, a, b, c, more, skip, tileConfig, ahead, lda, step, to.at, to.row)
	}
}

// resultLines is where rows of the result begin that the kernel is to fetch while it multiplies.
type resultLines struct {
	at  unsafe.Pointer
	row int // bytes from one to the next
}

// fetchResult asks for the lines of the result that will be written when a tile is finished, or leaves that to the kernel: it does so a few
// at a time, which leaves room for other lines on their way, but takes one line of each row.
func (g *product[T]) fetchResult(i, rows, j, cols int) resultLines {
	at := g.out.Off + i*g.out.Row + j
	first, last, row := unsafe.Pointer(nil), unsafe.Pointer(nil), 0
	switch o := &g.out; {
	case o.F16 != nil:
		first, last, row = unsafe.Pointer(&o.F16[at]), unsafe.Pointer(&o.F16[at+cols-1]), 2*o.Row
	case o.BF16 != nil:
		first, last, row = unsafe.Pointer(&o.BF16[at]), unsafe.Pointer(&o.BF16[at+cols-1]), 2*o.Row
	case o.Elems != nil:
		first, last, row = unsafe.Pointer(&o.Elems[at]), unsafe.Pointer(&o.Elems[at+cols-1]), int(unsafe.Sizeof(o.Elems[at]))*o.Row
	default:
		return resultLines{}
	}
	const line = 64
	if uintptr(first)/line == uintptr(last)/line && row%line == 0 {
		return resultLines{first, row}
	}
	fetchRows(rows, first, last, row)
	return resultLines{}
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
