package cpu

import "unsafe"

// packManyY is packMany for AVX2: panels of the widths that its tiles have.
func packManyY[T Float](dst []T, width, n, k int, x *Matrix[T], off, sp int) int {
	if n < 2 || k == 0 || x.Elems == nil && width != ymmF32.cols {
		return 0
	}
	first, last := min(off, off+(k-1)*sp), max(off, off+(k-1)*sp)+n*width-1
	d, apart := unsafe.Pointer(&dst[:n*width*k][0]), width*k*int(unsafe.Sizeof(dst[0]))
	switch {
	case x.Elems != nil:
		_, _ = x.Elems[first], x.Elems[last]
		size := int(unsafe.Sizeof(dst[0]))
		s := unsafe.Pointer(&x.Elems[off])
		switch width * size {
		case 64:
			copyPanels64(k, s, sp*size, d, n, apart)
		case 48:
			copyPanels48(k, s, sp*size, d, n, apart)
		case 24:
			copyPanels24(k, s, sp*size, d, n, apart)
		default:
			return 0
		}
	case x.F16 != nil:
		_, _ = x.F16[first], x.F16[last]
		widenPanelsF16(k, unsafe.Pointer(&x.F16[off]), 2*sp, d, n, apart)
	case x.BF16 != nil:
		_, _ = x.BF16[first], x.BF16[last]
		widenPanelsBF16(k, unsafe.Pointer(&x.BF16[off]), 2*sp, d, n, apart)
	default:
		return 0
	}
	return n
}

// copyPanels copies c rows of src, n elements each, to the panels that they fill, which are width wide and k steps long, and returns how
// many panels that were.
func copyPanels[T Float](dst []T, width, k int, src []T, n, c int) int {
	panels := n / width
	if panels == 0 || c == 0 || variant() != AVX2 {
		return 0
	}
	_, _ = dst[((panels-1)*k+c)*width-1], src[c*n-1]
	size := int(unsafe.Sizeof(dst[0]))
	if width*size != 24 {
		return 0
	}
	copyPanels24(c, unsafe.Pointer(&src[0]), n*size, unsafe.Pointer(&dst[0]), panels, width*k*size)
	return panels
}

// transposePanel is transpose for the rows that it returns, by blocks larger than four rows.
func transposePanel(dst []float32, width, have, k int, src []float32, sy int) int {
	if variant() != AVX2 || sy < 0 || k == 0 {
		return 0
	}
	rows := have &^ 7
	if have == 6 && width == 6 {
		rows = 6
	}
	TransposeRows(rows, k, src, sy, dst, width)
	return rows
}
