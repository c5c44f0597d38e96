//go:build long

package labextension

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestRebuild builds the extension and the scripts in figures' HTML from the packages that the lock file pins, and compares every byte.
func TestRebuild(t *testing.T) {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not there, so dist cannot be compared with its sources; Node 20 or newer brings it", name)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "tsconfig.json", "build.mjs", "echarts.js"} {
		b, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS("src")); err != nil {
		t.Fatal(err)
	}
	npm := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "npm", args...)
		cmd.Dir = dir
		return cmd.CombinedOutput()
	}
	// No package runs a program of its own here: esbuild's comes as a package for the machine.
	if out, err := npm("ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		if regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ECONNABORTED|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|code E(?:429|5\d\d)|socket hang up`).Match(out) {
			t.Skipf("the package registry cannot be reached, so dist cannot be compared with its sources:\n%s", out)
		}
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	scripts, tried := filepath.Join(dir, "scripts"), filepath.Join(dir, "tried")
	if out, err := npm("run", "build", "--", filepath.Join(dir, "dist"), scripts, tried); err != nil {
		t.Fatalf("npm run build: %v\n%s", err, out)
	}
	same(t, "dist", files(t, os.DirFS(filepath.Join(dir, "dist"))), files(t, FS()))
	same(t, "widgets/render/scripts", files(t, os.DirFS(scripts)), files(t, os.DirFS(filepath.Join("..", "..", "widgets", "render", "scripts"))))
	same(t, "kernelext/browser/testdata", files(t, os.DirFS(tried)), map[string][]byte{"float.js": read(t, filepath.Join("..", "browser", "testdata", "float.js"))})
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// same compares what was built with what is in the tree.
func same(t *testing.T, where string, built, have map[string][]byte) {
	t.Helper()
	for name, b := range built {
		if h, ok := have[name]; !ok {
			t.Errorf("%s has no %s: run npm ci --ignore-scripts && npm run build in kernelext/labextension", where, name)
		} else if !bytes.Equal(h, b) {
			t.Errorf("%s in %s is not what its sources give: run npm ci --ignore-scripts && npm run build in kernelext/labextension", name, where)
		}
	}
	for name := range have {
		if _, ok := built[name]; !ok {
			t.Errorf("%s has %s, which its sources do not give", where, name)
		}
	}
}

func files(t *testing.T, f fs.FS) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(f, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[path], err = fs.ReadFile(f, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
