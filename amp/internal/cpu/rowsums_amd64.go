package cpu

// rowSumMask is read from where as many ones are left as a row's last block has elements.
var rowSumMask = func() (m [2 * lineLanes]int32) {
	for i := range lineLanes {
		m[i] = -1
	}
	return m
}()

// rowSumAhead is how many bytes ahead rows that follow one another are brought into the cache.
const rowSumAhead = 8192

// rowSumsVec says whether it has done the rows.
func rowSumsVec(sums []float64, x []float32, n, stride int) bool {
	if variant() != AVX2 {
		return false
	}
	ahead := rowSumAhead
	if stride != n { // the next row
		ahead = 4 * stride
	}
	rowSumsY(len(sums), n, &x[0], 4*stride, ahead, &sums[0], &rowSumMask[0])
	return true
}
