package cpu

// The functions below do a whole number of vectors of every row and return how many elements that were; the caller does the rest.

func widenRowsVec(dst []float32, ldd int, src []uint16, lds, rows, n int, f16 bool) int {
	convert, lanes := widenBF16RowsY, 8
	switch v := variant(); {
	case v == AVX512 && n >= 16 && f16:
		convert, lanes = widenF16RowsZ, 16
	case v == AVX512 && n >= 16:
		convert, lanes = widenBF16RowsZ, 16
	case v == Generic || n < 8:
		return 0
	case f16:
		convert = widenF16RowsY
	}
	convert(rows, n/lanes, &src[0], 2*lds, &dst[0], 4*ldd)
	return n / lanes * lanes
}

func narrowRowsVec(dst []uint16, ldd int, src []float32, lds, rows, n int, f16 bool) int {
	convert, lanes := narrowBF16RowsY, 8
	switch v := variant(); {
	case v == AVX512 && n >= 16 && f16:
		convert, lanes = narrowF16RowsZ, 16
	case v == AVX512 && n >= 16:
		convert, lanes = narrowBF16RowsZ, 16
	case v == Generic || n < 8:
		return 0
	case f16:
		convert = narrowF16RowsY
	}
	convert(rows, n/lanes, &src[0], 4*lds, &dst[0], 2*ldd)
	return n / lanes * lanes
}
