//go:build !amd64

package cpu

func evenPlacesVec[E float32 | uint16](f Format, rows, n int, src []float32, lds int, dst []E, ldd int) bool {
	return false
}
