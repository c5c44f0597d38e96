package install

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/cudart/libraries"
	"github.com/halftone-ml/halftone/kernelext/labextension"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

// What the doctor says about a part.
const (
	OK      = "ok"
	Missing = "missing"
	Broken  = "broken"
	Stale   = "stale" // works, but is not what the checkout asks for
)

// A Part is one row of the doctor's report.
type Part struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
	Detail  string `json:"detail,omitempty"` // what is wrong
	Fix     string `json:"fix,omitempty"`    // what to do about it
	Needed  bool   `json:"needed"`           // cells do not run without it
}

// Healthy tells whether nothing that is needed is missing or broken.
func Healthy(parts []Part) bool {
	for _, p := range parts {
		if p.Needed && (p.Status == Missing || p.Status == Broken) {
			return false
		}
	}
	return true
}

const reinstall = "run `make lab` (or `halftone install`) in the checkout"

// A doctor looks at one installation.
type doctor struct {
	l     layout.Layout
	state layout.State
	goVer string
	goCmd string
}

// Doctor looks at every part. checkout is used for what has no installation yet.
func Doctor(ctx context.Context, l layout.Layout, checkout string) []Part {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	d := &doctor{l: l}
	var parts []Part
	state, err := l.Load()
	d.state = state
	home := Part{Name: "installation", Status: OK, Path: l.Home, Needed: true}
	if err != nil {
		home.Status, home.Detail, home.Fix = Missing, err.Error(), reinstall
		if err != layout.ErrNotInstalled {
			home.Status = Broken
		}
		d.state = layout.State{Checkout: checkout}
	}
	parts = append(parts, home, d.checkout(), d.golang(ctx), d.pythonPart(ctx))
	parts = append(parts, d.jupyter(ctx))
	for _, t := range Tools {
		parts = append(parts, d.tool(ctx, t))
	}
	parts = append(parts, d.binary(ctx), d.kernelspec(), d.frontEnd(), d.proxy(), d.cache(ctx), d.disk())
	return append(parts, gpuParts(os.Getenv(libraries.ModeEnv), libraries.Discover())...)
}

func (d *doctor) checkout() Part {
	p := Part{Name: "checkout", Status: OK, Path: d.state.Checkout, Needed: true}
	if _, err := InstalledCheckout(d.state); err != nil {
		p.Status, p.Detail = Missing, "it is not there any more"
		p.Fix = "if it was moved, run `make lab` in its new place; else clone it again and run `make lab`"
		return p
	}
	p.Version = Commit(d.state.Checkout)
	if d.state.Commit != p.Version && d.state.Commit != "" {
		p.Detail = "installed at " + d.state.Commit
	}
	return p
}

func (d *doctor) golang(ctx context.Context) Part {
	p := Part{Name: "Go", Status: OK, Path: d.state.Go, Needed: true}
	dir := d.state.Checkout
	if !isCheckout(dir) {
		dir = os.TempDir()
	}
	if d.state.Go != "" {
		out, err := runs(ctx, d.state.Go, "version")
		if err == nil {
			p.Version = goVersionOf(out)
			d.goCmd, d.goVer = d.state.Go, p.Version
			return goSetup(ctx, p, d.state.Go, dir)
		}
		p.Status, p.Detail, p.Fix = Broken, "the Go that was installed with does not run", reinstall
		return goSetup(ctx, p, d.state.Go, dir)
	}
	path, ver, err := FindGo(ctx, dir)
	if err != nil {
		p.Status, p.Detail, p.Fix = Missing, err.Error(), "install Go 1.26 from https://go.dev/dl/"
		return p
	}
	p.Path, p.Version = path, ver
	d.goCmd, d.goVer = path, ver
	return p
}

// goVersionOf takes "go1.26.1" out of what go version prints.
func goVersionOf(out string) string {
	f := strings.Fields(out)
	if len(f) < 3 {
		return out
	}
	return strings.Join(f[2:len(f)-1], " ")
}

func (d *doctor) pythonPart(ctx context.Context) Part {
	p := Part{Name: "Python", Status: OK, Path: d.state.Python, Needed: true}
	if d.state.Python == "" {
		for _, c := range pythonCandidates() {
			if py, err := probePython(ctx, c); err == nil && py.Recent() && py.Venv {
				p.Path, p.Version = c, py.Version
				return p
			}
		}
		p.Status, p.Detail, p.Fix = Missing, "no Python 3.10 or newer", pythonAdvice(runtime.GOOS, osRelease())
		return p
	}
	py, err := probePython(ctx, d.state.Python)
	switch {
	case err != nil:
		p.Status, p.Detail, p.Fix = Broken, err.Error(), reinstall
	default:
		p.Version = py.Version
	}
	return p
}

func (d *doctor) jupyter(ctx context.Context) Part {
	p := Part{Name: "JupyterLab", Status: Missing, Needed: true, Fix: reinstall}
	if d.state.Python == "" {
		p.Detail = "not installed yet"
		return p
	}
	p.Path = d.state.Python
	py, err := probePython(ctx, d.state.Python)
	switch {
	case err != nil:
		p.Status, p.Detail = Broken, "its Python does not run"
	case py.Broken != "":
		p.Status, p.Detail = Broken, py.Broken
	case py.HasLab():
		p.Status, p.Version, p.Fix = OK, py.Lab, ""
		if d.state.Python == venvPython(d.l.Venv()) {
			p.Path = d.l.Venv()
			if mark, _ := os.ReadFile(completeFile(d.l.Venv())); strings.TrimSpace(string(mark)) != lockHash() {
				p.Status, p.Detail, p.Fix = Stale, "made from another lock file", reinstall
			}
		}
	case py.HasJupyter():
		p.Status, p.Version = Stale, py.Lab
		p.Detail = "older than JupyterLab 4: figures show, but without interaction"
		p.Fix = "give `halftone install --private` network and Python 3.10, or upgrade this JupyterLab"
	default:
		p.Detail = fmt.Sprintf("%s has no JupyterLab 4 with nbclient and nbconvert", d.state.Python)
	}
	return p
}

