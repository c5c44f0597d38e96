package cpu

func maxRows(rows, n int, src []float32, lds int, most []float32) {
	switch v := variant(); {
	case v == AVX512:
		rowMax(rows, n, &src[0], 4*lds, &most[0])
	case v == AVX2 && n >= 8:
		rowMaxY(rows, n, &src[0], 4*lds, &most[0])
	default:
		maxRowsPlain(rows, n, src, lds, most)
	}
}

func maxTileRows(rows, n int, sums []float32, high int, dst []float32, ldd int, most []float32) {
	tileRowMax(rows, n, &sums[0], 128*high, &dst[0], 4*ldd, &most[0])
}

// wideBoolsVec does whole vectors, and returns how many elements those are.
func wideBoolsVec(dst []float32, src []byte) int {
	n := len(dst) / 16
	v := variant()
	if n == 0 || v == Generic {
		return 0
	}
	if v == AVX512 {
		wideBools(n, &src[0], &dst[0])
	} else {
		wideBoolsY(n, &src[0], &dst[0])
	}
	return 16 * n
}
