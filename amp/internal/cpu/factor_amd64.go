package cpu

import "unsafe"

// subtractVec does the tiles of four rows that fill registers and returns how many columns of all m rows are done; m is a multiple of 4.
func subtractVec(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, m, n, k int) int {
	const size = int(unsafe.Sizeof(float64(0)))
	v := variant()
	if v == Generic || k == 0 || m == 0 {
		return 0
	}
	wide, tile := 8, subtractY
	if v == AVX512 {
		wide, tile = 16, subtractZ
	}
	done := n / wide * wide
	for j := 0; j < done; j += wide {
		_ = b[(k-1)*ldb+j+wide-1]
		for i := 0; i < m; i += 4 {
			_, _ = c[(i+3)*ldc+j+wide-1], a[(i+3)*lda+k-1]
			tile(k, &a[i*lda], lda*size, &b[j], ldb*size, &c[i*ldc+j], ldc*size)
		}
	}
	return done
}
