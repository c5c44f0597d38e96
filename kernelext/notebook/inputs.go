package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/halftone-ml/halftone/internal/wholefile"
)

// Inputs checks the names given to a command: each exists and is a notebook.
func Inputs(command string, paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("name at least one notebook, e.g. halftone %s notebooks/01-first-amp-training.ipynb", command)
	}
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			return fmt.Errorf("no such notebook: %w", err)
		}
		if st.IsDir() || !strings.HasSuffix(p, ".ipynb") {
			return fmt.Errorf("%s is not a notebook (.ipynb)", p)
		}
		if !st.Mode().IsRegular() {
			return fmt.Errorf("%s is no file but a %v, and a notebook is read more than once: copy it to a file", p, st.Mode().Type())
		}
		if err := readable(p); err != nil {
			return err
		}
	}
	return nil
}

// readable checks that a file is JSON and says which format of notebooks it has.
func readable(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var nb struct {
		Format int `json:"nbformat"`
	}
	err = json.Unmarshal(b, &nb)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
		return fmt.Errorf("%s is no notebook: it holds a JSON %s where a notebook has an object with a number nbformat", path, other.Value)
	}
	if err != nil {
		return fmt.Errorf("%s is damaged, or no notebook: %w", path, err)
	}
	if nb.Format == 0 {
		return fmt.Errorf("%s is no notebook: it has no nbformat", path)
	}
	return nil
}

// writable checks, before anything is computed, that a file can be written.
func writable(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("what is executed cannot be written: %s is a folder; name a file in it with --output", path)
	}
	if err := wholefile.Writable(path); err != nil {
		fix := "name another with --output"
		if errors.Is(err, fs.ErrNotExist) {
			fix = "make the folder, or " + fix
		}
		return fmt.Errorf("what is executed cannot be written: %w; %s", err, fix)
	}
	return nil
}

// forKernel refuses a notebook that was written for a kernel of another language: its cells would fail one by one, or mean something else. One
// for another Go kernel, such as GoNB's own, runs.
func forKernel(path, kernel string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var nb struct {
		Metadata struct {
			Kernel struct{ Name, Language string } `json:"kernelspec"`
		}
	}
	if json.Unmarshal(b, &nb) != nil {
		return nil // older formats have other metadata; the runner reads them
	}
	if k := nb.Metadata.Kernel; k.Name != "" && k.Name != kernel && k.Language != "go" {
		return fmt.Errorf("%s: this notebook is for kernel %s, and it was not run; choose the kernel %s for it in JupyterLab if its cells are Go", path, k.Name, kernel)
	}
	return nil
}
