package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/internal/wholefile"
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

// Uninstall removes the kernelspec, the front end and the home folder, and returns what it removed. It looks first whether the folder is
// an installation with nothing else in it: one that it refuses is left whole, the kernelspec too.
func Uninstall(l layout.Layout) ([]string, error) {
	entries, err := os.ReadDir(l.Home)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, explain("reading "+l.Home, l.Home, err, "")
	}
	if err := isHome(l, entries); err != nil {
		return nil, err
	}
	var removed []string
	if state, err := l.Load(); err == nil {
		out, err := removeFrom(l, state.Data)
		removed = append(removed, out...)
		if err != nil {
			return removed, explain("removing the kernel from "+state.Data, l.Home, err, "")
		}
	}
	// The files that tell what it is go last, so that one that is cut off here can be gone on with; and what came in meanwhile keeps the folder.
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return installed[a.Name()] - installed[b.Name()] })
	for _, e := range entries {
		if err := removeAll(filepath.Join(l.Home, e.Name())); err != nil {
			return removed, explain("removing "+l.Home, l.Home, err, "")
		}
	}
	if err := os.Remove(l.Home); err != nil {
		return removed, explain("removing "+l.Home, l.Home, err, "")
	}
	return append(removed, l.Home), nil
}

// installed are the files that tell an installation, or one that was interrupted, from any other folder.
var installed = map[string]int{"install.lock": 1, "install.json": 2}

// homeParts are what an installation, the kernel and the caches of the emulator and of wheels put into the home.
var homeParts = []string{"bin", "cache", "goproxy", "goproxy.from", "install.json", "install.lock", "jupyter", "lab.log", "tmp", "venv"}

// isHome guards against a HALFTONE_HOME that names a folder of something else, or one with other things in it.
func isHome(l layout.Layout, entries []os.DirEntry) error {
	marked := false
	var other []string
	for _, e := range entries {
		marked = marked || installed[e.Name()] > 0
		if !slices.Contains(homeParts, wholefile.Meant(e.Name())) {
			other = append(other, e.Name())
		}
	}
	if !marked {
		return fmt.Errorf("%s does not look like Halftone's folder, for it has neither install.json nor install.lock, so it stays: set %s to the folder of the installation, or remove this one by hand",
			l.Home, layout.HomeEnv)
	}
	programs, err := os.ReadDir(l.Bin())
	if err != nil && !os.IsNotExist(err) {
		return explain("reading "+l.Bin(), l.Home, err, "")
	}
	for _, e := range programs {
		if !ourProgram(l, e.Name()) {
			other = append(other, filepath.Join("bin", e.Name()))
		}
	}
	if len(other) > 0 {
		return fmt.Errorf("%s holds what Halftone has not put there (%s), so nothing was removed: move that elsewhere and run `halftone uninstall` again",
			l.Home, firstOf(other, 3))
	}
	return nil
}

// ourProgram tells the programs of the installation, and files that are named after them.
func ourProgram(l layout.Layout, name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	return stem == "halftone" || stem == filepath.Base(l.CellGo()) || slices.ContainsFunc(Tools, func(t Tool) bool { return t.Name == stem })
}

// firstOf lists the first n of some names.
func firstOf(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
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
