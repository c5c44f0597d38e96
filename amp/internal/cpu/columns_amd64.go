package cpu

// A columnKernel does 128 or 16 columns.
type columnKernel[T float32 | uint16] func(rows int, x *T, stride int, c *float32)

// columns does as many columns as fill vectors and returns how many these are. size is that of an element.
func columns[T float32 | uint16](dst []float32, x []T, rows, stride, size int, wide, narrow [AVX512 + 1]columnKernel[T]) int {
	v := variant()
	if v == Generic || rows == 0 || len(dst) < 16 {
		return 0
	}
	_ = x[(rows-1)*stride+len(dst)-1]
	k := 0
	for ; k+128 <= len(dst); k += 128 {
		wide[v](rows, &x[k], stride*size, &dst[k])
	}
	for ; k+16 <= len(dst); k += 16 {
		narrow[v](rows, &x[k], stride*size, &dst[k])
	}
	return k
}

var (
	columnsWide       = [AVX512 + 1]columnKernel[float32]{AVX2: columns128F32Y, AVX512: columns128F32Z}
	columnsNarrow     = [AVX512 + 1]columnKernel[float32]{AVX2: columns16F32Y, AVX512: columns16F32Z}
	columnsWideF16    = [AVX512 + 1]columnKernel[uint16]{AVX2: columns128F16Y, AVX512: columns128F16Z}
	columnsNarrowF16  = [AVX512 + 1]columnKernel[uint16]{AVX2: columns16F16Y, AVX512: columns16F16Z}
	columnsWideBF16   = [AVX512 + 1]columnKernel[uint16]{AVX2: columns128BF16Y, AVX512: columns128BF16Z}
	columnsNarrowBF16 = [AVX512 + 1]columnKernel[uint16]{AVX2: columns16BF16Y, AVX512: columns16BF16Z}
)

func columnsVec(dst, x []float32, rows, stride int) int {
	return columns(dst, x, rows, stride, 4, columnsWide, columnsNarrow)
}

func columnsF16Vec(dst []float32, x []uint16, rows, stride int) int {
	return columns(dst, x, rows, stride, 2, columnsWideF16, columnsNarrowF16)
}

func columnsBF16Vec(dst []float32, x []uint16, rows, stride int) int {
	return columns(dst, x, rows, stride, 2, columnsWideBF16, columnsNarrowBF16)
}

// addToRowsVec adds as many elements as fill vectors and returns how many of each row these are.
func addToRowsVec(c []float32, rows, stride int, x []float32) int {
	n := len(x) &^ 15
	if n == 0 || rows == 0 {
		return 0
	}
	_ = c[(rows-1)*stride+n-1]
	switch variant() {
	case AVX512:
		addToRowsZ(rows, n/16, &x[0], &c[0], 4*stride)
	case AVX2:
		addToRowsY(rows, n/16, &x[0], &c[0], 4*stride)
	default:
		return 0
	}
	return n
}
