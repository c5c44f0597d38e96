//go:build long

package amp

import "testing"

// TestFarApart is TestFarApartOnDevice on the CPU.
func TestFarApart(t *testing.T) {
	if home() != "cpu" {
		t.Skip("the tests run on ", home())
	}
	compareFar(t, home())
}
