package cpu

// Packing for the tile registers: b as panels of 32 pairs of neighbors along k, a as blocks of 16 rows and 16 pairs.

// packPanels packs columns of b.
func packPanels(g *product[float32], jc, cols, ps, steps int) {
	whole := 0
	if g.pairsRows(ps, steps, cols) {
		whole = cols &^ 31
		part := max(16, 1<<16/cols)
		spread((steps+part-1)/part, 1, g.home, func(w *workspace[float32], t int) {
			q := t * part
			packWholeRows(g, g.packed[32*q:], whole, steps, ps+q, min(part, steps-q), g.b.Off+jc)
		})
		if whole == cols {
			return
		}
	}
	group := 32
	if g.b.halves() == nil && g.b.Col == 1 && g.b.Table == nil {
		group = line // rows of b are read in long runs
	}
	jc, cols = jc+whole, cols-whole
	spread((cols+group-1)/group, max(1, 1<<16/(group*steps)), g.home, func(w *workspace[float32], t int) {
		packTileColumns(g, w, g.packed[(whole+group*t)*steps:], len(g.packed)/g.parts, jc+group*t, min(group, cols-group*t), ps, steps)
	})
}

// packOwnColumns packs columns j… of b, which are halves in memory, for one worker.
func packOwnColumns(g *product[float32], w *workspace[float32], dst []float32, apart, j, cols, ps, steps int) {
	group := cols
	switch {
	case g.parts > 1 && g.b.Col == 1:
		group = line // rows of b are read in long runs
	case g.parts > 1:
		group = 32
	}
	for c := 0; c < cols; c += group {
		packTileColumns(g, w, dst[c*steps:], apart, j+c, min(group, cols-c), ps, steps)
	}
}

// packTileColumns packs columns j… of b, at most a line of them unless they are halves in memory that are not taken apart; second parts lie apart
// elements behind the first.
func packTileColumns(g *product[float32], w *workspace[float32], dst []float32, apart, j, cols, ps, steps int) {
	x := g.b.Table
	if x == nil {
		packTilesB(g, w, dst, apart, cols, ps, steps, g.b.Off+j*g.b.Col)
		return
	}
	for c := 0; c < cols; c += 32 {
		wide := min(32, cols-c)
		gatherPairs(dst[c*steps:], steps, x.Src, x.Row[2*ps:2*ps+g.left(ps, steps)], x.Col[j+c:j+c+wide], g.b.Half)
	}
}

// pairsRows says that packWholeRows can pack so many columns of b.
func (g *product[T]) pairsRows(ps, steps, cols int) bool {
	return g.parts == 1 && g.b.halves() != nil && g.b.Col == 1 && g.left(ps, steps) == 2*steps && cols >= 64
}

// packWholeRows packs rows of halves in one run each, which is what memory gives fastest: n pairs of rows from pair p on, of panels that
// hold steps of them.
func packWholeRows(g *product[float32], dst []float32, cols, steps, p, n, off int) {
	x := g.b.halves()
	first, last := off+2*p*g.b.Row, off+(2*(p+n)-1)*g.b.Row
	_, _, _ = x[min(first, last)], x[max(first, last)+cols-1], dst[(cols-32)*steps+32*n-1]
	packPairPanels(n, &x[first], 2*g.b.Row, &dst[0], cols/32, 128*steps)
}

func packTilesB(g *product[float32], w *workspace[float32], dst []float32, apart, cols, ps, steps, off int) {
	if x := g.b.halves(); x != nil && g.parts == 1 {
		done := 0
		if g.pairsRows(ps, steps, cols) {
			done = cols &^ 31
			packWholeRows(g, dst, done, steps, ps, steps, off)
		}
		for ; done < cols; done += 32 {
			packPairs(dst[done*steps:], 32, min(32, cols-done), steps, g.left(ps, steps), x, off+done*g.b.Col+2*ps*g.b.Row, g.b.Col, g.b.Row)
		}
		return
	}
	chunk := stagedElements / 2 / up(cols, 32) &^ 15
	for q := 0; q < steps; q += chunk {
		lanes := min(chunk, steps-q)
		k := g.left(ps+q, lanes)
		sy, sp := w.stage(&g.b, g.parts, cols, k, off+2*(ps+q)*g.b.Row, g.b.Col, g.b.Row)
		for part := range g.parts {
			for c := 0; c < cols; c += 32 {
				packPairs(dst[part*apart+c*steps+32*q:], 32, min(32, cols-c), lanes, k, w.half, part*stagedElements+c*sy, sy, sp)
			}
		}
	}
}

func packTilesA(g *product[float32], w *workspace[float32], dst []float32, rows, ps, steps, off int) {
	high := amxHeight(rows)
	if x := g.a.halves(); x != nil && g.parts == 1 {
		packBlocks(w.lines[:], dst, high, rows, steps, g.left(ps, steps), x, off+2*ps*g.a.Col, g.a.Row, g.a.Col)
		return
	}
	const chunk = stagedElements / 2 / 32
	for q := 0; q < steps; q += chunk {
		lanes := min(chunk, steps-q)
		k := g.left(ps+q, lanes)
		sy, sp := w.stage(&g.a, g.parts, rows, k, off+2*(ps+q)*g.a.Col, g.a.Row, g.a.Col)
		for part := range g.parts {
			packBlocks(w.lines[:], dst[part*high*steps+q*high:], high, rows, lanes, k, w.half, part*stagedElements, sy, sp)
		}
	}
}

// stagedElements is how many numbers are narrowed at a time: they stay in the L1 cache.
const stagedElements = 32 * line

// stage writes rows × k elements of x, at off + y·sy + p·sp, to w.half in the order in which they lie in memory, and returns the
// distances there. A second part of them lies behind stagedElements.
func (w *workspace[T]) stage(x *Matrix[T], parts, rows, k, off, sy, sp int) (int, int) {
	w.half = grow(w.half, parts*stagedElements)
	if sy == 1 && sp != 1 {
		w.narrow(x, parts, k, rows, off, sp, 1)
		return 1, rows
	}
	w.narrow(x, parts, rows, k, off, sy, sp)
	return k, 1
}

// narrow writes n runs of so many elements.
func (w *workspace[T]) narrow(x *Matrix[T], parts, n, run, off, next, stride int) {
	for i := range n {
		for from := 0; from < run; from += len(w.lines) {
			part := w.lines[:min(len(w.lines), run-from)]
			at, dst := off+i*next+from*stride, w.half[i*run+from:][:len(part)]
			if parts > 1 && x.F16 != nil && stride == 1 {
				HalveF16(dst, w.half[stagedElements+i*run+from:], x.F16[at:at+len(part)])
				continue
			}
			x.fetch(part, at, stride)
			src := any(part).([]float32)
			if x.format() == F16 {
				NarrowF16(dst, src)
			} else {
				NarrowBF16(dst, src)
			}
			if parts > 1 {
				HalveF16(dst, w.half[stagedElements+i*run+from:], dst)
			}
		}
	}
}
