package kernel

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/kernelext/wire"
)

// Cells are built without cgo: they link in half the time, and need no C compiler. A cell that imports a package with C in it,
// or one that needs such a package, turns cgo on, from then on and until a %reset. Who sets CGO_ENABLED decides instead.

// cgo is what is known about the notebook's need of it.
type cgo struct {
	users bool            // the user decides
	on    bool            // in the GoNB that runs
	needs map[string]bool // by import path
}

// listTimeout bounds the question which packages an import needs: answering it may download modules.
const listTimeout = time.Minute

// startImports looks at the imports of a cell. It returns false when the cell can run; else the cell comes again to forward
// when it is known whether its imports need cgo.
func (k *kernel) startImports(m *message) bool {
	if m.kind != "execute_request" || m.listed {
		return false
	}
	m.listed = true
	code := codeOf(m)
	k.cgo.users = k.cgo.users || setsCgo(code)
	if k.cgo.users || k.cgo.on || !slices.Contains(k.spawn.env, wire.AutoCgoEnv+"=1") {
		return false
	}
	var unknown []string
	for _, path := range imported(code) {
		need, known := k.cgo.needs[path]
		if path == "C" || need {
			k.turnCgo(true)
			return false
		}
		if !known && strings.Contains(strings.Split(path, "/")[0], ".") && path != Module && !strings.HasPrefix(path, Module+"/") {
			unknown = append(unknown, path)
		}
	}
	if len(unknown) == 0 {
		return false
	}
	k.listImports(m, unknown)
	return true
}

// listImports asks the go command, on a goroutine of its own.
func (k *kernel) listImports(m *message, paths []string) {
	ctx, stop := context.WithTimeout(context.Background(), listTimeout)
	r := &request{m: m, since: time.Now(), stop: stop}
	k.current = r
	k.announce(m)
	tmp, env := k.child.tmp, k.spawn.env
	go func() {
		defer stop()
		need, err := needCgo(ctx, tmp, env, paths)
		stopped := ctx.Err() == context.Canceled
		k.do(func() {
			if k.current != r { // GoNB died meanwhile: the cell is in the queue again
				m.listed = false
				return
			}
			if err == nil { // otherwise GoNB says better what is wrong
				for _, path := range paths {
					k.cgo.needs[path] = need
				}
			}
			if stopped {
				m.magic = &magicCell{code: codeOf(m)}
				m.magic.refuse(context.Canceled)
			} else if need {
				k.turnCgo(true)
			}
			k.current, k.queue = nil, append([]*message{m}, k.queue...)
			k.pump()
		})
	}()
}

// needCgo says whether one of the imports, or what they need, has C in it. It asks in a copy of GoNB's module, where modules
// are downloaded as GoNB itself would do next.
func needCgo(ctx context.Context, tmp string, env, paths []string) (bool, error) {
	dir, err := os.MkdirTemp(tmp, "list")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	for _, work := range workDirs(tmp) {
		for _, name := range []string{"go.mod", "go.sum"} {
			if b, err := os.ReadFile(filepath.Join(work, name)); err == nil {
				_ = os.WriteFile(filepath.Join(dir, name), b, 0o600)
			}
		}
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-mod=mod", "-deps", "-f", "{{if not .Standard}}{{range .CgoFiles}}C{{end}}{{end}}"}, paths...)...)
	if path := lookPath(env, "go"); path != "" {
		cmd.Path, cmd.Err = path, nil
	}
	cmd.Dir, cmd.Env = dir, setEnv(env, "CGO_ENABLED=1", "GOWORK=off", "PWD="+dir)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return strings.Contains(string(out), "C"), err
}

// lookPath finds a program as GoNB would.
func lookPath(env []string, name string) string {
	for _, v := range env {
		dirs, ok := strings.CutPrefix(v, "PATH=")
		for _, dir := range filepath.SplitList(dirs) {
			if p, err := exec.LookPath(filepath.Join(dir, name)); ok && err == nil {
				return p
			}
		}
	}
	return ""
}

// turnCgo switches cgo on or off for the cells that follow.
func (k *kernel) turnCgo(on bool) {
	if k.cgo.on == on {
		return
	}
	k.cgo.on = on
	k.hidden("%env CGO_ENABLED " + map[bool]string{false: "0", true: "1"}[on])
}

// setsCgo reports whether a cell sets CGO_ENABLED.
func setsCgo(code string) bool {
	for line := range strings.Lines(code) {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "//gonb:"))
		if len(f) > 1 && f[0] == "%env" && (f[1] == "CGO_ENABLED" || strings.HasPrefix(f[1], "CGO_ENABLED=")) {
			return true
		}
	}
	return false
}

// imported lists the paths that a cell imports.
func imported(code string) (paths []string) {
	if !strings.Contains(code, "import") {
		return nil
	}
	for _, m := range importSpec.FindAllStringSubmatch(code, -1) {
		paths = append(paths, m[2])
	}
	return paths
}
