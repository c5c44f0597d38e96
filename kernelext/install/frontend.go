package install

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/halftone-ml/halftone/kernelext/labextension"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

func frontEndDir(data string) string {
	return filepath.Join(data, "labextensions", filepath.FromSlash(labextension.Name))
}

// installFrontEnd copies what figures load from the Jupyter server's own pages, and reports whether anything changed. Files
// of an older version that are not in this one go.
func installFrontEnd(l layout.Layout, data string) (changed bool, err error) {
	dir := frontEndDir(data)
	want, err := frontEndFiles()
	if err != nil {
		return false, err
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if rel, err := filepath.Rel(dir, path); err == nil && want[filepath.ToSlash(rel)] == nil {
			os.Remove(path)
		}
		return nil
	})
	for name, content := range want {
		c, err := writeIfChanged(filepath.Join(dir, filepath.FromSlash(name)), content)
		if err != nil {
			return changed, explain("copying the front end", l.Home, err, "")
		}
		changed = changed || c
	}
	return changed, nil
}

func frontEndFiles() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(labextension.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(labextension.FS(), path)
		return err
	})
	return files, err
}

// frontEndState compares what is installed with what we carry.
func frontEndState(data string) (status, detail string) {
	want, err := frontEndFiles()
	if err != nil {
		return Broken, err.Error()
	}
	dir := frontEndDir(data)
	if _, err := os.Stat(dir); err != nil {
		return Missing, "figures show, but without interaction"
	}
	for name, content := range want {
		have, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(have, content) {
			return Broken, name + " is missing or not the one of this version; figures show, but without interaction"
		}
	}
	return OK, ""
}
