package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
)

// TestPrivatePython has all that its packages need, and nothing that takes seconds of every program's start.
func TestPrivatePython(t *testing.T) {
	l, _ := testenv.Installed(t)
	python := filepath.Join(l.Home, "venv", "bin", "python3")
	if out, err := exec.Command(python, "-m", "pip", "--disable-pip-version-check", "check").CombinedOutput(); err != nil {
		t.Errorf("pip check: %v\n%s", err, out)
	}
	const loaded = "import sys, jupyterlab.labapp, nbclient; print('rfc3987_syntax' in sys.modules, 'jsonschema' in sys.modules)"
	out, err := exec.Command(python, "-c", loaded).CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "False True" {
		t.Errorf("%v: %s, want False True", err, got)
	}
}
