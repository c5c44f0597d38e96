//go:build !amd64

package cpu

func packWide(dst []float32, width, have, k int, x *Matrix[float32], off, sy, sp int) bool {
	return false
}

func packMany[T Float]([]T, int, int, int, *Matrix[T], int, int) int { return 0 }

// copyPanels copies rows to the panels that they fill.
func copyPanels[T Float](dst []T, width, k int, src []T, n, c int) int { return 0 }

// transposePanel is transpose for some rows.
func transposePanel(dst []float32, width, have, k int, src []float32, sy int) int { return 0 }
