package cpu

import "math"

// Factors of dense matrices and triangular systems, in float64. Every element gets its updates in the order of elimination, each a product
// that is rounded and a difference that is rounded, whatever the blocks: so the bits, and the pivots, are those of the plain loops, of any
// processor, and of the GPU's kernels, and do not depend on the number of threads.

const (
	factorBlock = 32 // columns that are eliminated at a time; the rest gets their updates in one pass
	factorRows  = 16 // rows of such a pass that are one piece of work
)

// Cholesky replaces the n×n matrix a, of which it reads the lower triangle, by the lower triangular L with L·Lᵀ = a and zeros above. It
// returns the column whose leading minor is not positive, from where on L makes no sense, or -1.
func Cholesky(a []float64, n int) int {
	var turned []float64 // the columns that were eliminated, as rows
	block := make([]float64, factorBlock*factorBlock)
	for p := 0; p < n; p += factorBlock {
		e := min(p+factorBlock, n)
		if k := eliminate(a, n, p, e, block); k >= 0 {
			return k
		}
		left := n - e
		if left == 0 {
			break
		}
		Parallel(left, grainFor((e-p)*(e-p)), func(lo, hi int) {
			for i := e + lo; i < e+hi; i++ {
				divideRow(a[i*n+p:i*n+e], block)
			}
		})
		turned = turnRows(turned, a[e*n+p:], n, left, e-p)
		Parallel((left+factorRows-1)/factorRows, grainFor(factorRows*left*(e-p)), func(lo, hi int) {
			for q := lo; q < hi; q++ {
				from, to := e+q*factorRows, min(e+(q+1)*factorRows, n)
				subtract(a[from*n+e:], n, a[from*n+p:], n, turned, left, to-from, to-e, e-p)
			}
		})
	}
	for i := range n {
		clear(a[i*n+i+1 : (i+1)*n])
	}
	return -1
}

// eliminate is Cholesky for the block of columns p to e-1 and the rows of these numbers. It leaves the block's columns as rows of block.
func eliminate(a []float64, n, p, e int, block []float64) int {
	w := e - p
	for i := range w {
		row := a[(p+i)*n+p:][:i+1]
		divideRow(row[:i], block)
		for _, l := range row[:i] {
			row[i] -= float64(l * l)
		}
		if !(row[i] > 0) {
			return p + i
		}
		row[i] = math.Sqrt(row[i])
		for k, l := range row {
			block[k*factorBlock+i] = l
		}
	}
	return -1
}

// divideRow makes a row of L, to the left of the diagonal, of the row of a matrix whose updates from earlier blocks are done.
func divideRow(row, block []float64) {
	for k := range row {
		l := row[k] / block[k*factorBlock+k]
		row[k] = l
		minusRow(row[k+1:], block[k*factorBlock+k+1:], l)
	}
}

// LU replaces the first n columns of a, n rows that are stride apart, by its factors: U on and above the diagonal, and L, whose diagonal
// is 1, below. Before column k is eliminated its row k and row pivots[k] change places: that of the first of the largest amounts.
func LU(a []float64, n, stride int, pivots []int) {
	for p := 0; p < n; p += factorBlock {
		e := min(p+factorBlock, n)
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
				minusRow(row[k+1:], top[k+1:], l)
			}
		}
		left, deep := n-e, e-p
		if left == 0 {
			return
		}
		for i := p; i < e; i++ {
			for k := p; k < i; k++ {
				minusRow(a[i*stride+e:i*stride+n], a[k*stride+e:k*stride+n], a[i*stride+k])
			}
		}
		Parallel((left+factorRows-1)/factorRows, grainFor(factorRows*left*deep), func(lo, hi int) {
			for q := lo; q < hi; q++ {
				from, to := e+q*factorRows, min(e+(q+1)*factorRows, n)
				subtract(a[from*stride+e:], stride, a[from*stride+p:], stride, a[p*stride+e:], stride, to-from, left, deep)
			}
		})
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

