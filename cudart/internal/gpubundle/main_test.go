package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
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
	file := dir + ".tar"
	for _, p := range packers {
		if !p.there() {
			t.Logf("%s is not there", p.command)
			continue
		}
		if err := archive(t.Context(), dir, file+p.suffix, 10_000, p); err != nil {
			t.Fatal(err)
		}
		holds(t, file+p.suffix)
	}

	large := make([]byte, 20_000)
	_, _ = rand.Read(large)
	if err := os.WriteFile(filepath.Join(dir, "large"), large, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := archive(t.Context(), dir, file, 10_000, packers[len(packers)-1]); err == nil || !strings.Contains(err.Error(), "may have 10000") {
		t.Errorf("a bundle that is too large: %v", err)
	}
	broken := packer{suffix: ".broken", command: []string{"sh", "-c", "echo it is full >&2; exit 3"}}
	if err := archive(t.Context(), dir, file, 10_000, broken); broken.there() && (err == nil || !strings.Contains(err.Error(), "it is full")) {
		t.Errorf("a packer that fails: %v", err)
	}
}

// TestRepeated: what is in the bundle many times, far apart, as the runtime in all its programs, takes its room once.
func TestRepeated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gpu-bundle")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 3<<20)
	_, _ = rand.Read(large)
	for _, name := range []string{"a", "b", "c", "d"} {
		if err := os.WriteFile(filepath.Join(dir, name), large, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range packers[:len(packers)-1] {
		if p.there() {
			if err := archive(t.Context(), dir, dir+p.suffix, 4<<20, p); err != nil {
				t.Error(err)
			}
		}
	}
}

// unpacked reads what a packer has packed.
func unpacked(t *testing.T, file string) io.Reader {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	cmd := exec.Command("xz", "-dc", file)
	if _, err := exec.LookPath("xz"); err != nil {
		cmd = exec.Command("python3", "-c", "import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())", file)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(out)
}

// holds checks that an archive has the three files.
func holds(t *testing.T, file string) {
	t.Helper()
	got := map[string]os.FileMode{}
	for r := tar.NewReader(unpacked(t, file)); ; {
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
