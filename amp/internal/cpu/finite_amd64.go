package cpu

// unscaleVec does whole blocks up to the first with a number that is not finite, and returns how many elements that were.
func unscaleVec(x []float32, k float32) int {
	v := variant()
	block := 32 * int(v)
	if v == Generic || len(x) < block {
		return 0
	}
	n := len(x) / block
	var left int
	switch {
	case k == 1 && v == AVX512:
		finiteZ(n, &x[0], &left)
	case k == 1:
		finiteY(n, &x[0], &left)
	case v == AVX512:
		unscaleZ(n, &x[0], &left, &k)
	default:
		unscaleY(n, &x[0], &left, &k)
	}
	return (n - left) * block
}
