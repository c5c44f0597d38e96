package wire

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

// variables turns an environment into a map and fails when a name is there twice.
func variables(t *testing.T, env []string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if _, dup := m[name]; dup {
			t.Errorf("%s is there twice", name)
		}
		m[name] = value
	}
	return m
}

func goPath(t *testing.T) string {
	t.Helper()
	p, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// home is a home folder of a user who has switched the go command's telemetry off: it is written by a process that outlives
// the command, into a folder that the test then removes.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	mode := filepath.Join(dir, ".config", "go", "telemetry", "mode")
	if err := os.MkdirAll(filepath.Dir(mode), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mode, []byte("off"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEnv(t *testing.T) {
	l := layout.Layout{Home: "/home/a user/ha"}
	s := layout.State{Go: goPath(t)}
	base := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home(t), "GOENV=off", "LANG=C", "GOWORK=off", "GO111MODULE=off"}

	v := variables(t, Env(l, s, base))
	usual := exec.Command(goPath(t), "env", "GOPROXY")
	usual.Env = base
	proxy, err := usual.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "file:///home/a%20user/ha/goproxy," + strings.TrimSpace(string(proxy)); v["GOPROXY"] != want {
		t.Errorf("GOPROXY %s, want %s", v["GOPROXY"], want)
	}
	if v["GOFLAGS"] != "'-ldflags=-s -w' -gcflags=all=-dwarf=false -buildvcs=false" || v["CGO_ENABLED"] != "0" || v["GO111MODULE"] != "on" || v["LANG"] != "C" {
		t.Errorf("%v", v)
	}
	if _, ok := v["GOWORK"]; ok {
		t.Error("GOWORK is kept")
	}
	if !strings.HasPrefix(v["PATH"], l.Bin()+":") {
		t.Errorf("PATH %s", v["PATH"])
	}

	v = variables(t, Env(l, s, append(base, "GOPROXY=https://a.example|direct", "CGO_ENABLED=1", "GOFLAGS=-mod=mod -tags=x '-ldflags=-X a.b=c d'", "LANG=D")))
	if !strings.HasSuffix(v["GOPROXY"], ",https://a.example|direct") || v["CGO_ENABLED"] != "1" || v["LANG"] != "D" {
		t.Errorf("%v", v)
	}
	if v["GOFLAGS"] != "-tags=x '-ldflags=-X a.b=c d' -buildvcs=false" {
		t.Errorf("GOFLAGS %s", v["GOFLAGS"])
	}
	if again := Env(l, s, Env(l, s, base)); !strings.HasPrefix(variables(t, again)["PATH"], l.Bin()+":") || strings.Count(variables(t, again)["PATH"], l.Bin()) != 1 {
		t.Errorf("a second time: %v", again)
	}
}

// TestEnvReadsTheUsersConfiguration sets what `go env -w` sets.
func TestEnvReadsTheUsersConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte("GOPROXY=https://corp.example\nCGO_ENABLED=1\nGOFLAGS=-tags=corp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home(t), "GOENV=" + file}
	v := variables(t, Env(layout.Layout{Home: "/h"}, layout.State{Go: goPath(t)}, base))
	if v["GOPROXY"] != "file:///h/goproxy,https://corp.example" || !strings.HasPrefix(v["GOFLAGS"], "-tags=corp ") {
		t.Errorf("%v", v)
	}
	if cgo, ok := v["CGO_ENABLED"]; ok {
		t.Errorf("the user's choice of cgo was overridden: %s", cgo)
	}
}

// TestDebugDataIsLeftToTheUser keeps it where the user links with flags of his own, or compiles with some: for a debugger, say.
func TestDebugDataIsLeftToTheUser(t *testing.T) {
	for user, want := range map[string]string{
		"":                 "'-ldflags=-s -w' -gcflags=all=-dwarf=false -buildvcs=false",
		"-ldflags=":        "-ldflags= -buildvcs=false",
		"-gcflags=all=-N":  "-gcflags=all=-N '-ldflags=-s -w' -buildvcs=false",
		"--gcflags -race":  "--gcflags -race '-ldflags=-s -w' -buildvcs=false",
		"-gcflagsx=1 -x=2": "-gcflagsx=1 -x=2 '-ldflags=-s -w' -gcflags=all=-dwarf=false -buildvcs=false",
	} {
		if got := goFlags(user); got != want {
			t.Errorf("%q: %s, want %s", user, got, want)
		}
	}
}

func TestEnvWithoutGo(t *testing.T) {
	v := variables(t, Env(layout.Layout{Home: "/h"}, layout.State{Go: "/nowhere/go"}, []string{"PATH=/nowhere"}))
	if v["GOPROXY"] != "file:///h/goproxy,direct" {
		t.Errorf("%v", v)
	}
	v = variables(t, Env(layout.Layout{Home: "/h"}, layout.State{Go: "/nowhere/go"}, []string{"PATH=/nowhere", "GOPROXY=https://corp.example"}))
	if v["GOPROXY"] != "file:///h/goproxy,https://corp.example" {
		t.Errorf("%v", v)
	}
}

// TestGoTakesTheFlags asks the go command whether it reads GOFLAGS as we wrote it.
func TestGoTakesTheFlags(t *testing.T) {
	for _, user := range []string{"", "-tags=x,y", "'-ldflags=-X a.b=c d'", `"-gcflags=-d='x'"`, "-mod=vendor", "-modfile=/x/go.mod -v"} {
		cmd := exec.Command(goPath(t), "list", "std")
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "GOFLAGS="+goFlags(user))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q became %q: %s", user, goFlags(user), out)
		}
	}
	for text, want := range map[string][]string{
		"": nil, " a  b ": {"a", "b"}, "'a b' c": {"a b", "c"}, `"it's" d`: {"it's", "d"}, "'open": {"open"},
	} {
		if got := splitQuoted(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestSearchPath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"old", "new", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"old/go", "new/go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := func(names ...string) string {
		for i, n := range names {
			names[i] = filepath.Join(dir, n)
		}
		return strings.Join(names, ":")
	}
	newGo := filepath.Join(dir, "new", "go")
	for _, c := range [][2]string{
		{p("other", "new"), p("bin", "other", "new")},        // already the first go: the user's order stays
		{p("old", "new"), p("bin", "new", "old", "new")},     // another go would be found
		{p("other"), p("bin", "new", "other")},               // none would be found
		{p("bin", "other", "bin"), p("bin", "new", "other")}, // not twice
	} {
		if got := searchPath(c[0], filepath.Join(dir, "bin"), newGo); got != c[1] {
			t.Errorf("%s\nbecame %s\nwant   %s", c[0], got, c[1])
		}
	}
}

func TestBuildProxy(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := BuildProxy(dir, root, goPath(t)); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(dir, "github.com", "x448", "float16", "@v", "list"))
	if err != nil || !strings.HasPrefix(string(list), "v") {
		t.Fatalf("%v %q", err, list)
	}
	before := tree(t, dir)

	// What is damaged or missing comes back, what is not needed goes, and a second run changes nothing.
	zips, _ := filepath.Glob(filepath.Join(dir, "github.com", "x448", "float16", "@v", "*.zip"))
	if len(zips) != 1 {
		t.Fatalf("%v", zips)
	}
	_ = os.Remove(zips[0])
	stale := filepath.Join(dir, "example.org", "gone", "@v")
	if err := os.MkdirAll(stale, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"list", "v1.0.0.zip", "../@latest"} {
		if err := os.WriteFile(filepath.Join(stale, name), []byte("v1.0.0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := BuildProxy(dir, root, goPath(t)); err != nil {
		t.Fatal(err)
	}
	if after := tree(t, dir); !reflect.DeepEqual(before, after) {
		t.Errorf("%v\nbecame\n%v", before, after)
	}

	// The go command reads it as a proxy: everything the checkout needs, from there alone and into an empty cache. One module after
	// the other, since all of them unpacked are half a gigabyte.
	for _, m := range modules(t, root) {
		downloadFrom(t, dir, root, m)
	}

	if err := BuildProxy(t.TempDir(), t.TempDir(), goPath(t)); err == nil {
		t.Error("a folder without go.mod was a checkout")
	}
}

// modules lists what the checkout needs, with versions.
func modules(t *testing.T, root string) (list []string) {
	t.Helper()
	all, err := download(t.Context(), root, goPath(t))
	if err != nil || len(all) < 10 {
		t.Fatalf("%d modules: %v", len(all), err)
	}
	for _, m := range all {
		list = append(list, m.Path+"@"+m.Version)
	}
	return list
}

// downloadFrom has the go command download a module from a folder into an empty cache.
func downloadFrom(t *testing.T, proxy, root, module string) {
	t.Helper()
	cache, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { // what the go command unpacks is read-only
		_ = filepath.WalkDir(cache, func(p string, _ os.DirEntry, _ error) error { return os.Chmod(p, 0o700) })
		if err := os.RemoveAll(cache); err != nil {
			t.Error(err)
		}
	}()
	cmd := exec.Command(goPath(t), "mod", "download", module)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOPROXY=file://"+proxy, "GOMODCACHE="+cache, "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", module, err, out)
	}
}

// tree lists the files below dir with their sizes.
func tree(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	files := map[string]int64{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		files[p] = info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
