package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeWhole writes a file as a whole or not at all: what was there before stays where a disk is full or the call is interrupted. A file keeps
// its permissions, a link what it points to, and a device or pipe gets the bytes.
func writeWhole(path string, content []byte) error {
	mode := os.FileMode(0o644)
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return os.WriteFile(path, content, mode)
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("%w; name a file in a folder that is there and can be written to", err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to report
		return fmt.Errorf("writing %s: %w; what was there before stays as it was", path, err)
	}
	return nil
}