// SolveLower replaces x, n rows of m, by T⁻¹·x for the lower triangular n×n matrix t, whose diagonal counts as 1 if unit.
func SolveLower(t []float64, n int, unit bool, x []float64, m int) {
	for p := 0; p < n; p += factorBlock {
		e := min(p+factorBlock, n)
		for i := p; i < e; i++ {
			row := x[i*m : (i+1)*m]
			for k := p; k < i; k++ {
				minusRow(row, x[k*m:(k+1)*m], t[i*n+k])
			}
			if !unit {
				d := t[i*n+i]
				for j := range row {
					row[j] /= d
				}
			}
		}
		left, deep := n-e, e-p
		if left == 0 {
			break
		}
		Parallel((left+factorRows-1)/factorRows, grainFor(factorRows*m*deep), func(lo, hi int) {
			for q := lo; q < hi; q++ {
				from, to := e+q*factorRows, min(e+(q+1)*factorRows, n)
				subtract(x[from*m:], m, t[from*n+p:], n, x[p*m:], m, to-from, m, deep)
			}
		})
	}
}

// grainFor is how many pieces of so many updates go to a worker at a time.
func grainFor(work int) int { return max(1, 1<<17/max(1, work)) }

// turnRows returns the n×m matrix a, rows stride apart, as m rows of n.
func turnRows(room, a []float64, stride, n, m int) []float64 {
	if len(room) < n*m {
		room = make([]float64, n*m)
	}
	for i := range n {
		for j, v := range a[i*stride : i*stride+m] {
			room[j*n+i] = v
		}
	}
	return room
}

// minusRow subtracts f times x from row.
func minusRow(row, x []float64, f float64) {
	x = x[:len(row)]
	for j, v := range x {
		row[j] -= float64(f * v)
	}
}

// subtract takes a·b from c, m×n, for m rows of k in a and k rows of n in b; each slice begins at its first element.
func subtract(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, m, n, k int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	fours := m &^ 3
	done := subtractVec(c, ldc, a, lda, b, ldb, fours, n, k)
	for i := 0; i < fours; i += 4 {
		j := done
		for ; j+2 <= n; j += 2 {
			subtractTile(c[i*ldc+j:], ldc, a[i*lda:], lda, b[j:], ldb, k)
		}
		if j < n {
			subtractFew(c[i*ldc+j:], ldc, a[i*lda:], lda, b[j:], ldb, 4, n-j, k)
		}
	}
	if fours < m {
		subtractFew(c[fours*ldc:], ldc, a[fours*lda:], lda, b, ldb, m-fours, n, k)
	}
}

// subtractTile is subtract for four rows and two columns, whose sums stay in registers.
func subtractTile(c []float64, ldc int, a []float64, lda int, b []float64, ldb, k int) {
	a0, a1, a2, a3 := a[:k], a[lda:][:k], a[2*lda:][:k], a[3*lda:][:k]
	r0, r1, r2, r3 := c[:2], c[ldc:][:2], c[2*ldc:][:2], c[3*ldc:][:2]
	s00, s01, s10, s11, s20, s21, s30, s31 := r0[0], r0[1], r1[0], r1[1], r2[0], r2[1], r3[0], r3[1]
	for q, v := range a0 {
		x, y := b[q*ldb], b[q*ldb+1]
		s00 -= float64(v * x)
		s01 -= float64(v * y)
		v = a1[q]
		s10 -= float64(v * x)
		s11 -= float64(v * y)
		v = a2[q]
		s20 -= float64(v * x)
		s21 -= float64(v * y)
		v = a3[q]
		s30 -= float64(v * x)
		s31 -= float64(v * y)
	}
	r0[0], r0[1], r1[0], r1[1], r2[0], r2[1], r3[0], r3[1] = s00, s01, s10, s11, s20, s21, s30, s31
}

// subtractFew is subtract for what fills no tile.
func subtractFew(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, m, n, k int) {
	for i := range m {
		row := c[i*ldc:][:n]
		for q, v := range a[i*lda:][:k] {
			minusRow(row, b[q*ldb:][:n], v)
		}
	}
}
