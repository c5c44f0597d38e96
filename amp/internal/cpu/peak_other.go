//go:build !amd64

package cpu

// Peak is unknown where the kernels are plain Go: 0.
func Peak(int) float64 { return 0 }

// PeakDot is unknown as well.
func PeakDot(int, Format) float64 { return 0 }

// ReadAll and Rewrite have no loops to measure with either.
func ReadAll([]byte) bool { return false }

// Rewrite is described at ReadAll.
func Rewrite([]byte) bool { return false }
