//go:build !amd64

package cpu

func maxRows(rows, n int, src []float32, lds int, most []float32) {
	maxRowsPlain(rows, n, src, lds, most)
}

func maxTileRows(rows, n int, sums []float32, high int, dst []float32, ldd int, most []float32) {
	panic("cpu: no tiles")
}

func wideBoolsVec(dst []float32, src []byte) int { return 0 }
