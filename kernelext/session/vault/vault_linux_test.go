package vault

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// file returns an open file that holds text.
func file(t *testing.T, text string) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f
}

func text(t *testing.T, files []*os.File) string {
	t.Helper()
	var all []string
	for _, f := range files {
		b := make([]byte, 100)
		n, _ := f.ReadAt(b, 0)
		all = append(all, string(b[:n]))
		_ = f.Close()
	}
	return strings.Join(all, " ")
}

// TestVault: what a process hands over others get, until it is given up, or the process is gone and no commit refers to it.
func TestVault(t *testing.T) {
	owner, err := store.NewOwner(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	dir, err := os.MkdirTemp("", "ht")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	v := New(owner.Path())
	env, stop, err := v.Serve(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(env, store.DevicesEnv+"=")
	one, other := store.KeeperAt(path), store.KeeperAt(path)
	a, b := file(t, "memory"), file(t, "node")
	if err := one.Put(7, []*os.File{a, b}); err != nil {
		t.Fatal(err)
	}
	if err := one.Put(8, []*os.File{b}); err != nil {
		t.Fatal(err)
	}
	files, err := other.Get(7)
	if got := text(t, files); err != nil || got != "memory node" {
		t.Errorf("%q %v", got, err)
	}
	if err := one.Put(8, []*os.File{a}); err != nil { // in its place
		t.Fatal(err)
	}
	files, err = v.Get(8)
	if got := text(t, files); err != nil || got != "memory" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := other.Get(9); err == nil || !strings.Contains(err.Error(), "nothing under 9") {
		t.Error(err)
	}
	if err := other.Keep([]uint64{7, 9}); err != nil || v.Len() != 1 {
		t.Errorf("%d kept, %v", v.Len(), err)
	}
	before := open(t)
	for range 300 {
		files, err := other.Get(7)
		if err != nil {
			t.Fatal(err)
		}
		text(t, files)
	}
	if now := open(t); now > before+4 {
		t.Errorf("%d files are open, %d before", now, before)
	}
	if err := one.(interface{ Close() error }).Close(); err != nil { // as when its process is killed
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); v.Len() > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if v.Len() != 0 {
		t.Error("what was never committed is kept after its process")
	}
	stop()
	if _, err := store.KeeperAt(path).Get(7); err == nil || errors.Is(err, os.ErrExist) || !strings.Contains(err.Error(), "restart the kernel") {
		t.Error(err)
	}
}

// open counts the open files of this process.
func open(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(list)
}
