//go:build !amd64

package cpu

func splitRows(f Format, parts, rows, n int, factor float32, src []float32, lds int, dst []uint16, ldd, part int) {
	panic("cpu: no tiles")
}

func splitPairs(pairs, n int, src []float32, lds int, dst []uint32, ldd, part int) {
	panic("cpu: no tiles")
}

func halveF16(high, low, src []uint16) { panic("cpu: no tiles") }
