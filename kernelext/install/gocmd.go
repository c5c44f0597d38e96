package install

import (
	"context"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/wire"
)

// minGo is the language version that go.mod asks for.
const minGo = "go1.26"

// FindGo returns the go command that cells are to be built with, and its version. It asks the one in PATH from inside the
// checkout, so that an older Go that downloads toolchains answers with the toolchain it would use there.
func FindGo(ctx context.Context, checkout string) (path, ver string, err error) {
	first, err := exec.LookPath("go")
	if err != nil {
		return "", "", fmt.Errorf("no go command in PATH: install Go 1.26 (https://go.dev/dl/), or any Go from 1.21 on, which downloads it by itself")
	}
	cmd := exec.CommandContext(ctx, first, "env", "GOVERSION", "GOROOT")
	cmd.Dir = checkout
	out, err := cmd.Output()
	if err != nil {
		text := err.Error()
		if ee, ok := err.(*exec.ExitError); ok {
			text = tail(string(ee.Stderr), 2)
		}
		return "", "", fmt.Errorf("%s cannot build this checkout: %s; install Go 1.26 (https://go.dev/dl/) or allow toolchain downloads (GOTOOLCHAIN=auto)", first, text)
	}
	ver, root, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if version.Compare(strings.Fields(ver)[0], minGo) < 0 {
		return "", "", fmt.Errorf("%s is %s, Halftone needs %s: install it from https://go.dev/dl/", first, ver, minGo)
	}
	return stableGo(filepath.Join(root, "bin", "go"), os.Getenv("PATH")), ver, nil
}

// stableGo prefers an entry of PATH that leads to the same go command over the path inside GOROOT: package managers put
// GOROOT into a versioned folder that disappears with the next upgrade, and the link in PATH does not.
func stableGo(inRoot, path string) string {
	real, err := filepath.EvalSymlinks(inRoot)
	if err != nil {
		return inRoot
	}
	for _, dir := range filepath.SplitList(path) {
		alias := filepath.Join(dir, "go")
		if !filepath.IsAbs(alias) || alias == inRoot || alias == real {
			continue
		}
		if target, err := filepath.EvalSymlinks(alias); err == nil && target == real {
			return alias
		}
	}
	return inRoot
}

// goEnv is the environment for building what we install: the same choices that change compiled packages as the cells have
// (no cgo, no -trimpath, no debug data), so that the standard library, amp and widgets are compiled once for both.
func goEnv(arch string) []string {
	env := os.Environ()
	kept := env[:0:0]
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		switch name {
		case "GOOS", "GOARCH", "GOFLAGS", "GOWORK", "CGO_ENABLED", "GOEXPERIMENT":
			// Cross-compiling that nobody asked us for, or flags meant for another module, would install something that cannot run here.
		default:
			kept = append(kept, e)
		}
	}
	kept = append(kept, "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-buildvcs=false "+wire.NoDebugData)
	return append(kept, archEnv(arch)...)
}

// goBuild builds a package of the module in dir for a processor into the file out, which appears only when it is complete.
func goBuild(ctx context.Context, goCmd, arch, dir, pkg, out string, onLine func(string), flags ...string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return "", err
	}
	tmp := out + ".new"
	args := append([]string{"build", "-v", "-o", tmp}, flags...)
	cmd := exec.Command(goCmd, append(args, pkg)...)
	cmd.Dir, cmd.Env = dir, append(goEnv(arch), "PWD="+dir)
	text, err := run(ctx, cmd, onLine)
	if err != nil {
		os.Remove(tmp)
		return text, err
	}
	return text, os.Rename(tmp, out)
}
