package cpu

// powersVec does whole registers of dst and returns how many numbers that were.
func powersVec(dst, x, y []float32) int {
	v := variant()
	if v == Generic || len(dst) < 4*int(v) {
		return 0
	}
	n := len(dst) / (4 * int(v))
	if v == AVX512 {
		powersZ(n, &x[0], &y[0], &dst[0])
	} else {
		powersY(n, &x[0], &y[0], &dst[0])
	}
	return 4 * int(v) * n
}
