package cpu

// Products of one row, and so of one column, in float32: every element of the matrix is used once, so it is read as it is in memory, in
// long runs, by instructions that keep the order of k.

const (
	dotHeight  = 16      // rows of a matrix that dotRows16 multiplies
	dotTall    = 32      // and dotRows32
	timesLeast = 256     // columns of a matrix from which its rows are read in runs
	timesWide  = 512     // columns of a range of rows longer than timesWhole
	timesWhole = 4096    // columns of rows that are read whole, or in as many parts as there are workers
	readGrain  = 1 << 17 // elements from which another worker pays
)

// rowProduct computes the product of a row and a matrix in memory if that is wide enough, and says whether it has.
func rowProduct(g *product[float32], w *workspace[float32]) bool {
	if g.m != 1 || g.k == 0 || variant() == Generic || g.b.Elems == nil || g.a.Elems == nil && g.a.format() == NoHalf {
		return false
	}
	byRows := g.b.Row == 1 && g.n >= dotHeight
	if !byRows && (g.b.Col != 1 || g.n < timesLeast) {
		return false
	}
	a := g.a.Elems
	if a != nil && g.a.Col == 1 {
		a = a[g.a.Off:]
	} else {
		w.a = grow(w.a, g.k)
		w.piece = [3]int{}
		g.a.fetch(w.a, g.a.Off, g.a.Col)
		a = w.a
	}
	w.c = grow(w.c, g.n)
	c := w.c
	if g.out.Elems != nil && !g.out.Add {
		c = g.out.Elems[g.out.Off:][:g.n]
	}
	if byRows {
		dotColumns(g, a, c)
	} else {
		addRows(g, a, c)
	}
	if g.out.Add {
		to := g.out.Elems[g.out.Off:][:g.n]
		AddTo(to, c)
		c = to
	}
	if !g.out.plain() {
		g.done(0, 0, c)
	}
	return true
}

// dotColumns sets c to the products of a and the columns of b, which are rows in memory.
func dotColumns(g *product[float32], a, c []float32) {
	n, k, b := g.n, g.k, g.b
	_ = a[k-1]
	Parallel((n+dotTall-1)/dotTall, max(1, readGrain/(dotTall*k)), func(lo, hi int) {
		for j := lo * dotTall; j < min(hi*dotTall, n); j += dotTall {
			high := min(dotTall, n-j)
			if high == dotTall {
				clear(c[j : j+dotTall])
				tallDots(k, b.Elems, b.Off+j*b.Col, b.Col, a, c[j:])
				continue
			}
			if high >= dotHeight {
				clear(c[j : j+dotHeight])
				dots(k, &b.Elems[b.Off+j*b.Col], 4*b.Col, &a[0], &c[j])
			}
			if rest := high % dotHeight; rest > 0 {
				var last [dotHeight]float32
				dots(k, &b.Elems[b.Off+(n-dotHeight)*b.Col], 4*b.Col, &a[0], &last[0])
				copy(c[n-rest:n], last[dotHeight-rest:])
			}
		}
	})
}

// addRows sets c to the sum of the rows of b, each times an element of a.
func addRows(g *product[float32], a, c []float32) {
	n, k, b := g.n, g.k, g.b
	_ = a[k-1]
	// The longer the runs are the better, as far as the sums and the rows that are fetched stay near. No sum shows in which range it was.
	ranges := n / timesWide
	if n <= timesWhole {
		ranges = threads()
	}
	ranges = max(1, min(ranges, n*k/readGrain))
	wide := up((n+ranges-1)/ranges, 32)
	Parallel((n+wide-1)/wide, 1, func(lo, hi int) {
		for j := lo * wide; j < min(hi*wide, n); j += wide {
			cols := min(wide, n-j)
			whole := cols &^ 31
			addBlock(c[j:], a, b.Elems[b.Off+j:], b.Row, whole, k)
			if rest := cols - whole; rest > 0 {
				var last [32]float32
				addBlock(last[:], a, b.Elems[b.Off+n-32:], b.Row, 32, k)
				copy(c[n-rest:], last[32-rest:])
			}
		}
	})
}

// addBlock is addRows for a multiple of 32 columns.
func addBlock(c, a, b []float32, ldb, cols, k int) {
	if cols == 0 {
		return
	}
	clear(c[:cols])
	p := 0
	for ; p+8 <= k; p += 8 {
		timesRows(8, cols, &a[p], &b[p*ldb], 4*ldb, &c[0])
	}
	for ; p < k; p++ {
		timesRows(1, cols, &a[p], &b[p*ldb], 4*ldb, &c[0])
	}
}

// tallDots raises dotTall sums in c by the products of k elements of b and of each of as many rows of a, the first one at off.
func tallDots(k int, a []float32, off, lda int, b, c []float32) {
	lines := 0
	if variant() == AVX512 && madeByAMD() {
		if lines = k / 16; lines > 0 {
			dotRows32(lines, &a[off], 4*lda, &b[0], &c[0])
		}
	}
	if done := 16 * lines; done < k {
		for i := 0; i < dotTall; i += dotHeight {
			dots(k-done, &a[off+i*lda+done], 4*lda, &b[done], &c[i])
		}
	}
}

// dots raises dotHeight sums in c by the products of k elements of b and of each of as many rows of a; stride in bytes.
func dots(k int, a *float32, lda int, b, c *float32) {
	if variant() == AVX512 {
		dotRows16(k/4, k%4, a, lda, b, c)
		return
	}
	dotRows16Y(k/4, k%4, a, lda, b, c)
}

// timesRows raises cols sums in c, a multiple of 32, by the product of rows elements of a, 1 or 8, and as many rows of b; stride in bytes.
func timesRows(rows, cols int, a, b *float32, ldb int, c *float32) {
	switch wide := variant() == AVX512; {
	case rows == 8 && wide && madeByAMD():
		rowTimes8Near(cols/32, a, b, ldb, c)
	case rows == 8 && wide:
		rowTimes8(cols/32, a, b, ldb, c)
	case rows == 8:
		rowTimes8Y(cols/32, a, b, ldb, c)
	case wide:
		rowTimes1(cols/32, a, b, ldb, c)
	default:
		rowTimes1Y(cols/32, a, b, ldb, c)
	}
}
