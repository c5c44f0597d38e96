package cpu

// What follows the last product of a block of the result, all of its rows at a time: a call for each row of a few elements took longer than
// the product.

// finish is done for rows rows of cols columns at c, of which c starts with the first and which are ldc apart. lent says that c is the
// worker's own and may be changed beyond what is asked for.
func (g *product[T]) finish(i, rows, j, cols int, c []T, ldc int, lent bool) {
	o := &g.out
	if r, ok := any(c).([]float32); ok && (o.F16 != nil || o.BF16 != nil) && o.Done == nil && o.rows == nil && o.RowBias == nil && o.Fold.Len == 0 && rows > 0 && cols > 0 {
		if o.Bias != nil {
			addToRows(c, rows, ldc, o.Bias[j:j+cols])
		}
		o.round(i, rows, j, cols, r, ldc, lent)
		return
	}
	for y := range rows {
		g.done(i+y, j, c[y*ldc:y*ldc+cols])
	}
}

// round stores sums as halves.
func (o *Result[T]) round(i, rows, j, cols int, c []float32, ldc int, lent bool) {
	dst, f16 := o.BF16, o.F16 != nil
	if f16 {
		dst = o.F16
	}
	dst = dst[o.Off+i*o.Row+j:]
	if cols >= 8 || o.Row != cols || ldc != cols && !lent {
		narrowRows(dst, o.Row, c, ldc, rows, cols, f16)
		return
	}
	if ldc != cols { // rows too short for a vector are made one that is not
		for y := 1; y < rows; y++ {
			for x := range cols {
				c[y*cols+x] = c[y*ldc+x]
			}
		}
	}
	narrowRows(dst, rows*cols, c, rows*cols, 1, rows*cols, f16)
}
