package cpu

// SumOf returns the sum of x.
func (io *Line) SumOf(x []float32) float64 {
	var sum [1]float64
	io.SumRows(sum[:], x, len(x), len(x))
	return sum[0]
}

// SumRows sets every sum to that of n elements of a row, with the bits of SumOf. The rows begin at x[0] and lie stride apart.
func (io *Line) SumRows(sums []float64, x []float32, n, stride int) {
	if len(sums) == 0 {
		return
	}
	if n == 0 {
		clear(sums)
		return
	}
	_ = x[(len(sums)-1)*stride+n-1]
	if rowSumsVec(sums, x, n, stride) {
		return
	}
	for i := range sums {
		io.F32[0] = x[i*stride:][:n]
		io.Acc[0] = Lanes{}
		LineSum.Run(n, io)
		sums[i] = io.Acc[0].Sum()
	}
}
