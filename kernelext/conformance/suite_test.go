package conformance

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

// unsupported are the tests of jupyter_kernel_test that do not apply, with a word of the reason that suite.py gives.
var unsupported = map[string]string{
	"test_execute_result": "no value",
	"test_clear_output":   "clear_output",
}

// applicable is how many tests of the suite are passed.
const applicable = 11

// TestJupyterKernelTest runs Jupyter's own suite for kernels against the installed kernel.
func TestJupyterKernelTest(t *testing.T) {
	python, env := testenv.Python(t)
	cmd := exec.Command(python, "suite.py", layout.KernelName)
	cmd.Env = env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	passed := 0
	skipped := map[string]string{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct{ Test, Outcome, Why string }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("%s", lines.Text())
			continue
		}
		switch r.Outcome {
		case "pass":
			passed++
		case "skip":
			skipped[r.Test] = r.Why
		default:
			t.Errorf("%s: %s", r.Test, r.Why)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	if passed != applicable {
		t.Errorf("%d tests passed, want %d", passed, applicable)
	}
	for name, why := range skipped {
		if word := unsupported[name]; word == "" || !strings.Contains(why, word) {
			t.Errorf("%s was skipped: %s", name, why)
		}
	}
	if len(skipped) != len(unsupported) {
		t.Errorf("%d tests were skipped, want %d", len(skipped), len(unsupported))
	}
}
