package cpu

// EvenPlaces sets dst[r·ldd + 2·i], for r below rows and i below n, to src[r·lds + i], rounded to the halves f if dst has such.
func EvenPlaces[E float32 | uint16](f Format, rows, n int, src []float32, lds int, dst []E, ldd int) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = src[(rows-1)*lds+n-1], dst[(rows-1)*ldd+2*n-2]
	if evenPlacesVec(f, rows, n, src, lds, dst, ldd) {
		return
	}
	var halves [line]uint16
	for r := range rows {
		from, to := src[r*lds:][:n], dst[r*ldd:]
		switch to := any(to).(type) {
		case []float32:
			for i, v := range from {
				to[2*i] = v
			}
		case []uint16:
			for i := 0; i < n; i += line {
				some := halves[:min(line, n-i)]
				if f == F16 {
					NarrowF16(some, from[i:i+len(some)])
				} else {
					NarrowBF16(some, from[i:i+len(some)])
				}
				for k, v := range some {
					to[2*(i+k)] = v
				}
			}
		}
	}
}
