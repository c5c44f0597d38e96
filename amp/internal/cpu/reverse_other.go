//go:build !amd64

package cpu

// Reverse does nothing where there are no vectors.
func Reverse(dst, src []uint32) int { return 0 }
