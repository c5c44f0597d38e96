package cpu

import (
	"math"
	"unsafe"
)

// gather is packTable with AVX-512, or with AVX2 where that pays. Table.check has seen the offsets.
func gather(dst []float32, width int, src []float32, along, across []int32) bool {
	if variant() == AVX2 {
		return gatherRuns(dst, width, src, along, across)
	}
	if variant() != AVX512 || width > 32 || len(along) == 0 {
		return false
	}
	k, have := len(along), len(across)
	_ = dst[k*width-1]
	if width == 32 && have == 32 && inEights(across) {
		gatherEights(k, &src[0], &along[0], &across[0], &dst[0])
		return true
	}
	var at [32]int32
	copy(at[:], across)
	if width > 16 {
		gatherRows2(k, &src[0], &along[0], &at[0], &dst[0], 4*width, mask(have), mask(width))
	} else {
		gatherRows1(k, &src[0], &along[0], &at[0], &dst[0], 4*width, mask(have), mask(width))
	}
	return true
}

// inEights says whether every eight offsets are neighbors.
func inEights(at []int32) bool {
	for i, v := range at {
		if v != at[i&^7]+int32(i&7) {
			return false
		}
	}
	return true
}

// gatherPairs sets dst[32·p+y], for p below lanes, to the pair of elements src[along[2p]+across[y]] and src[along[2p+1]+across[y]], which
// are numbers of the format; what lies beyond along and across is zero.
func gatherPairs(dst []float32, lanes int, src []float32, along, across []int32, f Format) {
	pairs, have := len(along)/2, len(across)
	if (len(along)+1)/2 < lanes || len(along)&1 == 1 {
		clear(dst[len(along)/2*32 : 32*lanes])
	}
	_ = dst[32*lanes-1]
	if len(along)&1 == 1 {
		row := unsafe.Slice((*uint32)(unsafe.Pointer(&dst[32*pairs])), 32)
		for y, off := range across {
			v := src[along[2*pairs]+off]
			if row[y] = math.Float32bits(v) >> 16; f == F16 {
				row[y] = uint32(F32ToF16(v))
			}
		}
	}
	if pairs == 0 {
		return
	}
	var at [32]int32
	copy(at[:], across)
	switch {
	case have == 32 && inEights(across) && f == F16:
		gatherPairEightsF16(pairs, &src[0], &along[0], &at[0], &dst[0])
	case have == 32 && inEights(across):
		gatherPairEightsBF16(pairs, &src[0], &along[0], &at[0], &dst[0])
	case f == F16:
		gatherPairsF16(pairs, &src[0], &along[0], &at[0], &dst[0], mask(have))
	default:
		gatherPairsBF16(pairs, &src[0], &along[0], &at[0], &dst[0], mask(have))
	}
}
