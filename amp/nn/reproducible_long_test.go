//go:build long

package nn_test

import "testing"

// TestReproducibleModels: in reproducible mode every variant of the kernels gives the same bits.
func TestReproducibleModels(t *testing.T) {
	sameDigests(t, "HALFTONE_CPU=reproducible", "HALFTONE_CPU=avx2,reproducible", "HALFTONE_CPU=generic,reproducible")
}
