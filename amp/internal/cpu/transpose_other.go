//go:build !amd64

package cpu

// Transpose does nothing where there are no vectors.
func Transpose(dst, src []uint32, rows, columns, lds, ldd int) (doneRows, doneColumns int) {
	return 0, 0
}

// TransposeHalves does nothing where there are no vectors.
func TransposeHalves(dst, src []uint16, rows, columns, lds, ldd int) (doneRows, doneColumns int) {
	return 0, 0
}
