package cpu

import (
	"math"
	"sync"
)

// Factors of dense matrices, in float64. Every element gets its updates in the order of elimination, each a product and a difference that are
// rounded once together (fused), whatever the blocks: so the bits, and the pivots, are those of the plain loops, of any processor, and of the
// GPU's kernels, and do not depend on the number of threads.

const (
	factorBlock = 32 // columns that are eliminated at a time; the rest gets their updates in one pass
	factorPanel = 8  // columns of LU that are eliminated one by one
	factorRows  = 32 // rows of such a pass that are one piece of work
)

// factorRooms lends memory for columns that were eliminated, as rows.
var factorRooms = sync.Pool{New: func() any { return new([]float64) }}

// Cholesky replaces the n×n matrix a, of which it reads the lower triangle, by the lower triangular L with L·Lᵀ = a and zeros above. It
// returns the column whose leading minor is not positive, from where on L makes no sense, or -1.
func Cholesky(a []float64, n int) int {
	room := factorRooms.Get().(*[]float64)
	defer factorRooms.Put(room)
	for p := 0; p < n; p += factorBlock {
		e := min(p+factorBlock, n)
		if k := eliminate(a, n, p, e); k >= 0 {
			return k
		}
		left, deep := n-e, e-p
		if left == 0 {
			break
		}
		panel := a[e*n+p:]
		*room = grow(*room, left*deep)
		turned := *room
		transpose(turned, left, left, deep, panel, 0, n) // L of these rows is the x of L'·xᵀ = aᵀ, L' that of the rows above
		(&Triangle{Data: a, Off: p*n + p, Row: n, Step: 1, N: deep}).Solve(Sides{Data: turned, Row: left, M: left})
		transpose(panel, n, deep, left, turned, 0, left)
		Parallel((left+factorRows-1)/factorRows, grainFor(factorRows*left*deep/2), func(lo, hi int) {
			for q := lo; q < hi; q++ {
				from, to := q*factorRows, min((q+1)*factorRows, left)
				subtract(a[(e+from)*n+e:], n, factor{panel, from * n, n, 1}, turned, left, to-from, to, deep)
			}
		})
	}
	for i := range n {
		clear(a[i*n+i+1 : (i+1)*n])
	}
	return -1
}

// eliminate is Cholesky for the block of columns p to e-1 and the rows of these numbers.
func eliminate(a []float64, n, p, e int) int {
	for i := p; i < e; i++ {
		row := a[i*n : i*n+i+1]
		for j := p; j <= i; j++ {
			other := a[j*n : j*n+j+1]
			v := row[j]
			for k := p; k < j; k++ {
				v = math.FMA(-row[k], other[k], v)
			}
			if j < i {
				row[j] = v / other[j]
				continue
			}
			if !(v > 0) {
				return i
			}
			row[i] = math.Sqrt(v)
		}
	}
	return -1
}

// LU replaces the first n columns of a, n rows that are stride apart, by its factors: U on and above the diagonal, and L, whose diagonal
// is 1, below. Before column k is eliminated its row k and row pivots[k] change places: that of the first of the largest amounts.
func LU(a []float64, n, stride int, pivots []int) { luColumns(a, n, stride, 0, n, pivots) }

// luColumns is LU for columns p to e-1, which have the updates from those before them: those of the first half, then those of the second.
func luColumns(a []float64, n, stride, p, e int, pivots []int) {
	if e-p <= factorPanel {
		luPanel(a, n, stride, p, e, pivots)
		return
	}
	mid := p + (e-p+2*factorPanel-1)/(2*factorPanel)*factorPanel
	luColumns(a, n, stride, p, mid, pivots)
	deep, wide, left := mid-p, e-mid, n-mid
	(&Triangle{Data: a, Off: p*stride + p, Row: stride, Step: 1, N: deep, Unit: true}).Solve(Sides{Data: a, Off: p*stride + mid, Row: stride, M: wide})
	Parallel((left+factorRows-1)/factorRows, grainFor(factorRows*wide*deep), func(lo, hi int) {
		for q := lo; q < hi; q++ {
			from, to := mid+q*factorRows, min(mid+(q+1)*factorRows, n)
			subtract(a[from*stride+mid:], stride, factor{a, from*stride + p, stride, 1}, a[p*stride+mid:], stride, to-from, wide, deep)
		}
	})
	luColumns(a, n, stride, mid, e, pivots)
}

func luPanel(a []float64, n, stride, p, e int, pivots []int) {
	for k := p; k < e; k++ {
		at := largest(a, n, stride, k)
		pivots[k] = at
		if at != k {
			x, y := a[k*stride:k*stride+n], a[at*stride:at*stride+n]
			for j, v := range x {
				x[j], y[j] = y[j], v
			}
		}
		top := a[k*stride : k*stride+e]
		pivot := top[k]
		for i := k + 1; i < n; i++ {
			row := a[i*stride : i*stride+e]
			l := row[k]
			if pivot != 0 {
				l /= pivot
			}
			row[k] = l
			minusFew(row[k+1:], top[k+1:], l)
		}
	}
}

// largest returns the row, from k on, with the largest amount in column k: the first of several, and k if that holds a NaN.
func largest(a []float64, n, stride, k int) int {
	at, most := k, math.Abs(a[k*stride+k])
	for i := k + 1; i < n; i++ {
		if v := math.Abs(a[i*stride+k]); v > most {
			at, most = i, v
		}
	}
	return at
}

// grainFor is how many pieces of so many updates go to a worker at a time.
func grainFor(work int) int { return max(1, 1<<17/max(1, work)) }
