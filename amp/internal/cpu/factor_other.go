//go:build !amd64

package cpu

func subtractVec(c []float64, atc, ldc int, a factor, b []float64, atb, ldb int, m, n, k int) int {
	return 0
}

func minusVec(row, x []float64, f float64) int { return 0 }

func divideVec(row []float64, d float64) int { return 0 }
