//go:build linux && (amd64 || arm64)

package emulator

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart"
)

// TestProductsOnNewerDevice runs package cudart's test of products with the shared memory of a device of capability 9.0, which has room for
// blocks and stages that the emulator's usual one has not.
func TestProductsOnNewerDevice(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the tests of package cudart")
	}
	useEmulator(t)
	cmd := exec.CommandContext(t.Context(), testProgram(t, "cudart"), "-test.v", "-test.timeout=10m", `-test.run=^TestProductsOnTensorCores$/^\[256_196608\]$`)
	cmd.Dir = filepath.Join("..", "..", "cudart")
	cmd.Env = append(os.Environ(), cudart.ModeEnv+"=emulator", "HALFTONE_EMULATOR=quiet=1,capability=90")
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "    --- PASS: TestProductsOnTensorCores/") {
		t.Errorf("%v\n%s", err, failures(text))
	}
}
