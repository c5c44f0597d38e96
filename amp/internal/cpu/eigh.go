package cpu

import "math"

// sweepsEach is how many steps an eigenvalue or singular value may take; more than a few are never seen.
const sweepsEach = 60

// EighRoom is how many numbers Eigh needs.
func EighRoom(n int) int { return 2*n*n + 4*n }

// Eigh writes the eigenvalues w, ascending, of the symmetric matrix in the first n·n numbers of room, which holds both triangles and is overwritten,
// and, if z is not nil, their vectors: the columns of z. The matrix is made tridiagonal by reflections, which implicit QL steps make diagonal (EISPACK's
// tred2 and imtql2). Of each vector the largest number, the first of several, is positive. It returns the eigenvalue that did not converge,
// or -1.
func Eigh(room []float64, n int, w, z []float64) int {
	if n == 0 {
		return -1
	}
	a, own := room[:n*n], room[2*n*n:]
	d, e, taus := own[:n], own[n:2*n], own[2*n:3*n]
	scale := powerFor(amount(a))
	for i := range a {
		a[i] *= scale
	}
	tridiagonal(a, n, d, e, taus, own[3*n:])
	var v block
	var turns *rotations
	if z != nil { // the columns of Q are the rows of v, on which rotations are quick
		v = block{room[n*n:], 0, n, n, n}
		turns = noRotations()
		defer turnings.Put(turns)
		identity(z, n, n)
		for k := n - 2; k >= 0; k-- {
			(&block{z, (k+1)*n + k + 1, n, n - k - 1, n - k - 1}).reflect(a[k*n+k+1:], 1, taus[k], own[3*n:])
		}
		transpose(v.data, n, n, n, z, 0, n)
	}
	small := 0x1p-53 * max(amount(d), amount(e))
	for l := 0; l < n; {
		if l = implicitQL(d, e, l, small, turns); l < 0 {
			return -1 - l
		}
		turns.apply(&v)
	}
	for j := range d {
		to := rank(d, j, func(x, y float64) bool { return x < y })
		w[to] = d[j] / scale
		if z != nil {
			row := v.line(j, 0, n)
			sign := signOf(row)
			for i, x := range row {
				z[i*n+to] = sign * x
			}
		}
	}
	return -1
}

// tridiagonal leaves the diagonal in d, what is beside it in e, and the vectors of the reflections in the rows of a, right of the diagonal.
func tridiagonal(a []float64, n int, d, e, taus, p []float64) {
	for k := range n - 1 {
		v, left := a[k*n+k+1:(k+1)*n], n-k-1
		tau := reflector(v, left, 1)
		d[k], e[k], taus[k] = a[k*n+k], v[0], tau
		if tau == 0 {
			continue
		}
		v[0] = 1
		rest := block{a, (k+1)*n + k + 1, n, left, left}
		slabs(left, left, func(from, to int) { // p = tau·A·v
			w := p[from:to]
			clear(w)
			for i, f := range v {
				minusRow(w, rest.line(i, from, to), -f)
			}
			for j := range w {
				w[j] *= tau
			}
		})
		w := p[:left]
		minusRow(w, v, 0.5*tau*dotFours(w, v))
		slabs(2*left, left, func(from, to int) { // A - v·wᵀ - w·vᵀ
			for i, f := range v {
				row := rest.line(i, from, to)
				minusRow(row, w[from:to], f)
				minusRow(row, v[from:to], w[i])
			}
		})
	}
	d[n-1], e[n-1], taus[n-1] = a[n*n-1], 0, 0
}

// implicitQL makes QL steps until the eigenvalues from l on are on the diagonal, with no more than small beside them, or until enough rotations
// wait; it returns the next one to look for, or -1-l if there is no convergence.
func implicitQL(d, e []float64, l int, small float64, turns *rotations) int {
	n := len(d)
	for sweeps := 0; l < n; {
		m := l
		for m < n-1 && !(math.Abs(e[m]) <= small) {
			m++
		}
		if m == l {
			l++
			sweeps = 0
			if turns.many() {
				return l
			}
			continue
		}
		if sweeps++; sweeps > sweepsEach {
			return -1 - l
		}
		stepQL(d, e, l, m, turns)
	}
	return l
}

// stepQL is one step on rows l to m.
func stepQL(d, e []float64, l, m int, turns *rotations) {
	g := (d[l+1] - d[l]) / (2 * e[l])
	g = d[m] - d[l] + e[l]/(g+math.Copysign(hypot(g, 1), g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := s*e[i], float64(c*e[i])
		r := hypot(f, g)
		e[i+1] = r
		if r == 0 { // it has split
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = float64((d[i]-g)*s) + float64(2*c*b)
		p = float64(s * r)
		d[i+1] = g + p
		g = float64(c*r) - b
		turns.add(c, -s, i, i+1)
	}
	d[l] -= p
	e[l] = g
	e[m] = 0
}

// rank says where number i goes in an order; equal ones stay in theirs.
func rank(v []float64, i int, before func(x, y float64) bool) (to int) {
	for j, x := range v {
		if before(x, v[i]) || j < i && !before(v[i], x) {
			to++
		}
	}
	return to
}

// signOf is the sign of the largest number, the first of several.
func signOf(v []float64) float64 {
	most, sign := 0.0, 1.0
	for _, x := range v {
		if y := math.Abs(x); y > most {
			most, sign = y, math.Copysign(1, x)
		}
	}
	return sign
}
