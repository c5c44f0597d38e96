package cpu

// Transpose writes the transposed of columns × rows words, which lie lds apart in src, to rows of columns words that lie ldd apart in dst, as far
// as squares of 16 go, and returns how many rows and columns that were: dst[i·ldd+j] = src[j·lds+i].
func Transpose(dst, src []uint32, rows, columns, lds, ldd int) (doneRows, doneColumns int) {
	doneRows, doneColumns = rows&^15, columns&^15
	v := variant()
	if v == Generic || doneRows == 0 || doneColumns == 0 {
		return 0, 0
	}
	squares := transposeY
	if v == AVX512 {
		squares = transposeZ
	}
	_, _ = dst[(doneRows-1)*ldd+doneColumns-1], src[(doneColumns-1)*lds+doneRows-1]
	for i := 0; i < doneRows; i += 16 {
		squares(doneColumns/16, &src[i], 4*lds, 16*4*lds, &dst[i*ldd], 4*ldd)
	}
	return doneRows, doneColumns
}

// halvesAcross is how many columns of halves are turned at a time: two squares share the cache lines of their rows, which stay near meanwhile.
const halvesAcross = 256

// TransposeHalves is Transpose for words of 16 bits.
func TransposeHalves(dst, src []uint16, rows, columns, lds, ldd int) (doneRows, doneColumns int) {
	doneRows, doneColumns = rows&^15, columns&^15
	v := variant()
	if v == Generic || doneRows == 0 || doneColumns == 0 {
		return 0, 0
	}
	turn := transposeHalvesY
	if v == AVX512 {
		turn = transposeHalvesZ
	}
	_, _ = dst[(doneRows-1)*ldd+doneColumns-1], src[(doneColumns-1)*lds+doneRows-1]
	for j := 0; j < doneColumns; j += halvesAcross {
		squares := min(halvesAcross, doneColumns-j) / 16
		for i := 0; i < doneRows; i += 16 {
			turn(squares, &src[j*lds+i], 2*lds, 16*2*lds, &dst[i*ldd+j], 2*ldd)
		}
	}
	return doneRows, doneColumns
}
