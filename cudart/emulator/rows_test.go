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

// rowRuns are how TestEveryRow runs; with the build tag long there is one more, which takes five minutes.
var rowRuns = []struct{ name, settings, checked string }{
	{"forward", "order=forward", ""},
	{"reversed", "order=reversed,seed=2", ""},
	{"shuffled", "order=shuffled,seed=3", ""},
}

// TestEveryRow walks amp's op table on the emulated device: every case of every row in every dtype, forward and backward, against
// the CPU, with threads and blocks in several orders, and with the tag long with each access checked.
func TestEveryRow(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles amp's tests and both libraries")
	}
	useEmulator(t)
	program := filepath.Join(t.TempDir(), "amp.test")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", program, "../../amp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range rowRuns {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestEveryOpOnDevice$", "-test.v", "-test.timeout=10m")
			cmd.Dir = "../../amp"
			cmd.Env = append(os.Environ(), cudart.ModeEnv+"=emulator", "HALFTONE_COMPARE_DEVICE=cuda:0", "HALFTONE_EMULATOR="+c.settings, CheckedEnv+"="+c.checked)
			out, err := cmd.CombinedOutput()
			text := string(out)
			if err != nil || strings.Contains(text, "emulated device:") {
				t.Fatalf("%v\n%s", err, failures(text))
			}
			if n := strings.Count(text, "    --- PASS"); n < 300 {
				t.Errorf("only %d cases ran", n)
			}
		})
	}
}

// failures keeps of a test's output what is worth reading.
func failures(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "=== RUN") && !strings.Contains(line, "--- PASS") {
			b.WriteString(line)
		}
	}
	return b.String()
}
