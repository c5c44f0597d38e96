package cpu

// NarrowF64 rounds src to float32.
func NarrowF64(dst []float32, src []float64) {
	dst = dst[:len(src)]
	for i := narrow64Vec(dst, src); i < len(src); i++ {
		dst[i] = float32(src[i])
	}
}

// Uniforms fills dst with shift + scale·u for numbers u in [0,1] of 64 random bits each, two of each block of Philox.
func Uniforms(dst []float64, seed, block uint64, shift, scale float64) {
	s := normals.Get().(*normalScratch)
	for len(dst) > 0 {
		n := min((len(dst)+1)/2, normalPairs)
		part, numbers := dst[:min(len(dst), 2*n)], s.numbers[:4*n]
		Philox(numbers, seed, block)
		for i := uniformsVec(part, numbers, shift, scale); i < len(part); i++ {
			part[i] = shift + float64(scale*Uniform(numbers[2*i], numbers[2*i+1]))
		}
		dst, block = dst[len(part):], block+uint64(n)
	}
	normals.Put(s)
}

// Whole sets dst to the whole numbers from lo on that numbers u in [0,1] are by u·span without its fraction, below lo + span; span is from
// 1 to 2^53.
func Whole(dst []int64, u []float64, lo, span int64) {
	dst = dst[:len(u)]
	n, rate := wholeVec(dst, u, lo, span), float64(span)
	for i, v := range u[n:] {
		dst[n+i] = lo + min(int64(v*rate), span-1)
	}
}
