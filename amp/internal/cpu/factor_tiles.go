package cpu

import "math"

// Products of matrices that are subtracted, each with one rounding, in the order of the steps.

// A factor is what multiplies rows: its element (i, k) is data[off+i*row+k*step].
type factor struct {
	data           []float64
	off, row, step int
}

// minusRow subtracts f times x from row.
func minusRow(row, x []float64, f float64) {
	done := minusVec(row, x, f)
	minusFew(row[done:], x[done:], f)
}

// minusFew is minusRow for rows that fill no register.
func minusFew(row, x []float64, f float64) {
	x = x[:len(row)]
	for j, v := range x {
		row[j] = math.FMA(-f, v, row[j])
	}
}

// divideRow divides row by d.
func divideRow(row []float64, d float64) {
	row = row[divideVec(row, d):]
	for j := range row {
		row[j] /= d
	}
}

// subtract takes a·b from c, m×n, for k columns of a and k rows of b; b and c begin at their first element.
func subtract(c []float64, ldc int, a factor, b []float64, ldb int, m, n, k int) {
	subtractRows(c, 0, ldc, a, b, 0, ldb, m, n, k)
}

// subtractRows is subtract from anywhere in c and b, whose rows may go backwards.
func subtractRows(c []float64, atc, ldc int, a factor, b []float64, atb, ldb int, m, n, k int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	fours := m &^ 3
	done := subtractVec(c, atc, ldc, a, b, atb, ldb, fours, n, k)
	for i := 0; i < fours; i += 4 {
		for j := done; j+2 <= n; j += 2 {
			subtractTile(c, atc+i*ldc+j, ldc, a.from(i), b, atb+j, ldb, k)
		}
	}
	if odd := done + (n-done)&^1; odd < n {
		subtractFew(c, atc+odd, ldc, a, b, atb+odd, ldb, fours, n-odd, k)
	}
	subtractFew(c, atc+fours*ldc, ldc, a.from(fours), b, atb, ldb, m-fours, n, k)
}

// from is a without its first i rows.
func (a factor) from(i int) factor {
	a.off += i * a.row
	return a
}

// subtractTile is subtract for four rows and two columns, whose sums stay in registers.
func subtractTile(c []float64, atc, ldc int, a factor, b []float64, atb, ldb, k int) {
	r0, r1, r2, r3 := c[atc:][:2], c[atc+ldc:][:2], c[atc+2*ldc:][:2], c[atc+3*ldc:][:2]
	s00, s01, s10, s11, s20, s21, s30, s31 := r0[0], r0[1], r1[0], r1[1], r2[0], r2[1], r3[0], r3[1]
	at := a.off
	for range k {
		x, y := b[atb], b[atb+1]
		v := -a.data[at]
		s00, s01 = math.FMA(v, x, s00), math.FMA(v, y, s01)
		v = -a.data[at+a.row]
		s10, s11 = math.FMA(v, x, s10), math.FMA(v, y, s11)
		v = -a.data[at+2*a.row]
		s20, s21 = math.FMA(v, x, s20), math.FMA(v, y, s21)
		v = -a.data[at+3*a.row]
		s30, s31 = math.FMA(v, x, s30), math.FMA(v, y, s31)
		at += a.step
		atb += ldb
	}
	r0[0], r0[1], r1[0], r1[1], r2[0], r2[1], r3[0], r3[1] = s00, s01, s10, s11, s20, s21, s30, s31
}

// subtractFew is subtract for what fills no tile.
func subtractFew(c []float64, atc, ldc int, a factor, b []float64, atb, ldb int, m, n, k int) {
	for i := range m {
		row := c[atc+i*ldc:][:n]
		if n == 1 {
			v := row[0]
			for q := range k {
				v = math.FMA(-a.data[a.off+i*a.row+q*a.step], b[atb+q*ldb], v)
			}
			row[0] = v
			continue
		}
		for q := range k {
			minusRow(row, b[atb+q*ldb:][:n], a.data[a.off+i*a.row+q*a.step])
		}
	}
}
