package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestArchive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gpu-bundle")
	if err := os.MkdirAll(filepath.Join(dir, "tests", "p"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"run": 0o755, "tests/p/suite.test": 0o755, "peer.py": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	file := dir + ".tar.gz"
	if err := archive(dir, file, 10_000); err != nil {
		t.Fatal(err)
	}
	got := map[string]os.FileMode{}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = h.FileInfo().Mode().Perm()
		if b, err := io.ReadAll(r); err != nil || "gpu-bundle/"+string(b) != h.Name {
			t.Errorf("%s holds %q, %v", h.Name, b, err)
		}
	}
	if len(got) != 3 || got["gpu-bundle/run"]&0o100 == 0 || got["gpu-bundle/peer.py"]&0o100 != 0 {
		t.Errorf("%v", got)
	}

	large := make([]byte, 20_000)
	_, _ = rand.Read(large)
	if err := os.WriteFile(filepath.Join(dir, "large"), large, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := archive(dir, file, 10_000); err == nil || !strings.Contains(err.Error(), "may have 10000") {
		t.Errorf("a bundle that is too large: %v", err)
	}
}

// TestFiles: what tests read is where go test would have it.
func TestFiles(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "p"), t.TempDir()
	for _, name := range []string{"testdata/deep/a.json", "inner/b.go", "c.go", "OPS.md"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := testdata(filepath.Join(from, "inner"), to); err != nil {
		t.Errorf("a package without testdata: %v", err)
	}
	if err := testdata(from, to); err != nil {
		t.Fatal(err)
	}
	if err := files(from, to); err != nil {
		t.Fatal(err)
	}
	for name, packed := range map[string]bool{"testdata/deep/a.json": true, "c.go": true, "OPS.md": true, "inner/b.go": false} {
		if b, err := os.ReadFile(filepath.Join(to, name)); (err == nil) != packed || packed && string(b) != name {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}
