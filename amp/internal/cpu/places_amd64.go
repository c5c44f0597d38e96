package cpu

// evenPlacesVec is EvenPlaces where there is a kernel, and says whether there is.
func evenPlacesVec[E float32 | uint16](f Format, rows, n int, src []float32, lds int, dst []E, ldd int) bool {
	if variant() != AVX512 {
		return false
	}
	switch d := any(dst).(type) {
	case []float32:
		evenPlacesF32(rows, n, &src[0], 4*lds, &d[0], 4*ldd)
	case []uint16:
		if f == F16 {
			evenPlacesF16(rows, n, &src[0], 4*lds, &d[0], 2*ldd)
		} else {
			evenPlacesBF16(rows, n, &src[0], 4*lds, &d[0], 2*ldd)
		}
	}
	return true
}
