package cpu

import "math"

// SVDRoom is how many numbers SVD needs beside the matrix, m ≥ n, for so many left vectors.
func SVDRoom(m, n, cols int) int { return m*n + 2*m*cols + n*n + 4*n + max(m, cols) }

// SVD writes the singular values s, descending, of the m×n matrix, m ≥ n, in the first m·n numbers of room, which is overwritten, and, if u is not
// nil, its vectors: cols left ones, n or m, are the columns of u, and the right ones the rows of vh. turned says that the matrix is the transposed of
// the one that is meant, so that left vectors are the rows of vh, and right ones the columns of u. The method is that of Golub and Reinsch, as
// LINPACK has it (dsvdc): reflections make the matrix bidiagonal, and implicit QR steps diagonal. Of each left vector with a singular value the
// largest number, the first of several, is positive. It returns the value that did not converge, or -1.
func SVD(room []float64, m, n, cols int, turned bool, s, u, vh []float64) int {
	if u == nil {
		cols = 0
	}
	a, own := room[:m*n], room[m*n:]
	d, e, left, right, own := own[:n], own[n:2*n], own[2*n:3*n], own[3*n:4*n], own[4*n:]
	sums, own := own[:max(m, cols)], own[max(m, cols):]
	scale := powerFor(amount(a))
	for i := range a {
		a[i] *= scale
	}
	bidiagonal(a, m, n, d, e, left, right, sums)
	b := bidiagonalQR{d: d, e: e, small: 0x1p-53 * max(amount(d), amount(e))}
	var lefts, rights block
	if u != nil {
		q := own[:m*cols]
		lefts, rights = block{own[m*cols:], 0, m, cols, m}, block{own[2*m*cols:], 0, n, n, n}
		identity(q, m, cols)
		for k := n - 1; k >= 0; k-- {
			(&block{q, k*cols + k, cols, m - k, cols - k}).reflect(a[k*n+k:], n, left[k], sums)
		}
		transpose(lefts.data, m, m, cols, q, 0, cols)
		identity(q, n, n)
		for k := n - 2; k >= 0; k-- {
			(&block{q, (k+1)*n + k + 1, n, n - k - 1, n - k - 1}).reflect(a[k*n+k+1:], 1, right[k], sums)
		}
		transpose(rights.data, n, n, n, q, 0, n)
		b.left, b.right = noRotations(), noRotations()
		defer turnings.Put(b.left)
		defer turnings.Put(b.right)
	}
	for p := n; p > 0; {
		if p = b.run(p); p < 0 {
			return -1 - p
		}
		b.left.apply(&lefts)
		b.right.apply(&rights)
	}
	for j, v := range d {
		to := rank(d, j, func(x, y float64) bool { return math.Abs(x) > math.Abs(y) })
		s[to] = math.Abs(v) / scale
		if u != nil {
			sign := signOf(lefts.line(j, 0, m))
			put(u, vh, lefts.line(j, 0, m), to, cols, turned, sign)
			put(u, vh, rights.line(j, 0, n), to, n, !turned, math.Copysign(sign, sign*v))
		}
	}
	for j := n; j < cols; j++ {
		put(u, vh, lefts.line(j, 0, m), j, cols, turned, 1)
	}
	return -1
}

// put writes a vector to a column of u, which has so many, or to a row of vh.
func put(u, vh, v []float64, to, columns int, row bool, sign float64) {
	for i, x := range v {
		if row {
			vh[to*len(v)+i] = sign * x
		} else {
			u[i*columns+to] = sign * x
		}
	}
}

// bidiagonal leaves the diagonal in d and what is above it in e; the vectors of the reflections stay in a, those from the left below the
// diagonal and those from the right beside it.
func bidiagonal(a []float64, m, n int, d, e, left, right, sums []float64) {
	for k := range n {
		left[k] = reflector(a[k*n+k:], m-k, n)
		d[k], e[k], right[k] = a[k*n+k], 0, 0
		if k == n-1 {
			break
		}
		(&block{a, k*n + k + 1, n, m - k, n - k - 1}).reflect(a[k*n+k:], n, left[k], sums)
		row := a[k*n+k+1 : (k+1)*n]
		right[k] = reflector(row, n-k-1, 1)
		e[k] = row[0]
		(&block{a, (k+1)*n + k + 1, n, m - k - 1, n - k - 1}).reflectRight(row, right[k])
	}
}

