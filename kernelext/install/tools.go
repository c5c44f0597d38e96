package install

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

// A Tool is a program that the kernel runs, built at the version that a module in the checkout pins.
type Tool struct {
	Name    string
	Package string
	Module  string
	Dir     string // of the pinning module, within the checkout
	Needed  string // what does not work without it
}

// Tools lists them in the order they are needed.
var Tools = []Tool{
	{"gonb", "github.com/janpfeifer/gonb", "github.com/janpfeifer/gonb", "kernelext/tools", "cells"},
	{"goimports", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools", "kernelext/tools", "cells"},
	{"gopls", "golang.org/x/tools/gopls", "golang.org/x/tools/gopls", "kernelext/tools/gopls", "completion and inspection"},
}

// Path is where the tool is installed.
func (t Tool) Path(l layout.Layout) string { return filepath.Join(l.Bin(), t.Name) }

// Pinned is the version that the checkout asks for.
func (t Tool) Pinned(checkout string) (string, error) {
	path := filepath.Join(checkout, filepath.FromSlash(t.Dir), "go.mod")
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w; the checkout is not complete", t.Name, err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(s.Text()), "require "))
		if len(words) >= 2 && words[0] == t.Module {
			return words[1], nil
		}
	}
	return "", fmt.Errorf("%s does not pin %s: the checkout is damaged", path, t.Module)
}

// Installed is the version of the installed tool and the Go that built it; "" when it is missing or cannot be read.
func (t Tool) Installed(l layout.Layout) (ver, goVersion string) {
	info, err := buildinfo.ReadFile(t.Path(l))
	if err != nil || info.Path != t.Package {
		return "", ""
	}
	if info.Main.Path == t.Module {
		return info.Main.Version, info.GoVersion
	}
	for _, d := range info.Deps {
		if d.Path == t.Module {
			return d.Version, info.GoVersion
		}
	}
	return "", ""
}

// current tells whether the installed tool is the pinned one, built by this version of Go.
func (t Tool) current(l layout.Layout, pinned, goVersion string) bool {
	ver, by := t.Installed(l)
	return ver == pinned && by == goVersion
}

// build installs the tool unless it is current already, and says what it did.
func (t Tool) build(ctx context.Context, in *Installer, p *Progress) (string, error) {
	pinned, err := t.Pinned(in.Checkout)
	if err != nil {
		return "", err
	}
	if t.current(in.Layout, pinned, in.goVersion) && fits(t.Path(in.Layout), in.Arch) {
		return pinned, nil
	}
	compiled := 0
	out, err := goBuild(ctx, in.goCmd, in.Arch, filepath.Join(in.Checkout, filepath.FromSlash(t.Dir)), t.Package, t.Path(in.Layout), func(line string) {
		compiled++
		p.Status("%s %s", verb(line), strings.TrimPrefix(line, "go: downloading "))
	}, "-ldflags=-s -w")
	if err != nil {
		return "", explain("building "+t.Name+" "+pinned, in.Layout.Home, err, out)
	}
	if !t.current(in.Layout, pinned, in.goVersion) {
		ver, by := t.Installed(in.Layout)
		return "", fmt.Errorf("%s was built as %q by %q instead of %s by %s: report this", t.Name, ver, by, pinned, in.goVersion)
	}
	return pinned + ", built", nil
}

// verb tells a download from a compiled package in the output of go build -v.
func verb(line string) string {
	if strings.HasPrefix(line, "go: downloading ") {
		return "downloading"
	}
	return "compiling"
}
