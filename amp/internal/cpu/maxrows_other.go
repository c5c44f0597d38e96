//go:build !amd64

package cpu

func extremeRowsVec([]float32, []float32, int, int, bool) (high, wide int) { return 0, 0 }
