package cpu

// Products of one row, and so of one column, in float32: every element of the matrix is used once, so it is read as it is in memory, in
// long runs, by instructions that keep the order of k.

const (
	dotHeight = 16      // rows of a matrix that dotRows16 multiplies
	timesWide = 256     // columns that rowTimes16 does
	timesMost = 4       // blocks of them from which one more, for the last columns, is little
	readGrain = 1 << 17 // elements from which another worker pays
)

// rowProduct computes the product of a row and a matrix in memory if that is wide enough, and says whether it has.
func rowProduct(g *product[float32], w *workspace[float32]) bool {
	if g.m != 1 || g.k == 0 || variant() != AVX512 || g.b.Elems == nil || g.a.Elems == nil && g.a.format() == NoHalf {
		return false
	}
	byRows := g.b.Row == 1 && g.n >= dotHeight
	if !byRows && (g.b.Col != 1 || g.n < timesWide || g.n%timesWide > 0 && g.n < timesMost*timesWide) {
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
	if g.out.Elems != nil {
		c = g.out.Elems[g.out.Off:][:g.n]
	}
	if byRows {
		dotColumns(g, a, c)
	} else {
		addRows(g, a, c)
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
	Parallel((n+dotHeight-1)/dotHeight, max(1, readGrain/(dotHeight*k)), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			j := t * dotHeight
			if j+dotHeight <= n {
				clear(c[j : j+dotHeight])
				dotRows16(k/4, k%4, &b.Elems[b.Off+j*b.Col], 4*b.Col, &a[0], &c[j])
				continue
			}
			var last [dotHeight]float32
			dotRows16(k/4, k%4, &b.Elems[b.Off+(n-dotHeight)*b.Col], 4*b.Col, &a[0], &last[0])
			copy(c[j:], last[j+dotHeight-n:])
		}
	})
}

// addRows sets c to the sum of the rows of b, each times an element of a.
func addRows(g *product[float32], a, c []float32) {
	n, k, b := g.n, g.k, g.b
	_ = a[k-1]
	Parallel((n+timesWide-1)/timesWide, max(1, readGrain/(timesWide*k)), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			j := t * timesWide
			if j+timesWide <= n {
				rowTimes16(k, &a[0], &b.Elems[b.Off+j], 4*b.Row, &c[j], 0)
				continue
			}
			var last [timesWide]float32
			rowTimes16(k, &a[0], &b.Elems[b.Off+n-timesWide], 4*b.Row, &last[0], 0)
			copy(c[j:], last[j+timesWide-n:])
		}
	})
}
