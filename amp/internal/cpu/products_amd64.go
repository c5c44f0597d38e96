package cpu

// productsVec does whole blocks and returns how many elements those are.
func productsVec(x []float32, p *factors) int {
	n := len(x) / productLanes
	if n == 0 {
		return 0
	}
	switch variant() {
	case AVX512:
		productsZ(n, &x[0], &p.lanes, &p.low, &p.high)
	case AVX2:
		productsY(n, &x[0], &p.lanes, &p.low, &p.high)
	default:
		return 0
	}
	return n * productLanes
}
