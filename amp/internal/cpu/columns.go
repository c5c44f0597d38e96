package cpu

// SumColumns sets dst to the sums of the columns of a matrix of len(dst) columns: each is added up in float32 in the order of its rows,
// from 0 on. The matrix begins at x[0], and its rows lie stride apart.
func SumColumns(dst, x []float32, rows, stride int) {
	n := columnsVec(dst, x, rows, stride)
	addColumns(dst[n:], rows, func(i int, acc []float32) {
		for k, v := range x[i*stride+n:][:len(acc)] {
			acc[k] += v
		}
	})
}

// SumColumnsF16 is SumColumns for binary16.
func SumColumnsF16(dst []float32, x []uint16, rows, stride int) {
	n := columnsF16Vec(dst, x, rows, stride)
	addColumns(dst[n:], rows, func(i int, acc []float32) {
		for k, v := range x[i*stride+n:][:len(acc)] {
			acc[k] += F16ToF32(v)
		}
	})
}

// SumColumnsBF16 is SumColumns for bfloat16.
func SumColumnsBF16(dst []float32, x []uint16, rows, stride int) {
	n := columnsBF16Vec(dst, x, rows, stride)
	addColumns(dst[n:], rows, func(i int, acc []float32) {
		for k, v := range x[i*stride+n:][:len(acc)] {
			acc[k] += BF16ToF32(v)
		}
	})
}

func addColumns(acc []float32, rows int, add func(i int, acc []float32)) {
	clear(acc)
	if len(acc) == 0 {
		return
	}
	for i := range rows {
		add(i, acc)
	}
}

// AddTo adds x to sum, of the same length. It keeps nothing between calls: several workers may use it for their parts of a row.
func AddTo[T Float](sum, x []T) { addToRows(sum, 1, len(x), x) }

// addToRows adds x to rows rows of c, stride apart.
func addToRows[T Float](c []T, rows, stride int, x []T) {
	n := 0
	if short, ok := any(c).([]float32); ok {
		n = addToRowsVec(short, rows, stride, any(x).([]float32))
	}
	if n == len(x) {
		return
	}
	for i := range rows {
		row := c[i*stride+n:][:len(x)-n]
		for k, v := range x[n:] {
			row[k] += v
		}
	}
}
