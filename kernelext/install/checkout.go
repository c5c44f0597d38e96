package install

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/layout"
	"github.com/halftone-ml/halftone/kernelext/wire"
)

// Module is the path of the module whose checkout cells import.
const Module = wire.Module

// FindCheckout returns the module root at or above dir.
func FindCheckout(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for d := abs; ; d = filepath.Dir(d) {
		if isCheckout(d) {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("no Halftone checkout at or above %s: change into the checkout, or name it with --checkout DIR", abs)
		}
	}
}

func isCheckout(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "module" {
			return strings.Trim(f[1], `"`) == Module
		}
	}
	return false
}

// sourceDirs hold what the halftone binary is built from, next to go.mod and go.sum.
var sourceDirs = []string{"amp", "cudart", "widgets", "kernelext"}

// Fingerprint is a hash of every source file that the halftone binary is built from, by content: touching a file or moving
// the checkout changes nothing, editing one line does.
func Fingerprint(checkout string) (string, error) {
	h := sha256.New()
	add := func(path string) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		rel, err := filepath.Rel(checkout, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "\x00%s\x00", filepath.ToSlash(rel))
		_, err = io.Copy(h, f)
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := add(filepath.Join(checkout, name)); err != nil {
			return "", err
		}
	}
	for _, dir := range sourceDirs {
		err := filepath.WalkDir(filepath.Join(checkout, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case os.IsNotExist(err):
				return nil
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "__pycache__"):
				return fs.SkipDir
			case !d.Type().IsRegular() || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(d.Name(), "."):
				return nil
			}
			return add(path)
		})
		if err != nil {
			return "", fmt.Errorf("reading the sources in %s: %w", checkout, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// CommitEnv names the commit of a checkout that has no git: an image is built from a copy of the files alone.
const CommitEnv = "HALFTONE_COMMIT"

// Commit returns the checkout's commit, with "+changes" behind it when tracked files differ; outside git that of CommitEnv, or "".
func Commit(checkout string) string {
	git := func(args ...string) (string, bool) {
		out, err := exec.Command("git", append([]string{"-C", checkout}, args...)...).Output()
		return strings.TrimSpace(string(out)), err == nil
	}
	commit, ok := git("rev-parse", "--short=12", "HEAD")
	if !ok {
		return os.Getenv(CommitEnv)
	}
	if changes, ok := git("status", "--porcelain", "--untracked-files=no"); ok && changes != "" {
		commit += "+changes"
	}
	return commit
}

// InstalledCheckout returns the checkout that was installed from, or says what to do when it is gone.
func InstalledCheckout(state layout.State) (string, error) {
	if isCheckout(state.Checkout) {
		return state.Checkout, nil
	}
	return "", fmt.Errorf("the checkout %s, which the kernel was installed from, is gone; if it was moved, run `make lab` in its new place "+
		"(cells import Halftone from there), else clone it again and run `make lab`", state.Checkout)
}
