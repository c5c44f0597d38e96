package cpu

import "math"

// narrow64Vec does whole blocks and returns how many elements that were.
func narrow64Vec(dst []float32, src []float64) int {
	v := variant()
	if v == Generic || len(src) < 8*int(v) {
		return 0
	}
	n := len(src) / (8 * int(v))
	if v == AVX512 {
		narrow64Z(n, &src[0], &dst[0])
	} else {
		narrow64Y(n, &src[0], &dst[0])
	}
	return 8 * int(v) * n
}

// uniformsVec does whole registers and returns how many numbers that were.
func uniformsVec(dst []float64, numbers []uint32, shift, scale float64) int {
	n := len(dst) / 8
	if variant() != AVX512 || n == 0 {
		return 0
	}
	uniformsZ(n, &numbers[0], &dst[0], &[3]float64{0x1p-64, scale, shift})
	return 8 * n
}

// wholeVec does whole registers and returns how many numbers that were.
func wholeVec(dst []int64, u []float64, lo, span int64) int {
	n := len(u) / 8
	if variant() != AVX512 || n == 0 {
		return 0
	}
	wholeZ(n, &u[0], &dst[0], &[3]uint64{math.Float64bits(float64(span)), uint64(span - 1), uint64(lo)})
	return 8 * n
}
