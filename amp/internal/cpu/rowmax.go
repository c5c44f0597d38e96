package cpu

import "math"

// MaxRows sets most[r] to the largest of n elements of row r, NaN aside, minus infinity if there is none. Rows lie lds apart.
func MaxRows(rows, n int, src []float32, lds int, most []float32) {
	if rows == 0 {
		return
	}
	if n == 0 {
		for r := range rows {
			most[r] = float32(math.Inf(-1))
		}
		return
	}
	_, _ = src[(rows-1)*lds+n-1], most[rows-1]
	maxRows(rows, n, src, lds, most)
}

// MaxTileRows is MaxRows for rows of tiles, as TileProduct leaves them, of high rows, and copies them to dst, ldd apart. It is for the processors
// that TileSteps names.
func MaxTileRows(rows, n int, sums []float32, high int, dst []float32, ldd int, most []float32) {
	if rows == 0 || n == 0 {
		return
	}
	_, _, _ = sums[(n-1)/32*32*high+32*rows-1], dst[(rows-1)*ldd+n-1], most[rows-1]
	maxTileRows(rows, n, sums, high, dst, ldd, most)
}

func maxRowsPlain(rows, n int, src []float32, lds int, most []float32) {
	for r := range rows {
		m := float32(math.Inf(-1))
		for _, v := range src[r*lds:][:n] {
			if v > m {
				m = v
			}
		}
		most[r] = m
	}
}

// WidenBools sets dst to 1 where a byte of src is not 0, else to 0.
func WidenBools(dst []float32, src []byte) {
	src = src[:len(dst)]
	for i := wideBoolsVec(dst, src); i < len(dst); i++ {
		dst[i] = float32(min(src[i], 1))
	}
}
