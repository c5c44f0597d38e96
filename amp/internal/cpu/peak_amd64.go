package cpu

import "math"

// peakHalves returns numbers between -1 and 1 for the loops: as many as four tile registers hold.
func peakHalves(f Format) (x [4 * 512]uint16) {
	for i := range x {
		if x[i] = uint16(math.Float32bits(peakNumber(i)) >> 16); f == F16 {
			x[i] = F32ToF16(peakNumber(i))
		}
	}
	return x
}

func peakNumbers() (x [64]float32) {
	for i := range x {
		x[i] = peakNumber(i)
	}
	return x
}

// peakNumber is as good as random: a hash of i.
func peakNumber(i int) float32 {
	u := uint32(i+1) * 2654435769
	u = (u ^ u>>15) * 2246822519
	return float32(int32(u^u>>13)) / (1 << 31)
}

// Peak runs about n multiply-adds of vectors of float32 and returns how many operations, two per multiply-add and lane, that were; 0 for the
// generic variant, which has no vectors. It is for benchmarks.
func Peak(n int) float64 {
	n = n/12 + 1
	switch variant() {
	case AVX512:
		x := peakNumbers()
		peakF32Z(n, &x[0])
		return float64(n) * 12 * 16 * 2
	case AVX2:
		x := peakNumbers()
		peakF32Y(n, &x[0])
		return float64(n) * 12 * 8 * 2
	}
	return 0
}

// PeakDot is Peak of the instruction that multiplies halves, about n of it; where halves are widened it is Peak.
func PeakDot(n int, f Format) float64 {
	d := CurrentDot()
	switch {
	case d == Tiles && f == BF16:
		n = n/4 + 1
		x := peakHalves(BF16)
		peakTilesBF16(n, tileConfig, &x[0])
		return float64(n) * 4 * 16 * 16 * 32 * 2
	case d == Tiles && f == F16 && hasTilesF16():
		n = n/4 + 1
		x := peakHalves(F16)
		peakTilesF16(n, tileConfig, &x[0])
		return float64(n) * 4 * 16 * 16 * 32 * 2
	case d == Tiles: // four products of parts
		return PeakDot(n, BF16) / 4
	case d == Pairs && f == BF16:
		n = n/12 + 1
		x := peakHalves(BF16)
		peakPairs(n, &x[0])
		return float64(n) * 12 * 32 * 2
	}
	return Peak(n)
}

// ReadAll reads the bytes of x, a multiple of 256, and Rewrite writes what it reads in place; false for the generic variant.
func ReadAll(x []byte) bool {
	switch variant() {
	case AVX512:
		readAllZ(len(x)/256, &x[0])
	case AVX2:
		readAllY(len(x)/128, &x[0])
	default:
		return false
	}
	return true
}

// Rewrite is described at ReadAll.
func Rewrite(x []byte) bool {
	switch variant() {
	case AVX512:
		rewriteAllZ(len(x)/256, &x[0])
	case AVX2:
		rewriteAllY(len(x)/128, &x[0])
	default:
		return false
	}
	return true
}
