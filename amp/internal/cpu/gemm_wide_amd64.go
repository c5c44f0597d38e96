package cpu

// wideLeast is the number of columns from which wider tiles pay.
const wideLeast = 96

// Least shape of a product with large tiles: what they leave over at the edges, and packing for them, is then little.
const (
	largeSide  = 192
	largeDepth = 128
)

// chooseTiles takes wider tiles for a few rows, whose matrix b is read as it is in memory: it comes from the L2 or L3 cache in longer runs. For
// rows that do not fit in the L2 cache it takes large tiles. No element shows which tile it was in.
func chooseTiles(g *product[float32]) {
	switch {
	case g.kern != &zmmF32 || g.k == 0:
	case g.m > 4 && g.m <= wideF32.rows && g.n >= wideLeast && g.b.Elems != nil && g.b.Col == 1 && g.b.Row >= 0:
		g.kern = &wideF32
	case min(g.m, g.n) >= largeSide && g.k >= largeDepth && g.m*g.even(g.k) > allRows && g.a.inMemory() && g.b.inMemory() && !g.whole() && g.a.runs() && g.b.runs():
		g.kern = &largeF32
	}
}

// runs says that rows or columns lie together in memory.
func (x *Matrix[T]) runs() bool { return x.Col == 1 && x.Row >= 0 || x.Row == 1 && x.Col >= 0 }