// A bidiagonalQR makes a bidiagonal matrix diagonal: d on the diagonal, e above it, which ends with a 0. What it does to the vectors is left to do;
// without vectors left and right are nil.
type bidiagonalQR struct {
	d, e        []float64
	small       float64 // what counts as 0
	left, right *rotations
}

// run makes the last of the first p values converge, and more, until p are left, or enough rotations wait; it returns p, or -1-i if value i does
// not converge.
func (b *bidiagonalQR) run(p int) int {
	d, e := b.d, b.e
	for steps := 0; p > 0; {
		k := p - 2
		for ; k >= 0; k-- {
			if math.Abs(e[k]) <= b.small {
				e[k] = 0
				break
			}
		}
		k++ // from here on to p nothing above the diagonal is 0
		if k == p-1 {
			p--
			steps = 0
			if b.left.many() {
				break
			}
			continue
		}
		if steps++; steps > sweepsEach {
			return -p
		}
		zero := p - 1
		for ; zero >= k; zero-- {
			if math.Abs(d[zero]) <= b.small {
				d[zero] = 0
				break
			}
		}
		switch {
		case zero < k:
			b.step(k, p)
		case zero == p-1:
			b.zeroLast(k, p)
		default:
			b.zeroRow(zero, p)
		}
	}
	return p
}

// zeroLast takes what is above a last value that is 0 to the left, out of the matrix.
func (b *bidiagonalQR) zeroLast(k, p int) {
	f := b.e[p-2]
	b.e[p-2] = 0
	for j := p - 2; j >= k; j-- {
		c, s, r := givens(b.d[j], f)
		b.d[j] = r
		if j > k {
			f = -s * b.e[j-1]
			b.e[j-1] *= c
		}
		b.right.add(c, s, j, p-1)
	}
}

// zeroRow takes what is beside a value that is 0, but not the last, to the right.
func (b *bidiagonalQR) zeroRow(zero, p int) {
	f := b.e[zero]
	b.e[zero] = 0
	for j := zero + 1; j < p; j++ {
		c, s, r := givens(b.d[j], f)
		b.d[j] = r
		f = -s * b.e[j]
		b.e[j] *= c
		b.left.add(c, s, j, zero)
	}
}

// step is an implicit QR step with the shift of the last two columns, on rows k to p-1.
func (b *bidiagonalQR) step(k, p int) {
	d, e := b.d, b.e
	f, g := b.shifted(k, p)
	for j := k; j < p-1; j++ {
		c, s, r := givens(f, g)
		if j > k {
			e[j-1] = r
		}
		f = float64(c*d[j]) + float64(s*e[j])
		e[j] = float64(c*e[j]) - float64(s*d[j])
		g = s * d[j+1]
		d[j+1] *= c
		b.right.add(c, s, j, j+1)
		c, s, r = givens(f, g)
		d[j] = r
		f = float64(c*e[j]) + float64(s*d[j+1])
		d[j+1] = float64(c*d[j+1]) - float64(s*e[j])
		g = s * e[j+1]
		e[j+1] *= c
		b.left.add(c, s, j, j+1)
	}
	e[p-2] = f
}

// shifted is where a step begins.
func (b *bidiagonalQR) shifted(k, p int) (f, g float64) {
	d, e := b.d, b.e
	scale := largerOf(largerOf(largerOf(largerOf(math.Abs(d[p-1]), d[p-2]), e[p-2]), d[k]), e[k])
	last, before, beside, first, next := d[p-1]/scale, d[p-2]/scale, e[p-2]/scale, d[k]/scale, e[k]/scale
	half := float64((float64((before+last)*(before-last)) + float64(beside*beside)) / 2)
	square := float64(float64(last*beside) * float64(last*beside))
	shift := 0.0
	if half != 0 || square != 0 {
		shift = math.Copysign(math.Sqrt(float64(half*half)+square), half)
		shift = square / (half + shift)
	}
	return float64((first+last)*(first-last)) + shift, first * next
}
