package share

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Notebooks returns the notebooks that a name stands for: itself, that of a folder's record, or else all of a folder.
func Notebooks(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("no such notebook or folder: %w", err)
	}
	if !info.IsDir() {
		if !strings.HasSuffix(name, ".ipynb") {
			return nil, fmt.Errorf("%s is neither a notebook (.ipynb) nor a folder", name)
		}
		return []string{name}, regular(name, info)
	}
	rec, err := Load(name)
	switch {
	case err == nil:
		path := filepath.Join(name, rec.Notebook)
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("%s names a notebook that is not beside it: %w", filepath.Join(name, RecordName), err)
		}
		return []string{path}, regular(path, info)
	case !missing(err):
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(name, "*.ipynb"))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s holds neither %s nor a notebook: name one, as in `halftone verify 01-first-amp-training.ipynb`", name, RecordName)
	}
	for _, path := range found {
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if err := regular(path, info); err != nil {
			return nil, err
		}
	}
	return found, err
}

// RecordOf returns the record of a notebook: the one beside it if that is about it, else what it has saved.
func RecordOf(path string) (*Record, error) {
	rec, err := Load(filepath.Dir(path))
	switch {
	case err == nil && rec.Notebook == filepath.Base(path):
		return rec, nil
	case err != nil && !missing(err):
		return nil, err
	}
	return Saved(path)
}
