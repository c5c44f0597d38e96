package cpu

import "math"

// polarVec sets radius to minus the first and angle to 2π times the second uniform number of each block, in whole registers, and returns
// how many that were.
func polarVec(radius, angle []float64, numbers []uint32) int {
	n := len(radius) / 8
	v := variant()
	if v == Generic || n == 0 {
		return 0
	}
	if v == AVX512 {
		polarZ(n, &numbers[0], &radius[0], &angle[0], &polarConstants)
	} else {
		polarY(n, &numbers[0], &radius[0], &angle[0], &polarConstants)
	}
	return 8 * n
}

// polarConstants: factors of radius and angle, and which lanes of two registers hold each.
var polarConstants = [18]uint64{math.Float64bits(-0x1p-64), math.Float64bits(0x1p-64), 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15}

// planeVec writes pairs of numbers, in whole registers, and returns how many pairs that were.
func planeVec(dst, radius, sin, cos []float64, mean, std float64) int {
	n := len(dst) / 16
	v := variant()
	if v == Generic || n == 0 {
		return 0
	}
	arg := [19]uint64{math.Float64bits(-2), math.Float64bits(mean), math.Float64bits(std), 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15}
	if v == AVX512 {
		planeZ(n, &radius[0], &sin[0], &cos[0], &dst[0], &arg)
	} else {
		planeY(n, &radius[0], &sin[0], &cos[0], &dst[0], &arg)
	}
	return 8 * n
}

// sinCosVec does whole registers where there is a form for both at once, and returns how many numbers that were.
func sinCosVec(sin, cos, angle []float64) int {
	n := len(angle) / 4
	if variant() != AVX2 || n == 0 {
		return 0
	}
	sinCosY(n, &angle[0], &sin[0], &cos[0])
	return 4 * n
}
