package install

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

// removeFrom takes kernelspec and front end out of a Jupyter data folder, and returns what it removed. A kernelspec that
// starts another installation stays.
func removeFrom(l layout.Layout, data string) (removed []string, err error) {
	if data == "" {
		return nil, nil
	}
	there, ours := ownKernelspec(l, data)
	if there && !ours {
		return nil, nil
	}
	for _, dir := range []string{kernelDir(data), frontEndDir(data)} {
		if _, err := os.Lstat(dir); err != nil {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return removed, err
		}
		removed = append(removed, dir)
		os.Remove(filepath.Dir(dir)) // @halftone or kernels, when nothing else is in it
	}
	return removed, nil
}

// Uninstall removes the kernelspec, the front end and the home folder, and returns what it removed.
func Uninstall(l layout.Layout) ([]string, error) {
	var removed []string
	state, err := l.Load()
	if err == nil {
		out, err := removeFrom(l, state.Data)
		removed = append(removed, out...)
		if err != nil {
			return removed, explain("removing the kernel from "+state.Data, l.Home, err, "")
		}
	}
	entries, err := os.ReadDir(l.Home)
	if os.IsNotExist(err) {
		return removed, nil
	}
	if err != nil {
		return removed, explain("reading "+l.Home, l.Home, err, "")
	}
	if !looksLikeHome(entries) {
		return removed, fmt.Errorf("%s does not look like Halftone's folder, so it stays: remove it by hand if it is", l.Home)
	}
	if err := removeAll(l.Home); err != nil {
		return removed, explain("removing "+l.Home, l.Home, err, "")
	}
	return append(removed, l.Home), nil
}

// looksLikeHome guards against a HALFTONE_HOME that names a folder with other things in it.
func looksLikeHome(entries []os.DirEntry) bool {
	known := map[string]bool{"bin": true, "venv": true, "goproxy": true, "goproxy.from": true, "tmp": true, "jupyter": true, "install.json": true,
		"install.json.new": true, "install.lock": true, "lab.log": true}
	for _, e := range entries {
		if !known[e.Name()] {
			return false
		}
	}
	return true
}

// removeAll is os.RemoveAll that also takes folders which Go made read-only, as it does in a module cache.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
