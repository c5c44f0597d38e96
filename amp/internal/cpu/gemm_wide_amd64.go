package cpu

// wideLeast is the number of columns from which wider tiles pay.
const wideLeast = 96

// chooseTiles takes wider tiles for a few rows, whose matrix b is read as it is in memory: it comes from the L2 or L3 cache in longer runs.
func chooseTiles(g *product[float32]) {
	if g.kern == &zmmF32 && g.m > 4 && g.m <= wideF32.rows && g.n >= wideLeast && g.k > 0 && g.b.Elems != nil && g.b.Col == 1 && g.b.Row >= 0 {
		g.kern = &wideF32
	}
}
