package cpu

// Products of few columns with halves on processors with AVX2: to transpose halves into panels takes several times as long as to multiply them.
// They are widened as they are in memory, in long runs, and the product then takes the ways of float32.

// nearHalves is how many elements are widened whole: the L2 cache holds them.
const nearHalves = 1 << 15

// denseRows is the longest row of halves that is widened to rows that follow each other.
const denseRows = 64

// dense says that the elements of a matrix follow each other, by rows or by columns.
func (x *Matrix[T]) dense(rows, cols int) bool {
	return x.Col == 1 && x.Row == cols || x.Row == 1 && x.Col == rows
}

// widenable says that the matrix has halves that may be widened whole.
func (x *Matrix[T]) widenable(rows, cols int) bool {
	return variant() == AVX2 && x.halves() != nil && rows*cols <= nearHalves && x.dense(rows, cols)
}

// widenNear widens operands of a product of few columns that are small.
func widenNear(g *product[float32], w *workspace[float32]) {
	if g.n > fewColumns && g.m > 1 {
		return
	}
	if g.b.widenable(g.k, g.n) {
		w.wide[1] = g.b.widenWhole(w.wide[1], g.k*g.n)
	}
	if g.a.Col != 1 && g.a.widenable(g.m, g.k) {
		w.wide[0] = g.a.widenWhole(w.wide[0], g.m*g.k)
	}
}

// widenWhole makes n halves that follow each other float32, in buf if they fit.
func (x *Matrix[T]) widenWhole(buf []T, n int) []T {
	buf = grow(buf, n)
	widenRows(any(buf).([]float32), n, x.halves()[x.Off:], n, 1, n, x.F16 != nil)
	x.Elems, x.F16, x.BF16, x.Off = buf, nil, nil, 0
	return buf
}

// dotsRows says that the products of the rows and a vector are best computed side by side, where each has a bias too.
func (x *Matrix[T]) dotsRows(rows, k int) bool {
	return variant() != Generic && rows >= 16 && x.Col == 1 && (x.Elems != nil || x.widenable(rows, k))
}

// repeat returns n times v.
func (w *workspace[T]) repeat(v T, n int) []T {
	w.bias = grow(w.bias, n)
	for i := range w.bias {
		w.bias[i] = v
	}
	return w.bias
}

// panelInMemory says that b is no wider than a panel and lies in memory nearly as packed.
func (g *product[T]) panelInMemory() bool {
	return variant() == AVX2 && g.n <= g.kern.cols && g.kern.fits(g.n) && g.b.Row <= 2*g.kern.cols
}

// widenStrips makes the tasks of a product of few columns widen rows of halves right before they are multiplied.
func (g *product[T]) widenStrips() {
	if variant() != AVX2 || g.n > fewColumns || !g.widensRows() {
		return
	}
	g.rawA, g.lda = true, up(g.kc, 16)|16
	if g.a.Row == g.kc && g.kc <= denseRows {
		g.lda = g.kc
	}
}

// widenedTask is task after widenStrips.
func (g *product[T]) widenedTask(w *workspace[T], i, rows, jc, j, cols, ps, steps int) {
	kn, rounds := g.kern, g.roundsTiles()
	strip := min(rows, kn.strip)
	c, ldc, padded := []T(nil), up(cols, kn.cols), true
	if rounds {
		w.c = grow(w.c, up(strip, kn.rows)*ldc)
		c = w.c
	} else {
		c, ldc, padded = g.target(w, i, rows, jc, j, cols)
	}
	w.a = grow(w.a, strip*g.lda)
	w.piece = [3]int{}
	for p := 0; p < steps; p += g.kc {
		kc := min(g.kc, steps-p)
		for y := 0; y < rows; y += strip {
			high := min(strip, rows-y)
			g.widenRowsTo(w.a, i+y, high, ps+p, kc)
			to := c
			if !rounds {
				to = c[y*ldc:]
			}
			for x := 0; x < cols; x += kn.cols {
				wide := min(kn.cols, cols-x)
				b, ldb := g.panel(w, jc, j+x, wide, ps, p, steps, kc)
				g.rowTiles(w, 0, high, x, wide, ps+p, kc, b, ldb, to, ldc, padded)
			}
			if rounds {
				g.roundTiles(c, ldc, i+y, high, jc+j, cols)
			}
		}
	}
	if !rounds && ps+steps == g.k {
		g.finishTask(i, rows, jc+j, cols, c, ldc, padded)
	}
}
