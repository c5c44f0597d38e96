package cpu

import "unsafe"

// A product whose rows all fit in the L2 cache is split by columns only: every task packs its columns of b for itself, so that no worker
// waits for another one's, or has what it packs fetched from another one's cache, and there is one loop over the workers instead of two.

// Bounds of such a product, in elements.
const (
	allRows    = 3 << 16 // of a at a time
	taskPanels = 1 << 15 // of b that a task packs at a time
)

// byColumns says whether to compute the product that way, and plans it.
func (g *product[T]) byColumns() bool {
	kn := g.kern
	kc := g.even(g.k)
	if g.whole() || g.raw || g.nc*g.k <= nearB || g.m*kc > allRows || g.b.Load != nil && g.b.Table == nil {
		return false
	}
	g.kc, g.mb = kc, g.m
	tasks := max(1, min(8, g.m*g.n*g.k/kn.grain, g.n/kn.cols))
	g.nb = up((g.n+tasks-1)/tasks, kn.cols)
	g.rawA = g.rawA || g.readsRows()
	return true
}

// readsRows says that tiles may take a as it is in memory: the rows of a tile do not get in each other's way in the L1 cache.
func (g *product[T]) readsRows() bool {
	const page = 2048
	return g.kern.rowTile != nil && g.a.Elems != nil && g.a.Col == 1 && g.a.Row >= 0 && g.a.Row*int(unsafe.Sizeof(g.a.Elems[0]))%page > 0
}

func (g *product[T]) runColumns() {
	spread((g.n+g.nb-1)/g.nb, g.kern.grain/(g.m*g.nb*g.k), g.home, func(w *workspace[T], t int) {
		g.columns(w, t*g.nb, min(g.nb, g.n-t*g.nb))
	})
}

// columns computes columns j… of the result.
func (g *product[T]) columns(w *workspace[T], j, cols int) {
	kn := g.kern
	c, ldc, padded := g.target(w, 0, g.m, 0, j, cols)
	group := max(1, taskPanels/(g.kc*kn.cols)) * kn.cols
	for p := 0; p < g.k; p += g.kc {
		kc := min(g.kc, g.k-p)
		if piece := [3]int{int(g.serial), 0, p}; !g.rawA && w.piece != piece {
			g.packA(w, 0, g.m, p, kc)
			w.piece = piece
		}
		for x0 := 0; x0 < cols; x0 += group {
			some := min(group, cols-x0)
			w.last = grow(w.last, up(some, kn.cols)*kc)
			g.packColumnsB(w, w.last, j+x0, some, p, kc)
			for x := 0; x < some; x += kn.cols {
				wide := min(kn.cols, some-x)
				if b := w.last[x*kc:]; g.rawA {
					g.rowTiles(w, 0, g.m, x0+x, wide, p, kc, b, kn.cols, c, ldc, padded)
				} else {
					g.tileColumn(w, 0, g.m, x0+x, wide, kc, b, kn.cols, nil, c, ldc, p > 0, padded)
				}
			}
		}
	}
	if !g.out.plain() {
		for y := range g.m {
			g.done(y, j, c[y*ldc:y*ldc+cols])
		}
	}
}
