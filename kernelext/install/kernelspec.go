package install

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/halftone-ml/halftone/internal/wholefile"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

//go:embed logo
var logos embed.FS

// kernelDir is where a Jupyter data folder keeps our kernelspec.
func kernelDir(data string) string { return filepath.Join(data, "kernels", layout.KernelName) }

// kernelJSON is the kernelspec: what Jupyter starts, and how. Interrupts come as messages, since a signal would reach the
// proxy and not the cell.
func kernelJSON(l layout.Layout) []byte {
	spec := map[string]any{
		"argv":           []string{l.Halftone(), "kernel", "{connection_file}"},
		"display_name":   layout.DisplayName,
		"language":       "go",
		"interrupt_mode": "message",
		"env":            map[string]string{layout.HomeEnv: l.Home},
		"metadata":       map[string]any{"debugger": false},
	}
	b, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		panic(err) // strings only
	}
	return append(b, '\n')
}

// installKernelspec writes the kernelspec under a Jupyter data folder and reports whether anything changed.
func installKernelspec(l layout.Layout, data string) (changed bool, err error) {
	dir := kernelDir(data)
	files := map[string][]byte{"kernel.json": kernelJSON(l)}
	entries, err := logos.ReadDir("logo")
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if files[e.Name()], err = logos.ReadFile("logo/" + e.Name()); err != nil {
			return false, err
		}
	}
	for name, want := range files {
		c, err := writeIfChanged(filepath.Join(dir, name), want)
		if err != nil {
			return changed, explain("writing the kernelspec", l.Home, err, "")
		}
		changed = changed || c
	}
	return changed, nil
}

// ownKernelspec tells whether the kernelspec under a Jupyter data folder is there, and whether it starts this installation.
func ownKernelspec(l layout.Layout, data string) (there, ours bool) {
	b, err := os.ReadFile(filepath.Join(kernelDir(data), "kernel.json"))
	return err == nil, bytes.Equal(b, kernelJSON(l))
}

// writeIfChanged writes a file unless it has this content already; readers see the old content or the new.
func writeIfChanged(path string, content []byte) (bool, error) {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return false, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	return true, wholefile.Write(path, content, 0o644)
}
