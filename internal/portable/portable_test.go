package portable

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// libraries are what programs import. The rest of the module serves Jupyter, which needs Linux or macOS.
var libraries = []string{"amp/...", "widgets/...", "cudart/..."}

// TestSystems type-checks the libraries, and all that they import, as for other systems: cheaper than to compile them, for which the standard
// library would be compiled as well.
func TestSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the standard library's source once for each system")
	}
	for _, target := range []struct {
		system, arch string
		patterns     []string
	}{
		{"windows", "amd64", libraries},
		{"darwin", "arm64", append([]string{"kernelext/..."}, libraries...)},
		{"linux", "arm64", append([]string{"kernelext/..."}, libraries...)},
	} {
		t.Run(target.system+"/"+target.arch, func(t *testing.T) {
			t.Parallel()
			for _, err := range check(t, target.system, target.arch, target.patterns) {
				t.Error(err)
			}
		})
	}
}

// TestWrong finds what another system lacks.
func TestWrong(t *testing.T) {
	c := newChecker("windows", "amd64")
	c.packages["syscall"] = types.NewPackage("syscall", "syscall")
	c.packages["syscall"].MarkComplete()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kill.go"), []byte("package kill\n\nimport \"syscall\"\n\nvar Kill = syscall.Kill\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.take(&listed{ImportPath: "kill", Dir: dir, GoFiles: []string{"kill.go"}})
	if text := fmt.Sprint(c.errs); len(c.errs) != 1 || !strings.Contains(text, "undefined: syscall.Kill") || !strings.Contains(text, "kill.go:5") {
		t.Errorf("found %q", text)
	}
}

// listed is what `go list -json` says of a package.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	Standard        bool
	Module          *struct{ Main bool }
	Error           *struct{ Err string }
}

// check lists packages after what they import, and checks them in that order.
func check(t *testing.T, system, arch string, patterns []string) []error {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"list", "-deps", "-json=Dir,ImportPath,GoFiles,ImportMap,Standard,Module,Error"}
	for _, p := range patterns {
		args = append(args, "./"+p)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, own := newChecker(system, arch), 0
	for d := json.NewDecoder(out); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil && p.Module.Main {
			own++
		}
		c.take(&p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal("go list: ", err)
	}
	t.Logf("%d packages, %d of them Halftone's", len(c.packages), own)
	if own < 10 {
		t.Errorf("only %d packages of this module were found", own)
	}
	return c.errs
}

type checker struct {
	files    *token.FileSet
	sizes    types.Sizes
	packages map[string]*types.Package
	errs     []error
}

func newChecker(system, arch string) *checker {
	return &checker{token.NewFileSet(), types.SizesFor("gc", arch), map[string]*types.Package{"unsafe": types.Unsafe}, nil}
}

// take checks one package: all of ours, and of others what they declare.
func (c *checker) take(p *listed) {
	own := !p.Standard && (p.Module == nil || p.Module.Main)
	if p.Error != nil {
		c.errs = append(c.errs, errors.New(p.Error.Err))
	}
	if p.ImportPath == "unsafe" {
		return
	}
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		parsed = append(parsed, f)
	}
	config := types.Config{IgnoreFuncBodies: !own, Sizes: c.sizes, Importer: imports{c, p.ImportMap}, FakeImportC: true, Error: func(err error) {
		if own {
			c.errs = append(c.errs, err)
		}
	}}
	c.packages[p.ImportPath], _ = config.Check(p.ImportPath, c.files, parsed, nil) // what it returns, Error was told
}

// imports resolves a package's imports: the standard library has its own copies of some modules.
type imports struct {
	*checker
	named map[string]string
}

func (i imports) Import(path string) (*types.Package, error) {
	if actual, ok := i.named[path]; ok {
		path = actual
	}
	if p := i.packages[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not listed before it is imported", path)
}
