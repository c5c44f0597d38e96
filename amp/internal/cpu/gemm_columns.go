package cpu

import "unsafe"

// A product whose rows all fit in the L2 cache is split by columns only: every task packs its columns of b for itself, so that no worker
// waits for another one's, or has what it packs fetched from another one's cache, and there is one loop over the workers instead of two.

// Bounds of such a product, in elements.
const (
	allRows    = 3 << 16 // of a at a time
	fewRows    = 1 << 18 // bytes of a, for AVX2 alone: such processors have an L2 cache of 256 or 512 KB
	taskPanels = 1 << 15 // of b that a task packs at a time
	roundRows  = 96      // rows of tiles whose sums wait to be rounded
)

// byColumns says whether to compute the product that way, and plans it.
func (g *product[T]) byColumns() bool {
	kn := g.kern
	kc := g.even(g.k)
	if g.whole() || g.raw || g.nc*g.k <= nearB || g.m*kc > g.nearRows() || g.b.Load != nil && g.b.Table == nil {
		return false
	}
	if kn.packA != nil && kc < g.k {
		return false // every task would pack all of a
	}
	g.kc, g.mb = kc, g.m
	tasks := max(1, min(8, g.m*g.n*g.k/kn.grain, g.n/kn.cols))
	g.nb = up((g.n+tasks-1)/tasks, kn.cols)
	g.rawA = g.rawA || g.readsRows()
	if !g.rawA && g.widensRows() {
		g.rawA, g.lda = true, up(kc, 16)|16 // an odd number of cache lines: rows do not get in each other's way
	}
	return true
}

// nearRows is how many elements of a the L2 cache holds beside what else is needed.
func (g *product[T]) nearRows() int {
	if variant() != AVX2 {
		return allRows
	}
	var element T
	return fewRows / int(unsafe.Sizeof(element))
}

// readsRows says that tiles may take a as it is in memory: the rows of a tile do not get in each other's way in the L1 cache.
func (g *product[T]) readsRows() bool {
	const page = 2048
	return g.kern.rowTile != nil && g.a.Elems != nil && g.a.Col == 1 && g.a.Row >= 0 && g.a.Row*int(unsafe.Sizeof(g.a.Elems[0]))%page > 0
}

// widensRows says that halves are widened row by row, which is quicker than to transpose them into panels, for tiles to take a from there.
func (g *product[T]) widensRows() bool {
	return g.kern.rowTile != nil && g.a.halves() != nil && g.a.Col == 1 && g.a.Row >= 0
}

// widenA widens rows i… of a, k steps from p on.
func (g *product[T]) widenA(w *workspace[T], i, rows, p, k int) {
	g.widenRowsTo(w.a[i*g.lda:], i, rows, p, k)
}

// widenRowsTo is widenA to another place.
func (g *product[T]) widenRowsTo(dst []T, i, rows, p, k int) {
	widenRows(any(dst).([]float32), g.lda, g.a.halves()[g.a.Off+i*g.a.Row+p:], g.a.Row, rows, k, g.a.F16 != nil)
}

// rowsOfA returns a from row i and step p on, as it is in memory or widened, and the distance of its rows.
func (g *product[T]) rowsOfA(w *workspace[T], i, p int) ([]T, int) {
	if g.lda > 0 {
		return w.a[i*g.lda:], g.lda
	}
	return g.a.Elems[g.a.Off+i*g.a.Row+p*g.a.Col:], g.a.Row
}

// roundsTiles says that sums are only rounded once they are finished: a column of tiles then goes from a small buffer to the result.
func (g *product[T]) roundsTiles() bool {
	o := &g.out
	return g.kc >= g.k && (o.F16 != nil || o.BF16 != nil) && o.Elems == nil && o.Done == nil && o.rows == nil && variant() != Generic
}

// roundTiles writes rows i… and columns j… of the result, which are in c.
func (g *product[T]) roundTiles(c []T, ldc, i, rows, j, cols int) {
	o := &g.out
	if o.Bias != nil {
		addToRows(c, rows, ldc, o.Bias[j:j+cols])
	}
	if o.RowBias != nil || o.Fold.Len > 0 {
		o.putTiles(any(c).([]float32), i, rows, j, cols)
		return
	}
	o.round(i, rows, j, cols, any(c).([]float32), ldc, true)
}

func (g *product[T]) runColumns() {
	spread((g.n+g.nb-1)/g.nb, g.kern.grain/(g.m*g.nb*g.k), g.home, func(w *workspace[T], t int) {
		g.columns(w, t*g.nb, min(g.nb, g.n-t*g.nb))
	})
}

// columns computes columns j… of the result.
func (g *product[T]) columns(w *workspace[T], j, cols int) {
	kn := g.kern
	rounds := g.roundsTiles()
	c, ldc, padded := []T(nil), kn.cols, true
	if !rounds {
		c, ldc, padded = g.target(w, 0, g.m, 0, j, cols)
	} else if g.rawA {
		w.c = grow(w.c, up(g.m, kn.rows)*ldc)
		c = w.c
	}
	strip := g.m
	if rounds || g.lda > 0 {
		strip = roundRows / kn.rows * kn.rows
	}
	group := max(1, taskPanels/(g.kc*kn.cols)) * kn.cols
	for p := 0; p < g.k; p += g.kc {
		kc := min(g.kc, g.k-p)
		fresh := false
		if piece := [3]int{int(g.serial), 0, p}; (!g.rawA || g.lda > 0) && w.piece != piece {
			if fresh = g.rawA; fresh {
				w.a = grow(w.a, g.m*g.lda)
			} else {
				g.packA(w, 0, g.m, p, kc)
			}
			w.piece = piece
		}
		for x0 := 0; x0 < cols; x0 += group {
			some := min(group, cols-x0)
			w.last = grow(w.last, up(some, kn.cols)*kc)
			g.packColumnsB(w, w.last, j+x0, some, p, kc)
			for x := 0; x < some; x += kn.cols {
				wide, b := min(kn.cols, some-x), w.last[x*kc:]
				if rounds && !g.rawA {
					g.roundedColumn(w, 0, 0, g.m, j+x0+x, wide, kc, b, kn.cols, nil)
					continue
				}
				high := strip
				if fresh {
					high = kn.strip
				}
				for y := 0; y < g.m; y += high {
					high = min(high, g.m-y)
					if fresh {
						g.widenA(w, y, high, p, kc)
					}
					to, at := c, x0+x // where the tiles go
					if rounds {
						at = 0
					} else {
						to = c[y*ldc:]
					}
					if g.rawA {
						g.rowTiles(w, y, high, at, wide, p, kc, b, kn.cols, to, ldc, padded)
					} else {
						g.tileColumn(w, y, y+high, at, wide, kc, b, kn.cols, nil, to, ldc, g.more(p), padded)
					}
					if rounds {
						g.roundTiles(c, ldc, y, high, j+x0+x, wide)
					}
				}
				fresh = false
			}
		}
	}
	if !rounds {
		g.finishTask(0, g.m, j, cols, c, ldc, padded)
	}
}
