package testenv

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

// requirements are what only tests need of Python, pinned by hash. What these need in turn is in the installation's own lock.
//
//go:embed requirements.txt
var requirements []byte

// Python returns the tests' interpreter, which has the installation's packages, with the environment in which it finds those that
// only tests need. They are in a folder of their own, so that the installation under test stays what users get. Where there is
// no network to get them from, the test is skipped and says so.
func Python(t testing.TB) (python string, env []string) {
	t.Helper()
	l, _ := Installed(t)
	python = filepath.Join(l.Home, "venv", "bin", "python3")
	sum := sha256.Sum256(requirements)
	dir := filepath.Join(filepath.Dir(l.Home), "python-"+hex.EncodeToString(sum[:6]))
	if err := packages(python, dir, l); err != nil {
		t.Skipf("needs packages for tests (kernelext/internal/testenv/requirements.txt), and pip cannot get them: %v", err)
	}
	return python, append(os.Environ(), "PYTHONPATH="+dir, "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
}

// packages installs requirements into dir, unless they are there.
func packages(python, dir string, l layout.Layout) error {
	once.Lock()
	defer once.Unlock()
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "python-new")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	lock := filepath.Join(tmp, "requirements.txt")
	if err := os.WriteFile(lock, requirements, 0o600); err != nil {
		return err
	}
	cmd := exec.Command(python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet", "--no-deps",
		"--require-hashes", "--only-binary=:all:", "--target", filepath.Join(tmp, "packages"), "-r", lock)
	cmd.Dir = l.Home
	if out, err := cmd.CombinedOutput(); err != nil {
		return &pipError{err, string(out)}
	}
	if err := os.Rename(filepath.Join(tmp, "packages"), dir); err != nil { // tests of another package may have been faster
		if _, statErr := os.Stat(dir); statErr != nil {
			return err
		}
	}
	return nil
}

type pipError struct {
	err error
	out string
}

func (e *pipError) Error() string { return e.err.Error() + ": " + e.out }
