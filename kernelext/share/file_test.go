package share

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestVerifyReadsOnlyFiles: in a folder that was received a name may stand for anything.
func TestVerifyReadsOnlyFiles(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(path string) error
		says string
	}{
		"a link to a device": {func(path string) error { return os.Symlink("/dev/zero", path) }, "is a link, not a regular file"},
		"a pipe":             {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is a pipe, not a regular file"},
		"a folder":           {func(path string) error { return os.Mkdir(path, 0o700) }, "is a folder, not a regular file"},
		"an endless file":    {func(path string) error { return os.WriteFile(path, make([]byte, 5), 0o600) }, "it has 5 bytes, expected 4"},
		"a folder that leads out": {func(path string) error {
			return errors.Join(os.Remove(filepath.Dir(path)), os.Symlink("/etc", filepath.Dir(path)))
		}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, rec, _ := packed(t, PackOptions{}, machine)
			path := filepath.Join(dir, "data", "points.csv")
			must(t, os.Remove(path))
			must(t, c.put(path))
			r, err := Verify(t.Context(), filepath.Join(dir, "run.ipynb"), rec, machine, computes(t, source, nil, losses(1)))
			must(t, err)
			if len(r.Problems) != 1 || !strings.Contains(r.Problems[0], c.says) {
				t.Errorf("%q, want %q", r.Problems, c.says)
			}
		})
	}
}

// TestVerifyFindsPipes where a record or a notebook should be.
func TestVerifyFindsPipes(t *testing.T) {
	for _, name := range []string{RecordName, "run.ipynb"} {
		dir, _, _ := packed(t, PackOptions{}, machine)
		must(t, os.Remove(filepath.Join(dir, name)))
		must(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
		if _, err := Notebooks(dir); err == nil || !strings.Contains(err.Error(), "is a pipe") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHashingEndsWithContext: files may be large.
func TestHashingEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir, rec, _ := packed(t, PackOptions{}, machine)
	cancel()
	if _, err := Verify(ctx, filepath.Join(dir, "run.ipynb"), rec, machine, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
