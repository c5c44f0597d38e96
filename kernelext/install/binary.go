package install

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

// built names the sources and the Go that a binary was made from; it lies beside the binary, written after it, so that an
// interrupted build is never taken for a finished one.
func builtFile(l layout.Layout) string { return l.Halftone() + ".from" }

func builtFrom(l layout.Layout) string {
	for _, program := range []string{l.Halftone(), l.CellGo()} {
		if _, err := os.Stat(program); err != nil {
			return ""
		}
	}
	b, _ := os.ReadFile(builtFile(l))
	return strings.TrimSpace(string(b))
}

// buildBinary installs the halftone command and what cells find as the go command, rebuilt when the checkout's sources or the Go version
// differ from what the installed ones were made from.
func (in *Installer) buildBinary(ctx context.Context, p *Progress) (string, error) {
	want := in.source + " " + in.goVersion
	if err := clearForeign(in.Layout, in.Arch); err != nil {
		return "", err
	}
	if builtFrom(in.Layout) == want && fits(in.Layout.Halftone(), in.Arch) {
		return short(in.commit, in.source), nil
	}
	os.Remove(builtFile(in.Layout))
	for _, b := range []struct{ pkg, out, flags string }{
		{"./kernelext/cmd/halftone", in.Layout.Halftone(), "-ldflags=-s -w -X main.commit=" + in.commit + " -X main.source=" + in.source},
		{"./kernelext/cmd/halftone-go", in.Layout.CellGo(), "-ldflags=-s -w"},
	} {
		out, err := goBuild(ctx, in.goCmd, in.Arch, in.Checkout, b.pkg, b.out, func(line string) {
			p.Status("%s %s", verb(line), strings.TrimPrefix(line, "go: downloading "))
		}, b.flags)
		if err != nil {
			return "", explain("building the "+filepath.Base(b.out)+" command", in.Layout.Home, err, out)
		}
	}
	if err := os.WriteFile(builtFile(in.Layout), []byte(want+"\n"), 0o644); err != nil {
		return "", explain("writing "+builtFile(in.Layout), in.Layout.Home, err, "")
	}
	in.rebuilt = true
	return short(in.commit, in.source) + ", built", nil
}

func short(commit, source string) string {
	if commit == "" {
		return "sources " + source
	}
	return commit
}

// handOver replaces this process by the binary it has just built, when it was itself started from the installed file: what is
// embedded in the old one (the lock, the front end) would otherwise be installed once more.
func (in *Installer) handOver(release func()) error {
	self, err := os.Executable()
	if err != nil || !in.rebuilt {
		return nil
	}
	real, err := filepath.EvalSymlinks(self)
	if err != nil {
		real = self
	}
	installed, err := filepath.EvalSymlinks(in.Layout.Halftone())
	// Linux calls the file of a running program that was replaced "… (deleted)".
	if err != nil || strings.TrimSuffix(real, " (deleted)") != installed {
		return nil
	}
	release()
	return syscall.Exec(installed, os.Args, os.Environ())
}

// runs tells whether a program starts at all; a binary copied from another machine does not.
func runs(ctx context.Context, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
