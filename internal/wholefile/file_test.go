package wholefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"private": 0o600, "target": 0o640} {
		if err := os.WriteFile(at(name), []byte("a longer text than the new one"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("target", at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("usual"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	usual, err := os.Stat(at("usual"))
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"new": usual.Mode().Perm(), "private": 0o600, "link": 0o640} {
		if err := Write(at(name), []byte("new"), 0o644); err != nil {
			t.Error(err)
		}
		info, err := os.Stat(at(name))
		if text, _ := os.ReadFile(at(name)); err != nil || string(text) != "new" || info.Mode().Perm() != mode {
			t.Errorf("%s: %q, %v, %v", name, text, info, err)
		}
	}
	if to, err := os.Readlink(at("link")); err != nil || to != "target" {
		t.Errorf("the link points to %q, %v", to, err)
	}
	if err := Write(os.DevNull, []byte("new"), 0o644); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is %v, %v", os.DevNull, info, err)
	}
	if err := Write(at("none/new"), nil, 0o644); err == nil || !strings.Contains(err.Error(), "a folder that is there") {
		t.Error(err)
	}
	if err := Write(dir, nil, 0o644); err == nil {
		t.Error("a folder was written over")
	}
	if list, _ := os.ReadDir(dir); len(list) != 5 {
		t.Errorf("%v are left", list)
	}
}

// TestFileIsNothingUntilItIsWhole: what is not committed leaves no trace, and neither does a second end.
func TestFileIsNothingUntilItIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	f, err := Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("half"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there before it was committed")
	}
	if got := Meant(f.Name()); got != path || Meant(path) != path || Meant("a.tmp") != "a.tmp" {
		t.Errorf("%s was to be %s", f.Name(), got)
	}
	f.Discard()
	f.Discard()
	if err := Replace(path, []byte("old"), 0o600); err != nil {
		t.Error(err)
	}
	if f, err = Create(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("new"); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("%q before the commit", text)
	}
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	f.Discard()
	if text, _ := os.ReadFile(path); string(text) != "new" {
		t.Errorf("%q after the commit", text)
	}
	if err := Writable(path); err != nil {
		t.Error(err)
	}
	if err := Writable(filepath.Join(path, "b")); err == nil {
		t.Error("a file in a file is writable")
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
		t.Errorf("%v are left", list)
	}
}
