package amp

import "testing"

// computesOnCPU skips a test whose ops all run on the CPU, whatever the default device is, where that is another one (package remote): the run
// of this package without has found there what it would find, and more of it.
func computesOnCPU(t *testing.T) {
	t.Helper()
	if name := home(); name != "cpu" {
		t.Skipf("computes on the CPU, and the tests are on %s", name)
	}
}
