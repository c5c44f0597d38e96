//go:build !amd64

package cpu

func kernelF32() *kernel[float32] {
	if reproducible() {
		return &exactF32
	}
	return &genericF32
}

func kernelF64() *kernel[float64] {
	if reproducible() {
		return &exactF64
	}
	return &genericF64
}

// transpose4 transposes what it can of four rows and returns how many steps that were.
func transpose4[T Float](dst []T, width int, src []T, sy, k int) int { return 0 }

// copyRows copies k rows of n elements.
func copyRows[T Float](dst []T, ldd int, src []T, lds, n, k int) {
	for p := range k {
		copy(dst[p*ldd:p*ldd+n], src[p*lds:])
	}
}

// transpose2 is transpose4 for two rows.
func transpose2[T Float](dst []T, width int, src []T, sy, k int) int { return 0 }
