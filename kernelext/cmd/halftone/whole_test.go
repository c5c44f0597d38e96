package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteWhole(t *testing.T) {
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
	for name, mode := range map[string]os.FileMode{"new": 0o644, "private": 0o600, "link": 0o640} {
		if err := writeWhole(at(name), []byte("new")); err != nil {
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
	if err := writeWhole(os.DevNull, []byte("new")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is %v, %v", os.DevNull, info, err)
	}
	if err := writeWhole(at("none/new"), nil); err == nil || !strings.Contains(err.Error(), "a folder that is there") {
		t.Error(err)
	}
	if err := writeWhole(dir, nil); err == nil {
		t.Error("a folder was written over")
	}
	if list, _ := os.ReadDir(dir); len(list) != 4 {
		t.Errorf("%v are left", list)
	}
}
