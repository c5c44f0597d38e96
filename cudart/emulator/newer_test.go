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

// newerRuns are tests of package cudart's for a device of capability 9.0, which has room for blocks and stages that the emulator's usual one has
// not, and instructions of its own.
var newerRuns = []struct{ name, run, settings, passed string }{
	{"wide blocks", `^TestProductsOnTensorCores$/^\[256_196608\]$`, "", "    --- PASS: TestProductsOnTensorCores/"},
	{"warpgroups", "^TestProductsOfWarpgroups$", "order=forward", "--- PASS: TestProductsOfWarpgroups"},
	{"warpgroups, reversed", "^TestProductsOfWarpgroups$", "order=reversed", "--- PASS: TestProductsOfWarpgroups"},
	{"warpgroups, shuffled", "Warpgroups", "order=shuffled,seed=2", "--- PASS: TestWarpgroupsWhere"},
}

func TestProductsOnNewerDevice(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the tests of package cudart")
	}
	useEmulator(t)
	for _, c := range newerRuns {
		t.Run(c.name, func(t *testing.T) { onNewerDevice(t, c.run, c.settings, c.passed) })
	}
}

// onNewerDevice runs tests of package cudart's on the emulated device of capability 9.0.
func onNewerDevice(t *testing.T, run, settings, passed string, env ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testProgram(t, "cudart"), "-test.v", "-test.timeout=10m", "-test.run="+run)
	cmd.Dir = filepath.Join("..", "..", "cudart")
	cmd.Env = append(os.Environ(), cudart.ModeEnv+"="+cudart.ModeEmulator, "HALFTONE_EMULATOR=quiet=1,capability=90,"+settings)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, passed) {
		t.Errorf("%v\n%s", err, failures(text))
	}
}
