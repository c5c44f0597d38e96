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
	v := variant()
	if v == Generic || n == 0 {
		return 0
	}
	arg := [3]float64{0x1p-64, scale, shift}
	if v == AVX512 {
		uniformsZ(n, &numbers[0], &dst[0], &arg)
	} else {
		uniformsY(n, &numbers[0], &dst[0], &arg)
	}
	return 8 * n
}

// wholeVec does whole registers and returns how many numbers that were.
func wholeVec(dst []int64, u []float64, lo, span int64) int {
	n := len(u) / 8
	v := variant()
	if v == Generic || n == 0 {
		return 0
	}
	if v == AVX2 {
		const mark = 1 << 52 // in the sum with it a whole number is in the last bits of a float64
		if span > mark {
			return 0
		}
		wholeY(n, &u[0], &dst[0], &[3]uint64{math.Float64bits(float64(span)), math.Float64bits(float64(span - 1)), uint64(lo) - math.Float64bits(mark)})
		return 8 * n
	}
	wholeZ(n, &u[0], &dst[0], &[3]uint64{math.Float64bits(float64(span)), uint64(span - 1), uint64(lo)})
	return 8 * n
}
