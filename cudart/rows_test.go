package cudart

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestEveryRowHasKernels: what the CPU computes, the device launches something for. That it does for every dtype and layout is seen where the
// table is walked on the emulator (TestEveryRow of package emulator).
func TestEveryRowHasKernels(t *testing.T) {
	rows := 0
	for o := range amp.Ops() {
		if o.CPU == nil {
			continue
		}
		rows++
		if kernels[o.Name] == nil {
			t.Errorf("%s would run on the host", o.Name)
		}
	}
	if rows < 200 {
		t.Errorf("only %d rows", rows)
	}
}
