//go:build !amd64

package cpu

func subtractVec(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, m, n, k int) int {
	return 0
}
