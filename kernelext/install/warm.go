package install

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/halftone-ml/halftone/kernelext/wire"
)

// warmStandard are the usual packages of the standard library.
var warmStandard = []string{
	"bufio", "bytes", "context", "encoding/json", "errors", "flag", "fmt", "image", "image/color", "image/png", "io", "log", "maps",
	"math", "math/rand", "math/rand/v2", "os", "os/signal", "path/filepath", "regexp", "runtime", "slices", "sort", "strconv",
	"strings", "sync", "text/tabwriter", "time", "unsafe",
}

// A warmth is what a trial build of the warm-up program found.
type warmth struct {
	packages int // that the program is made of
	compiled int // that were not in the build cache
	took     time.Duration
	output   string // of the go command
}

// warm compiles what tutorial cells import. The first cell then links and does not wait ten seconds for the standard library.
func (in *Installer) warm(ctx context.Context, p *Progress) (string, error) {
	w, err := buildWarm(ctx, in.goCmd, in.goVersion, in.Checkout, in.cellEnv(), func(done, total int, pkg string) {
		p.Bar(done, total)
		p.Status("%s", pkg)
	})
	if err != nil {
		return "", explain("compiling what cells import", in.Layout.Home, err, w.output)
	}
	if w.compiled <= 1 {
		return fmt.Sprintf("%d packages, a cell builds in %s", w.packages, seconds(w.took)), nil
	}
	return fmt.Sprintf("compiled %d of %d packages", w.compiled, w.packages), nil
}

// buildWarm compiles, exactly as a cell would be, a program that imports what tutorial cells import.
func buildWarm(ctx context.Context, goCmd, goVersion, checkout string, env []string, onPackage func(done, total int, pkg string)) (w warmth, err error) {
	dir, err := os.MkdirTemp("", "halftone-warm")
	if err != nil {
		return w, err
	}
	defer os.RemoveAll(dir)
	env = append(env, "PWD="+dir)
	if err := writeWarm(dir, checkout, goVersion); err != nil {
		return w, err
	}
	list := exec.Command(goCmd, "list", "-deps", ".")
	list.Dir, list.Env = dir, env
	if w.output, err = run(ctx, list, func(line string) {
		if !strings.HasPrefix(line, "go: ") {
			w.packages++
		}
	}); err != nil {
		return w, err
	}
	began := time.Now()
	build := exec.Command(goCmd, "build", "-v", "-o", filepath.Join(dir, "cell"))
	build.Dir, build.Env = dir, env
	w.output, err = run(ctx, build, func(line string) {
		w.compiled++
		onPackage(w.compiled, w.packages, line)
	})
	w.took = time.Since(began)
	return w, err
}

// writeWarm makes the module that GoNB would make for a notebook.
func writeWarm(dir, checkout, goVersion string) error {
	ver := strings.TrimPrefix(strings.Fields(goVersion)[0], "go")
	var main strings.Builder
	main.WriteString("package main\n\nimport (\n")
	for _, folder := range slices.Concat(wire.CellPackages, wire.AskedPackages, []string{"kernelext/cell"}) { // as far as the checkout has them
		if found, _ := filepath.Glob(filepath.Join(checkout, filepath.FromSlash(folder), "*.go")); len(found) > 0 {
			fmt.Fprintf(&main, "\t_ %q\n", Module+"/"+folder)
		}
	}
	for _, path := range warmStandard {
		fmt.Fprintf(&main, "\t_ %q\n", path)
	}
	main.WriteString(")\n\nfunc main() {}\n")
	for name, text := range map[string]string{
		"go.mod":  "module gonb_warm\n\ngo " + ver + "\n",
		"go.work": "go " + ver + "\n\nuse (\n\t.\n\t" + modfile.AutoQuote(checkout) + "\n)\n",
		"main.go": main.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