func (d *doctor) tool(ctx context.Context, t Tool) Part {
	p := Part{Name: t.Name, Status: OK, Path: t.Path(d.l), Needed: t.Needed == "cells"}
	if _, err := os.Stat(p.Path); err != nil {
		p.Status, p.Detail, p.Fix = Missing, t.Needed+" do not work without it", reinstall
		if !p.Needed {
			p.Detail = "no completion or inspection without it; cells run"
		}
		return p
	}
	ver, by := t.Installed(d.l)
	p.Version = ver
	if ver == "" {
		p.Status, p.Detail, p.Fix = Broken, "the file is damaged", "remove it, then "+reinstall
		return p
	}
	if pinned, err := t.Pinned(d.state.Checkout); err == nil && !t.current(d.l, pinned, d.goVer) && d.goVer != "" {
		p.Status, p.Fix = Stale, reinstall
		p.Detail = fmt.Sprintf("built by %s; the checkout asks for %s by %s", by, pinned, d.goVer)
	}
	return p
}

func (d *doctor) binary(ctx context.Context) Part {
	p := Part{Name: "halftone", Status: OK, Path: d.l.Halftone(), Needed: true}
	if _, err := os.Stat(p.Path); err != nil {
		p.Status, p.Detail, p.Fix = Missing, "the kernel cannot start", reinstall
		return p
	}
	out, err := runs(ctx, p.Path, "version")
	if err != nil {
		p.Status, p.Detail, p.Fix = Broken, "it does not run: "+tail(out, 1), "remove it, then "+reinstall
		return p
	}
	p.Version = strings.TrimPrefix(out, "halftone ")
	if !isCheckout(d.state.Checkout) {
		return p
	}
	source, err := Fingerprint(d.state.Checkout)
	if err == nil && !strings.HasPrefix(builtFrom(d.l), source+" ") {
		p.Status, p.Detail, p.Fix = Stale, "the checkout's sources have changed since it was built", reinstall
	}
	return p
}

func (d *doctor) kernelspec() Part {
	p := Part{Name: "kernelspec", Status: Missing, Needed: true, Fix: reinstall, Detail: "Jupyter does not know the kernel"}
	if d.state.Data == "" {
		return p
	}
	p.Path = kernelDir(d.state.Data)
	switch there, ours := ownKernelspec(d.l, d.state.Data); {
	case ours:
		p.Status, p.Version, p.Detail, p.Fix = OK, layout.DisplayName, "", ""
	case there:
		p.Status, p.Detail = Broken, "it starts another installation"
	}
	return p
}

func (d *doctor) disk() Part {
	p := Part{Name: "disk space", Status: OK, Path: d.l.Home}
	free, err := FreeBytes(d.l.Home)
	if err != nil {
		p.Status, p.Detail = Broken, err.Error()
		return p
	}
	p.Version = fmt.Sprintf("%.1f GB free", float64(free)/1e9)
	if free < 1e9 {
		p.Status, p.Detail, p.Fix = Stale, "little is left: builds and notebooks may fail", "free some, or point HALFTONE_HOME and GOCACHE at a larger disk"
	}
	return p
}

func (d *doctor) frontEnd() Part {
	p := Part{Name: "front end", Status: Missing, Fix: reinstall, Detail: "figures show, but without interaction"}
	if d.state.Data == "" {
		return p
	}
	p.Path = frontEndDir(d.state.Data)
	if p.Status, p.Detail = frontEndState(d.state.Data); p.Status == OK {
		p.Fix = ""
		if lib, err := labextension.ECharts(); err == nil {
			p.Version = lib.Name + " " + lib.Version
		}
	}
	return p
}

func (d *doctor) proxy() Part {
	p := Part{Name: "modules", Path: d.l.Proxy(), Status: OK}
	n := countModules(d.l.Proxy())
	p.Version = plural(n, "module")
	if n == 0 {
		p.Status, p.Detail, p.Fix = Missing, "cells need a network for what Halftone imports", reinstall
	}
	return p
}

// cache builds the warm-up program: a warm cache has nothing to compile.
func (d *doctor) cache(ctx context.Context) Part {
	p := Part{Name: "build cache", Status: OK, Needed: true}
	if d.goCmd == "" || !isCheckout(d.state.Checkout) {
		p.Status, p.Needed, p.Detail = Missing, false, "cannot be tried without Go and the checkout"
		return p
	}
	in := &Installer{Layout: d.l, Checkout: d.state.Checkout, goCmd: d.goCmd, goVersion: d.goVer}
	w, err := buildWarm(ctx, d.goCmd, d.goVer, d.state.Checkout, in.cellEnv(), func(int, int, string) {})
	switch {
	case err != nil:
		p.Status, p.Detail, p.Fix = Broken, "a cell does not compile: "+tail(w.output, 1), "repair the checkout, then "+reinstall
	case w.compiled > 3:
		p.Status, p.Version = Stale, "was cold"
		p.Detail = fmt.Sprintf("%d of %d packages had to be compiled just now; the next cell is fast", w.compiled, w.packages)
	default:
		p.Version = fmt.Sprintf("a cell builds in %s", seconds(w.took))
	}
	return p
}
