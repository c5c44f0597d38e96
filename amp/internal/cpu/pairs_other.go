//go:build !amd64

package cpu

// PairProducts is false on these processors, so nothing here is called.

func PairProduct[E float32 | uint16](rows int, a, b []uint32, steps *StepTable, cols []StepColumn, out []E, row int, bias []float32, add bool) {
	panic("cpu: no step kernels")
}

func FiniteBF16(x []uint16) bool { panic("cpu: no step kernels") }
