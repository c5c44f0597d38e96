package cpu

// widenRows sets rows of n numbers, ldd apart, to those of src, lds apart: float16, or else bfloat16.
func widenRows(dst []float32, ldd int, src []uint16, lds, rows, n int, f16 bool) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = dst[(rows-1)*ldd+n-1], src[(rows-1)*lds+n-1]
	if ldd == n && lds == n {
		rows, n = 1, rows*n
	}
	done := widenRowsVec(dst, ldd, src, lds, rows, n, f16)
	if done == n {
		return
	}
	for y := range rows {
		if d, s := dst[y*ldd+done:y*ldd+n], src[y*lds+done:y*lds+n]; f16 {
			WidenF16(d, s)
		} else {
			WidenBF16(d, s)
		}
	}
}

// WidenRows sets rows of n numbers, ldd apart, to those of src, halves that lie lds apart.
func WidenRows(f Format, dst []float32, ldd int, src []uint16, lds, rows, n int) {
	widenRows(dst, ldd, src, lds, rows, n, f == F16)
}

// NarrowRows is the way back: it rounds to the nearest.
func NarrowRows(f Format, dst []uint16, ldd int, src []float32, lds, rows, n int) {
	narrowRows(dst, ldd, src, lds, rows, n, f == F16)
}

// narrowRows is the way back: it rounds to the nearest.
func narrowRows(dst []uint16, ldd int, src []float32, lds, rows, n int, f16 bool) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = dst[(rows-1)*ldd+n-1], src[(rows-1)*lds+n-1]
	if ldd == n && lds == n {
		rows, n = 1, rows*n
	}
	done := narrowRowsVec(dst, ldd, src, lds, rows, n, f16)
	if done == n {
		return
	}
	for y := range rows {
		if d, s := dst[y*ldd+done:y*ldd+n], src[y*lds+done:y*lds+n]; f16 {
			NarrowF16(d, s)
		} else {
			NarrowBF16(d, s)
		}
	}
}
