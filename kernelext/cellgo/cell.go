package cellgo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/halftone-ml/halftone/kernelext/wire"
)

// A cell is the module that GoNB has written for one, as `go get` finds it.
type cell struct {
	dir      string
	root     string   // GOROOT
	checkout string   // Halftone's, if the workspace has it
	imports  []string // of its files
	state    string   // of all else that decides what `go get` does
	known    []string // imports with which it has succeeded in this state
}

// memory is the file in the cell's folder that says for what `go get` has succeeded.
const memoryName = "halftone_got.json"

type memory struct {
	State string   `json:"state"`
	Known []string `json:"known"`
}

// errLocal is returned for modules whose packages lie in folders of the user's: what those import may change between two cells.
var errLocal = errors.New("a module in the workspace is the user's own")

// read looks at a cell's folder. An error means that only the go command knows.
func read(dir, root string, env []string) (*cell, error) {
	c := &cell{dir: dir, root: root}
	state := sha256.New()
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	state.Write(mod)
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return nil, err
	}
	if err := noFolders(file.Replace); err != nil {
		return nil, err
	}
	for _, name := range []string{"go.sum", "go.work"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		fmt.Fprintf(state, "%s %d\n", name, len(text))
		state.Write(text)
		if name == "go.work" && err == nil {
			if err := c.readWork(text); err != nil {
				return nil, err
			}
		}
	}
	for _, v := range env {
		if strings.HasPrefix(v, "GO") {
			fmt.Fprintln(state, v)
		}
	}
	c.state = hex.EncodeToString(state.Sum(nil))
	if err := c.readImports(); err != nil {
		return nil, err
	}
	c.recall()
	return c, nil
}

// readWork finds Halftone among the modules of the workspace.
func (c *cell) readWork(text []byte) error {
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return err
	}
	for _, use := range work.Use {
		dir := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(c.dir, dir)
		}
		if filepath.Clean(dir) == filepath.Clean(c.dir) {
			continue
		}
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			return err
		}
		if modfile.ModulePath(mod) != wire.Module {
			return errLocal
		}
		c.checkout = dir
	}
	return noFolders(work.Replace)
}

// noFolders returns an error if a module other than Halftone, which GoNB names in both files, is replaced by a folder.
func noFolders(replaced []*modfile.Replace) error {
	for _, r := range replaced {
		if r.New.Version == "" && r.Old.Path != wire.Module {
			return errLocal
		}
	}
	return nil
}

func (c *cell) readImports() error {
	files, err := filepath.Glob(filepath.Join(c.dir, "*.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			c.imports = append(c.imports, strings.Trim(spec.Path.Value, "\"`"))
		}
	}
	slices.Sort(c.imports)
	c.imports = slices.Compact(c.imports)
	return nil
}

// complete says whether every import is there already.
func (c *cell) complete() bool {
	return !slices.ContainsFunc(c.imports, func(path string) bool {
		return path != "C" && !c.standard(path) && !c.ours(path) && !slices.Contains(c.known, path)
	})
}

// standard says whether a package is of Go's library.
func (c *cell) standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return c.root != "" && !strings.Contains(first, ".") && hasFiles(filepath.Join(c.root, "src", filepath.FromSlash(path)))
}

// ours says whether it is one of Halftone's, which needs nothing that the checkout does not name.
func (c *cell) ours(path string) bool {
	below, ok := strings.CutPrefix(path, wire.Module)
	return ok && c.checkout != "" && (below == "" || below[0] == '/') && hasFiles(filepath.Join(c.checkout, filepath.FromSlash(below)))
}

func hasFiles(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return len(files) > 0
}

// recall reads what is remembered of this state.
func (c *cell) recall() {
	var m memory
	text, err := os.ReadFile(filepath.Join(c.dir, memoryName))
	if err == nil && json.Unmarshal(text, &m) == nil && m.State == c.state {
		c.known = m.Known
	}
}

// remember adds the imports to what is known. Failing costs only that `go get` runs again.
func (c *cell) remember() {
	m := memory{State: c.state, Known: slices.Concat(c.known, c.imports)}
	slices.Sort(m.Known)
	m.Known = slices.Compact(m.Known)
	if text, err := json.Marshal(m); err == nil {
		_ = os.WriteFile(filepath.Join(c.dir, memoryName), text, 0o600)
	}
}
