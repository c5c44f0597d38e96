package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The combinations that `uv pip install --dry-run --only-binary :all: --require-hashes` was tried for when the lock was made:
// CPython 3.10, 3.11, 3.12, 3.13 and 3.14, each on x86_64-manylinux_2_28, aarch64-manylinux_2_28, x86_64-apple-darwin and
// aarch64-apple-darwin.

func TestLockPinsEverythingByHash(t *testing.T) {
	text := lockText()
	entry := regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*==[0-9][^ ]*( ; .+)? \\$`)
	names, hashes := 0, 0
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "    --hash=sha256:"):
			hashes++
		case entry.MatchString(line):
			if names > 0 && hashes == 0 {
				t.Errorf("line %d: the entry before has no hash", i+1)
			}
			names++
			hashes = 0
		default:
			t.Errorf("line %d is neither a pinned version nor a hash: %q", i+1, line)
		}
	}
	if names < 50 || names != locked() {
		t.Errorf("%d entries, locked() says %d", names, locked())
	}
	for _, want := range []string{"jupyterlab==4.", "nbclient==", "nbconvert=="} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("the lock lacks %s", want)
		}
	}
	if strings.Contains(text, "://") || strings.Contains(text, "index-url") {
		t.Error("the lock names a host: it must work with any mirror")
	}
}

func TestBundledPipIsTheRecordedOne(t *testing.T) {
	b, err := pythonFiles.ReadFile("python/" + pipWheel)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != pipHash {
		t.Errorf("%s has SHA-256 %s, recorded is %s", pipWheel, got, pipHash)
	}
}

// TestEnvironmentWithoutEnsurepip makes an environment with this machine's Python, ensurepip or not, and runs our pip in it.
func TestEnvironmentWithoutEnsurepip(t *testing.T) {
	isolate(t)
	var base Python
	for _, c := range pythonCandidates() {
		if py, err := probePython(context.Background(), c); err == nil && py.Recent() && py.Venv {
			base = py
			break
		}
	}
	if base.Path == "" {
		t.Skip("no Python 3.10 or newer with venv on this machine")
	}
	in, _ := newInstaller(t)
	venv := filepath.Join(in.Layout.Home, "venv")
	err := in.Report.Phase("venv", func(p *Progress) (string, error) { return "", bareVenv(context.Background(), venv, []Python{base}, p) })
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(venvPython(venv), "-c", "import pip").CombinedOutput(); err == nil {
		t.Errorf("the environment has a pip already, so this test shows nothing: %s", out)
	}
	b, err := pythonFiles.ReadFile("python/" + pipWheel)
	if err != nil {
		t.Fatal(err)
	}
	wheel := filepath.Join(t.TempDir(), pipWheel)
	write(t, wheel, string(b))
	for _, args := range [][]string{{"--version"}, {"install", "--no-index", "--no-deps", wheel}} {
		cmd := exec.Command(venvPython(venv), append([]string{filepath.Join(wheel, "pip")}, args...)...)
		cmd.Env = pythonEnv(venvPython(venv))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("pip %v: %v\n%s", args, err, out)
		}
	}
	if out, err := exec.Command(venvPython(venv), "-m", "pip", "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), venv) {
		t.Errorf("pip was not installed into the environment: %v\n%s", err, out)
	}
}
