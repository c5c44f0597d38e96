package cpu

import "unsafe"

// subtractVec does the tiles of four rows that fill registers and returns how many columns of all m rows are done; m is a multiple of 4.
func subtractVec(c []float64, atc, ldc int, a factor, b []float64, atb, ldb int, m, n, k int) int {
	v := variant()
	if v == Generic || m == 0 {
		return 0
	}
	done := 0
	for wide, tile := 16, subtractZ; wide >= 8; wide, tile = wide/2, subtractY {
		if wide == 16 && v != AVX512 {
			continue
		}
		for ; done+wide <= n; done += wide {
			subtractPanel(tile, wide, c, atc+done, ldc, a, b, atb+done, ldb, m, k)
		}
	}
	return done
}

// subtractPanel does the tiles of so many columns.
func subtractPanel(tile func(k int, a *float64, lda, step int, b *float64, ldb int, c *float64, ldc int), wide int,
	c []float64, atc, ldc int, a factor, b []float64, atb, ldb int, m, k int) {
	const size = int(unsafe.Sizeof(float64(0)))
	_, _ = b[atb:][wide-1], b[atb+(k-1)*ldb:][wide-1]
	for i := 0; i < m; i += 4 {
		at, first := atc+i*ldc, a.off+i*a.row
		_, _ = c[at:][wide-1], c[at+3*ldc:][wide-1]
		_, _, _ = a.data[first+3*a.row], a.data[first+(k-1)*a.step], a.data[first+3*a.row+(k-1)*a.step]
		tile(k, &a.data[first], a.row*size, a.step*size, &b[atb], ldb*size, &c[at], ldc*size)
	}
}

// minusVec is minusRow for the leading elements that fill registers; it returns how many those are.
func minusVec(row, x []float64, f float64) int {
	v, wide := variant(), lanes64()
	n := len(row) / wide
	if n == 0 || v == Generic {
		return 0
	}
	_ = x[n*wide-1]
	if v == AVX512 {
		minusZ(n, &f, &x[0], &row[0])
	} else {
		minusY(n, &f, &x[0], &row[0])
	}
	return n * wide
}

// divideVec is divideRow for the leading elements that fill registers.
func divideVec(row []float64, d float64) int {
	v, wide := variant(), lanes64()
	n := len(row) / wide
	if n == 0 || v == Generic {
		return 0
	}
	if v == AVX512 {
		overZ(n, &d, &row[0])
	} else {
		overY(n, &d, &row[0])
	}
	return n * wide
}

// lanes64 is how many numbers a register holds.
func lanes64() int {
	if variant() == AVX512 {
		return 8
	}
	return 4
}
