package cpu

import "unsafe"

// Reverse sets the first words of dst to those of src, the last one first, as far as whole registers go, and returns how many that were.
func Reverse(dst, src []uint32) int {
	n, count := len(src), 8*int(variant())
	if count == 0 || n < count {
		return 0
	}
	n -= n % count
	_ = dst[n-1]
	end := unsafe.Add(unsafe.Pointer(unsafe.SliceData(src)), 4*len(src))
	if count == 16 {
		reverseZ(n/16, end, &dst[0])
	} else {
		reverseY(n/8, end, &dst[0])
	}
	return n
}
