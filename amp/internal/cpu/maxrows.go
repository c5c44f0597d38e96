package cpu

// MaximumRows sets best, row by row, to LineMaximum of it and each of rows rows. They begin at x[0] and lie stride apart.
func (io *Line) MaximumRows(best, x []float32, rows, stride int) {
	io.extremeRows(&LineMaximum, best, x, rows, stride, true)
}

// MinimumRows is MaximumRows for LineMinimum.
func (io *Line) MinimumRows(best, x []float32, rows, stride int) {
	io.extremeRows(&LineMinimum, best, x, rows, stride, false)
}

func (io *Line) extremeRows(k *LineKernel, best, x []float32, rows, stride int, largest bool) {
	if len(best) == 0 || rows == 0 {
		return
	}
	_ = x[(rows-1)*stride+len(best)-1]
	high, wide := extremeRowsVec(best, x, rows, stride, largest)
	for i := range rows {
		from := 0
		if i < high {
			from = wide
		}
		if n := len(best) - from; n > 0 {
			io.F32[0], io.F32[1], io.F32[2] = best[from:], x[i*stride+from:][:n], best[from:]
			k.Run(n, io)
		}
	}
}
