package cpu

// gather is packTable with AVX-512. Table.check has seen the offsets.
func gather(dst []float32, width int, src []float32, along, across []int32) bool {
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
