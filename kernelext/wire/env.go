// Package wire connects notebook cells with the modules they import: Halftone itself from its checkout, what Halftone
// needs from a module proxy made of files, and everything else from where the user's Go gets it.
package wire

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

// Env returns the environment for GoNB and the cells it builds: environ, which a user may have set up in many ways, with
// what cells need. The user's own choices are kept wherever cells work with them.
func Env(l layout.Layout, s layout.State, environ []string) []string {
	env := newEnvironment(environ)
	goCmd := s.Go
	if goCmd == "" {
		goCmd = "go"
	}
	user := goSettings(goCmd, environ)

	env.set("PATH", searchPath(env.get("PATH"), l.Bin(), goCmd))
	proxy := url.URL{Scheme: "file", Path: filepath.ToSlash(l.Proxy())}
	env.set("GOPROXY", proxy.String()+","+user.proxy)
	env.set("GOFLAGS", goFlags(user.flags))
	// GoNB works in a module and a workspace of its own making: neither can be switched off or be another one.
	env.set("GO111MODULE", "on")
	env.unset("GOWORK")
	// A cell with cgo links twice as long, and the libraries that Halftone uses are loaded at run time.
	if !user.cgo {
		env.set("CGO_ENABLED", "0")
		env.set(AutoCgoEnv, "1")
	}
	return env.list()
}

// AutoCgoEnv is set to "1" when it is the kernel that chooses whether cells are built with cgo, and not the user.
const AutoCgoEnv = "HALFTONE_AUTO_CGO"

// settings are what the user has chosen.
type settings struct {
	proxy, flags string
	cgo          bool // CGO_ENABLED is set to anything
}

// goSettings asks the go command, which knows the user's configuration file too. Without an answer what the environment
// says counts, or the modules' own repositories.
func goSettings(goCmd string, environ []string) settings {
	s := settings{proxy: "direct"}
	for _, v := range environ {
		if proxy, ok := strings.CutPrefix(v, "GOPROXY="); ok && proxy != "" {
			s.proxy = proxy
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, goCmd, "env", "-json", "GOPROXY", "GOFLAGS", "GOENV")
	cmd.Env, cmd.Dir = environ, "/"
	out, err := cmd.Output()
	var answer struct{ GOPROXY, GOFLAGS, GOENV string }
	if err == nil && json.Unmarshal(out, &answer) == nil {
		s.flags = answer.GOFLAGS
		if answer.GOPROXY != "" {
			s.proxy = answer.GOPROXY
		}
	}
	// What `go env` says of cgo does not tell a choice from the default.
	file, _ := os.ReadFile(answer.GOENV)
	for _, v := range append(strings.Split(string(file), "\n"), environ...) {
		s.cgo = s.cgo || strings.HasPrefix(v, "CGO_ENABLED=") && v != "CGO_ENABLED="
	}
	return s
}

// NoDebugData is the flag that keeps every package free of debug data. The linker drops it anyway, after having read it: of
// a cell that trains it is a tenth of the build. Packages compiled with it are others to the go command than those without.
const NoDebugData = "-gcflags=all=-dwarf=false"

// goFlags returns the user's flags with ours. Without debug data a cell links in two thirds of the time.
func goFlags(user string) string {
	var flags []string
	for _, flag := range splitQuoted(user) {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if name == "mod" || name == "modfile" {
			continue // the go command refuses them in a workspace, and GoNB then does not start
		}
		flags = append(flags, flag)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(flags, func(f string) bool {
			f = strings.TrimLeft(f, "-")
			return f == name || strings.HasPrefix(f, name+"=")
		})
	}
	if !has("ldflags") {
		flags = append(flags, "-ldflags=-s -w")
		if !has("gcflags") {
			flags = append(flags, NoDebugData)
		}
	}
	if !has("buildvcs") {
		flags = append(flags, "-buildvcs=false") // a home folder under version control costs, or breaks, every build
	}
	for i, flag := range flags {
		if strings.ContainsAny(flag, " \t\n") {
			quote := "'"
			if strings.Contains(flag, "'") {
				quote = `"`
			}
			flags[i] = quote + flag + quote
		}
	}
	return strings.Join(flags, " ")
}

// splitQuoted splits as the go command splits GOFLAGS: at white space, with quotes around whole flags.
func splitQuoted(s string) []string {
	var fields []string
	for {
		s = strings.TrimLeft(s, " \t\n\r")
		if s == "" {
			return fields
		}
		if q := s[0]; q == '"' || q == '\'' {
			field, rest, _ := strings.Cut(s[1:], string(q))
			fields, s = append(fields, field), rest
			continue
		}
		end := strings.IndexAny(s, " \t\n\r")
		if end < 0 {
			end = len(s)
		}
		fields, s = append(fields, s[:end]), s[end:]
	}
}

// searchPath puts our programs first. The go command's folder is added only where another go, or none, would be found:
// it may be a folder of the system's, and a user's own programs are to stay in front of those.
func searchPath(path, bin, goCmd string) string {
	dirs := []string{bin}
	for _, dir := range filepath.SplitList(path) {
		if dir != bin {
			dirs = append(dirs, dir)
		}
	}
	if filepath.IsAbs(goCmd) && !sameFile(firstIn(dirs, "go"), goCmd) {
		dirs = slices.Insert(dirs, 1, filepath.Dir(goCmd))
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

func firstIn(dirs []string, name string) string {
	for _, dir := range dirs {
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(p) {
			return p
		}
	}
	return ""
}

func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	x, err1 := filepath.EvalSymlinks(a)
	y, err2 := filepath.EvalSymlinks(b)
	return err1 == nil && err2 == nil && x == y
}

// An environment is a list of variables each of which is there once: programs differ in which of two they read.
type environment struct {
	names  []string
	values map[string]string
}

func newEnvironment(environ []string) *environment {
	e := &environment{values: map[string]string{}}
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok && name != "" {
			e.set(name, value)
		}
	}
	return e
}

func (e *environment) get(name string) string { return e.values[name] }

func (e *environment) set(name, value string) {
	if _, ok := e.values[name]; !ok {
		e.names = append(e.names, name)
	}
	e.values[name] = value
}

func (e *environment) unset(name string) {
	delete(e.values, name)
	e.names = slices.DeleteFunc(e.names, func(n string) bool { return n == name })
}

func (e *environment) list() []string {
	out := make([]string, len(e.names))
	for i, name := range e.names {
		out[i] = name + "=" + e.values[name]
	}
	return out
}
