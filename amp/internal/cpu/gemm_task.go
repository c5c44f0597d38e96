package cpu

import "unsafe"

// A task is a block of the result: what a worker packs of a, the order of its tiles, and where they are written.

// task computes rows i… and columns jc+j… of the result over steps of k from ps on.
func (g *product[T]) task(w *workspace[T], i, rows, jc, j, cols, ps, steps int) {
	if g.lda > 0 {
		g.widenedTask(w, i, rows, jc, j, cols, ps, steps)
		return
	}
	kn, rounds := g.kern, !g.rawA && g.roundsTiles()
	var c []T
	var ldc int
	var padded bool
	if !rounds {
		c, ldc, padded = g.target(w, i, rows, jc, j, cols)
	}
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
			for x := g.across(w, y, rows, cols, j, p, steps, kc, c, ldc, g.more(ps+p), strip < rows && !rounds); x < cols; x += kn.cols {
				wide := min(kn.cols, cols-x)
				b, ldb := g.panel(w, jc, j+x, wide, ps, p, steps, kc)
				if rounds {
					g.roundedColumn(w, i, y, min(y+strip, rows), jc+j+x, wide, kc, b, ldb, g.next(jc, j+x, p, steps))
					continue
				}
				if g.rawA {
					g.rowTiles(w, i, rows, x, wide, ps+p, kc, b, ldb, c, ldc, padded)
					continue
				}
				g.tileColumn(w, y, min(y+strip, rows), x, wide, kc, b, ldb, g.next(jc, j+x, p, steps), c[y*ldc:], ldc, g.more(ps+p), padded)
			}
		}
	}
	if !rounds && ps+steps == g.k {
		g.finishTask(i, rows, jc+j, cols, c, ldc, padded)
	}
}

// across computes the whole tiles of a row of them at once, if that is wanted and the kernel does so, and returns how many columns those are.
func (g *product[T]) across(w *workspace[T], y, rows, cols, j, p, steps, kc int, c []T, ldc int, more, wanted bool) int {
	kn := g.kern
	n := cols / kn.cols
	if !wanted || kn.tilesAcross == nil || n == 0 || rows-y < kn.rows || g.raw {
		return 0
	}
	kn.tilesAcross(n, kc, w.a[y*kc:(y+kn.rows)*kc], g.packed[j*steps+p*kn.cols:], steps*kn.cols, c[y*ldc:], ldc, more)
	return n * kn.cols
}

// finishTask is what follows the last steps of k where it was not done tile by tile.
func (g *product[T]) finishTask(i, rows, j, cols int, c []T, ldc int, padded bool) {
	switch o := &g.out; {
	case o.plain():
	case o.Elems != nil && o.Done == nil && o.rows == nil:
		addToRows(c, rows, ldc, o.Bias[j:j+cols])
	default:
		g.finish(i, rows, j, cols, c, ldc, padded)
	}
}

// tileColumn computes a column of tiles: rows y … end of those that were packed, of which c starts with the first.
func (g *product[T]) tileColumn(w *workspace[T], y, end, x, wide, kc int, b []T, ldb int, next []T, c []T, ldc int, more, padded bool) {
	kn, from := g.kern, y
	if n := (end - y) / kn.rows; n > 0 && kn.tilesDown != nil && (wide == kn.cols || padded && wide > kn.cols-kn.narrow) {
		kn.tilesDown(n, kc, w.a[y*kc:(y+n*kn.rows)*kc], b, ldb, c[x:], ldc, more, kn.share(y, kc, next))
		y += n * kn.rows
	}
	for ; y < end; y += kn.rows {
		high := min(kn.rows, end-y)
		h := kn.height(high)
		a, at := w.a[y*kc:y*kc+h*kc], (y-from)*ldc+x
		if padded || high == h && (kn.fits(wide)) {
			kn.tile(h, wide, kc, a, b, ldb, c[at:], ldc, more, kn.ahead(y, kc, b, next))
			continue
		}
		g.edge(w, h, high, wide, kc, a, b, ldb, c[at:], ldc, more)
	}
}

// ahead is what the tile at row y of a column of them should fetch: its share of the next panel of b.
func (kn *kernel[T]) ahead(y, kc int, b, next []T) unsafe.Pointer {
	if next = kn.share(y, kc, next); len(next) > 0 {
		return unsafe.Pointer(&next[0])
	}
	return unsafe.Pointer(&b[0])
}

// share is what the tile at row y of a column of them, and those below, should fetch of the next panel of b.
func (kn *kernel[T]) share(y, kc int, next []T) []T {
	var element T
	return next[min(len(next), y/kn.rows*kc*16/int(unsafe.Sizeof(element))):]
}

// roundedColumn computes a column of tiles that are finished, and writes it rounded: rows y … end of those that were packed, the first of which
// is row i of the result, and wide columns from col on.
func (g *product[T]) roundedColumn(w *workspace[T], i, y, end, col, wide, kc int, b []T, ldb int, next []T) {
	kn, o := g.kern, &g.out
	if kn.roundTile != nil && o.BF16 != nil && o.Bias == nil && o.RowBias == nil && wide == kn.cols && o.Fold.run(col, wide) == wide {
		for at := o.Off + o.Fold.at(col, 1); end-y >= kn.rows; y += kn.rows {
			kn.roundTile(kc, w.a[y*kc:], b, ldb, o.BF16[at+(i+y)*o.Row:], o.Row, kn.ahead(y, kc, b, next))
		}
	}
	strip := roundRows / kn.rows * kn.rows
	w.c = grow(w.c, strip*kn.cols+16) // a vector is stored from anywhere in a row
	for ; y < end; y += strip {
		high := min(strip, end-y)
		g.tileColumn(w, y, y+high, 0, wide, kc, b, ldb, next, w.c, kn.cols, false, true)
		g.roundTiles(w.c, kn.cols, i+y, high, col, wide)
	}
}

// rowTiles is a column of tiles for rows of a that were not packed: as high as they can be, then lower ones.
func (g *product[T]) rowTiles(w *workspace[T], i, rows, x, wide, p, kc int, b []T, ldb int, c []T, ldc int, padded bool) {
	kn := g.kern
	fits := padded || kn.fits(wide)
	y := 0
	if n := rows / kn.rows; n > 0 && fits && kn.rowTiles != nil {
		a, lda := g.rowsOfA(w, i, p)
		kn.rowTiles(n, wide, kc, a, lda, b, ldb, c[x:], ldc, g.more(p))
		y = n * kn.rows
	}
	for y < rows {
		h := kn.height(min(kn.rows, rows-y))
		for h > rows-y {
			h = kn.height(h / 2)
		}
		a, lda := g.rowsOfA(w, i+y, p)
		if fits {
			kn.rowTile(h, wide, kc, a, lda, b, ldb, c[y*ldc+x:], ldc, g.more(p))
		} else {
			g.aside(w, h, wide, c[y*ldc+x:], ldc, g.more(p), func(t []T, ldt int) { kn.rowTile(h, wide, kc, a, lda, b, ldb, t, ldt, g.more(p)) })
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
	if g.kern.fits(wide) {
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
