package cpu

// Truths sets each byte of dst to 0 where the number in src is 0, else to 1.
func Truths(dst []uint8, src []float32) {
	dst = dst[:len(src)]
	for i := truthsVec(dst, src); i < len(src); i++ {
		dst[i] = 0
		if src[i] != 0 {
			dst[i] = 1
		}
	}
}
