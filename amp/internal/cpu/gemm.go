package cpu

// Float is an accumulator type; int64 is there for integer matrices.
type Float interface{ float32 | float64 | int64 }

// A Matrix is an operand: element (i,j) lies at Off + i*Row + j*Col. Where the elements are in memory, give the slice of
// their type, which is packed without a call per run; else give Load.
type Matrix[T Float] struct {
	Off, Row, Col int

	Elems     []T      // elements of the accumulator's type
	F16, BF16 []uint16 // halves, for T float32

	// Load sets dst to len(dst) elements that start at off and lie stride apart, widened to T.
	Load func(dst []T, off, stride int)
}

// A Result takes a product. Where Elems is given, element (i,j) is written to Off + i*Row + j of it. Where Done is given, it
// is called once for every finished piece of a row, from column j on, in any order and from several workers: with the values
// in Elems, which it may change, or with a buffer, which it must round or copy.
type Result[T Float] struct {
	Off, Row int
	Elems    []T
	Done     func(i, j int, row []T)

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
	if out.Elems != nil {
		_ = out.Elems[out.Off+(m-1)*out.Row+n-1]
	}
	w := workspaces[T]().get()
	g := &w.call
	*g = product[T]{m: m, n: n, k: k, a: a, b: b, out: out, kern: kernelOf[T](), home: w}
	g.plan()
	g.run()
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
	}
}

// A kernel computes tiles in registers.
type kernel[T Float] struct {
	rows, cols int  // the largest tile
	narrow     int  // the other width that tile can write, or cols
	depth      int  // steps of k after which the panels should be changed: they fill the L1 and L2 caches
	raw        bool // tile can read b with any distance of rows
	grain      int  // multiply-adds from which another worker pays
	// height returns how high a panel of a must be for at most rows rows.
	height func(rows int) int
	// tile sets (more false) or raises c, distance of rows ldc, by the product of a panel of a that is rows high and k long and
	// at least cols columns of b, distance of rows ldb. It works in whole registers: kernel.narrow or kernel.cols columns.
	tile func(rows, cols, k int, a, b []T, ldb int, c []T, ldc int, more bool)
}

// A product is a call of GemmTo on its way.
type product[T Float] struct {
	home       *workspace[T] // of the caller
	m, n, k    int
	a, b       Matrix[T]
	out        Result[T]
	kern       *kernel[T]
	nc, ks, kc int // columns and steps of k that are packed at a time; steps of k between changes of panels
	mb, nb     int // rows and columns of a task
	raw        bool
	packed     []T // panels of b
	sum        []T // unfinished rows, where k is cut and the result is not in memory
}

// packedB is how many elements of b are packed at most: they should stay in the L2 or L3 cache while all rows of a pass.
const packedB = 1 << 20

func up(n, step int) int { return (n + step - 1) / step * step }

func (g *product[T]) whole() bool { return g.out.rows != nil }

// plan fixes the blocks, from the shape.
func (g *product[T]) plan() {
	kn := g.kern
	g.nc, g.ks = up(g.n, kn.cols), g.k
	g.raw = kn.raw && g.b.Elems != nil && g.b.Col == 1 && g.m <= 2*kn.rows
	if !g.raw && g.nc*g.k > packedB {
		if nc := packedB / g.k / kn.cols * kn.cols; !g.whole() && nc >= 256 {
			g.nc = nc
		} else {
			if !g.whole() {
				g.nc = min(g.nc, 1024)
			}
			g.ks = min(g.k, up(max(packedB/g.nc, 1), kn.depth))
		}
	}
	cuts := max(1, (g.ks+kn.depth-1)/kn.depth)
	g.kc = (g.ks + cuts - 1) / cuts
	g.mb = min(max(up((g.m+3)/4, kn.rows), 2*kn.rows), up(96, kn.rows))
	g.nb = g.nc
	if blocks := (g.m + g.mb - 1) / g.mb; blocks < 8 && !g.whole() && g.m*g.nc*g.ks > 4*kn.grain {
		g.nb = min(g.nc, max(up(g.nc*blocks/8, kn.cols), 4*kn.cols))
	}
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
	Parallel(n, grain, func(lo, hi int) {
		w := workspaces[T]().get()
		for i := lo; i < hi; i++ {
			f(w, i)
		}
		workspaces[T]().put(w)
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

// done hands out a finished piece.
func (g *product[T]) done(i, j int, row []T) {
	switch {
	case g.out.rows != nil:
		g.out.rows(i, row)
	case g.out.Done != nil:
		g.out.Done(i, j, row)
	}
}

// task computes rows i… and columns jc+j… of the result over steps of k from ps on.
func (g *product[T]) task(w *workspace[T], i, rows, jc, j, cols, ps, steps int) {
	c, ldc, padded := g.target(w, i, rows, jc, j, cols)
	kn := g.kern
	for p := 0; p < steps; p += g.kc {
		kc := min(g.kc, steps-p)
		g.packA(w, i, rows, ps+p, kc)
		for x := 0; x < cols; x += kn.cols {
			wide := min(kn.cols, cols-x)
			b, ldb := g.panel(w, jc, j+x, wide, ps, p, steps, kc)
			for y := 0; y < rows; y += kn.rows {
				high := min(kn.rows, rows-y)
				h := kn.height(high)
				a, at := w.a[y*kc:y*kc+h*kc], y*ldc+x
				if padded || high == h && (wide == kn.cols || wide == kn.narrow) {
					kn.tile(h, wide, kc, a, b, ldb, c[at:], ldc, ps+p > 0)
					continue
				}
				g.edge(w, h, high, wide, kc, a, b, ldb, c[at:], ldc, ps+p > 0)
			}
		}
	}
	if ps+steps == g.k && (g.out.Done != nil || g.out.rows != nil) {
		for y := range rows {
			g.done(i+y, jc+j, c[y*ldc:y*ldc+cols])
		}
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
	ldt := g.kern.cols
	t := grow(w.tile, g.kern.rows*ldt)
	w.tile = t
	if more {
		for y := range rows {
			copy(t[y*ldt:], c[y*ldc:y*ldc+cols])
		}
	}
	g.kern.tile(h, cols, k, a, b, ldb, t, ldt, more)
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
