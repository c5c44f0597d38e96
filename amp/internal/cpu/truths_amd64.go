package cpu

// truthsVec does whole blocks and returns how many elements that were.
func truthsVec(dst []uint8, src []float32) int {
	v := variant()
	block := 8 * int(v)
	if v == Generic || len(src) < block {
		return 0
	}
	n := len(src) / block
	if v == AVX512 {
		truthsZ(n, &src[0], &dst[0])
	} else {
		truthsY(n, &src[0], &dst[0])
	}
	return n * block
}
