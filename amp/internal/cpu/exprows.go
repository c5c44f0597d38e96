package cpu

// ExpRows are rows of scores of which the exponentials are wanted. Assembly knows its layout.
type ExpRows struct {
	count, blocks int
	src           *float32
	lds           int
	top, sum      *float32
	dst           *uint16
	ldd, part     int
	scale, factor float32
}

// Run computes e^(x·scale - top[r]) for n elements x of row r, rows lds apart, with x·scale ≤ top[r] for a positive scale, 0 where that is below
// the normal numbers, and writes the sum of each row to sum. n is a multiple of 32. The exponentials replace the scores, with NoHalf, or go
// to dst as SplitRows writes two parts: of float16 times factor, of bfloat16 as they are. It is for the processors that TileSteps names.
func (r *ExpRows) Run(f Format, rows, n int, scale, factor float32, src []float32, lds int, top, sum []float32, dst []uint16, ldd, part int) {
	if rows == 0 || n == 0 {
		clear(sum[:rows])
		return
	}
	_, _, _ = src[(rows-1)*lds+n-1], top[rows-1], sum[rows-1]
	*r = ExpRows{count: rows, blocks: n / 32, src: &src[0], lds: 4 * lds, top: &top[0], sum: &sum[0], scale: scale, factor: factor}
	if f != NoHalf {
		_ = dst[part+(rows-1)*ldd+n-1]
		r.dst, r.ldd, r.part = &dst[0], 2*ldd, 2*part
	}
	r.run(f)
	*r = ExpRows{} // hold on to nothing
}
