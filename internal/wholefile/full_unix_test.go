//go:build unix

package wholefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWriteLeavesWhatWasThere: a disk that takes a part of a file.
func TestWriteLeavesWhatWasThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figure.svg")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 16, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	err := Write(path, make([]byte, 1<<20), 0o644)
	if e := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); e != nil {
		t.Fatal(e)
	}
	if err == nil || !strings.Contains(err.Error(), "stays as it was") {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
		t.Errorf("%v are left", list)
	}
}
