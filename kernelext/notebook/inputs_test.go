package notebook

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInputsSayWhatAFileIs in words that name no type of this program.
func TestInputsSayWhatAFileIs(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		`[1, 2]`: "it holds a JSON array", `"x"`: "it holds a JSON string", `{"nbformat":"4"}`: "it holds a JSON string", `{`: "damaged", `{}`: "it has no nbformat",
	} {
		path := filepath.Join(dir, "a.ipynb")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Inputs("run", []string{path}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "struct") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestNotebookOfAnotherKernel: one of another language is refused before anything runs; one of another Go kernel, of none or of an old format
// gets as far as the interpreter, which is not there.
func TestNotebookOfAnotherKernel(t *testing.T) {
	r := Runner{Python: filepath.Join(t.TempDir(), "none"), Kernel: "halftone", Out: &bytes.Buffer{}}
	for text, refused := range map[string]bool{
		`{"nbformat":4,"metadata":{"kernelspec":{"name":"python3","language":"python"}},"cells":[]}`: true,
		`{"nbformat":4,"metadata":{"kernelspec":{"name":"ir"}},"cells":[]}`:                          true,
		`{"nbformat":4,"metadata":{"kernelspec":{"name":"halftone"}},"cells":[]}`:                    false,
		`{"nbformat":4,"metadata":{"kernelspec":{"name":"gonb","language":"go"}},"cells":[]}`:        false,
		`{"nbformat":4,"metadata":{},"cells":[]}`:                                                    false,
		`{"nbformat":3,"metadata":{"name":"old"},"worksheets":[]}`:                                   false,
		`{"nbformat":3,"metadata":{"kernelspec":7},"worksheets":[]}`:                                 false,
	} {
		path := filepath.Join(t.TempDir(), "a.ipynb")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := r.Run(context.Background(), path, Options{})
		if err == nil || strings.Contains(err.Error(), "this notebook is for kernel") != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestUnwritableResult: to make a folder helps only where there is none.
func TestUnwritableResult(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, make := range map[string]bool{filepath.Join(dir, "none", "x.ipynb"): true, filepath.Join(file, "x.ipynb"): false} {
		if err := writable(path); err == nil || !strings.Contains(err.Error(), "name another with --output") || strings.Contains(err.Error(), "make the folder") != make {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestResultSparesNeighbours: a file of the user's beside the one that is written stays, whatever it is called.
func TestResultSparesNeighbours(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.ipynb")
	if err := os.WriteFile(path+".new", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writable(path); err != nil {
		t.Error(err)
	}
	if err := writable(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
	left, _ := filepath.Glob(path + "*")
	if b, err := os.ReadFile(path + ".new"); err != nil || string(b) != "mine" || len(left) != 1 {
		t.Errorf("%q, %v; there are %v", b, err, left)
	}
}
