package cpu

// squaresVec does whole blocks and returns how many elements those are.
func squaresVec(x []float32, lanes *[squareLanes]float64) int {
	n := len(x) / squareLanes
	if n == 0 {
		return 0
	}
	switch variant() {
	case AVX512:
		squaresZ(n, &x[0], lanes)
	case AVX2:
		squaresY(n, &x[0], lanes)
	default:
		return 0
	}
	return n * squareLanes
}
