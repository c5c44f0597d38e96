//go:build long

package notebook_test

import (
	"path/filepath"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
)

// TestKernelsNowhere: where neither a GPU nor the emulator opens, every cell of the ninth tutorial runs and says what it needs.
func TestKernelsNowhere(t *testing.T) {
	t.Setenv("HALFTONE_CUDA", "none") // no driver opens, and the notebook leaves alone what the user has set
	r, err := execute(t, filepath.Join(testenv.Checkout(t), "notebooks", "09-cuda-kernels.ipynb"))
	if err != nil {
		t.Fatalf("%v\n%s", err, r.text)
	}
	if kernelsRun(t, r.nb) {
		t.Errorf("kernels ran: %s", printed(t, r.nb, "device"))
	}
}
