package cpu

// SplitRows writes rows of n numbers, times factor, as sums of halves: part p of row r at dst[p·part + r·ldd], as many elements as a multiple
// of 32, zeros at last. A part is what those before leave, rounded: two of float16 hold 22 bits, two of bfloat16 16 and three all 24; what is
// subnormal in bfloat16 is 0. There are two parts, or three of bfloat16. It is for the processors that TileSteps names.
func SplitRows(f Format, parts, rows, n int, factor float32, src []float32, lds int, dst []uint16, ldd, part int) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = src[(rows-1)*lds+n-1], dst[(parts-1)*part+(rows-1)*ldd+up(n, 32)-1]
	splitRows(f, parts, rows, n, factor, src, lds, dst, ldd, part)
}

// SplitPairs writes pairs of rows of n numbers as two bfloat16 each, as SplitRows does, the elements of a pair side by side: part p of pair r
// at dst[p·part + r·ldd], as many elements as a multiple of 16.
func SplitPairs(pairs, n int, src []float32, lds int, dst []uint32, ldd, part int) {
	if pairs == 0 || n == 0 {
		return
	}
	_, _ = src[(2*pairs-1)*lds+n-1], dst[part+(pairs-1)*ldd+up(n, 16)-1]
	splitPairs(pairs, n, src, lds, dst, ldd, part)
}

// HalveF16 writes float16 numbers as the exact sum of two bfloat16, so that tile registers that lack float16 multiply them: the product
// of two numbers is that of their parts, four of them. The low part is zero for zeros alone: for an infinity it is that infinity, and no product of
// a part is NaN where that of the numbers is not. It is for the processors that TileParts names.
func HalveF16(high, low, src []uint16) {
	if n := len(src); n > 0 {
		_, _ = high[n-1], low[n-1]
		halveF16(high, low, src)
	}
}
