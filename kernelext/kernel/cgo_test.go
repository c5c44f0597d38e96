package kernel

import (
	"os/exec"
	"strings"
	"testing"
)

// printsCgo is a cell that says how it was built.
const printsCgo = `%%
info, _ := debug.ReadBuildInfo()
for _, s := range info.Settings {
	if s.Key == "CGO_ENABLED" {
		fmt.Println("cgo", s.Value)
	}
}`

// A cell whose imports need cgo gets it, and those behind it; all others are built without.
func TestCgo(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler")
	}
	proxy := newModuleServer(t)
	s := startKernel(t, home(t), emptyCache(t), "GOPROXY="+proxy.URL, "GONOSUMDB=example.org", "CGO_ENABLED=")
	const native = "import \"example.org/greet/native\"\n%%\nfmt.Println(native.Answer())"
	plain := func(name, want string) {
		t.Helper()
		if r := s.run(printsCgo).ok(t); r.stdout != want {
			t.Errorf("%s: %q", name, r.stdout)
		}
	}
	plain("at first", "cgo 0\n")
	s.run(greetCell).ok(t)
	plain("with a module that has no C in it", "cgo 0\n")
	if r := s.run(native).ok(t); r.stdout != "42\n" || len(r.states) != 3 && len(r.states) != 2 {
		t.Errorf("%q %v", r.stdout, r.states)
	}
	plain("after a cell that needs it", "cgo 1\n")
	s.run("%reset").ok(t)
	plain("after a reset", "cgo 0\n")
	if r := s.run(native).ok(t); r.stdout != "42\n" {
		t.Errorf("%q", r.stdout)
	}
	s.run("%reset").ok(t)
	s.run("%env CGO_ENABLED 0").ok(t)
	if r := s.run(native); r.reply["status"] != "error" { // who sets it decides
		t.Errorf("%v", r.reply)
	}
}

func TestUsersCgoIsKept(t *testing.T) {
	s := startKernel(t, home(t), "CGO_ENABLED=1")
	if r := s.run(printsCgo).ok(t); r.stdout != "cgo 1\n" {
		t.Errorf("%q", r.stdout)
	}
}

func TestImported(t *testing.T) {
	code := "import \"C\"\nimport (\n\t\"fmt\"\n\tx \"example.org/a/b\" // c\n\t_ \"example.org/d\"\n)\n%%\nfmt.Println(\"import\", \"no\")"
	if got := strings.Join(imported(code), " "); got != "C fmt example.org/a/b example.org/d" {
		t.Error(got)
	}
	for code, want := range map[string]bool{
		"%env CGO_ENABLED=1": true, "//gonb:%env CGO_ENABLED 0\n%%": true, "%env CGO_CFLAGS=-O": false, "fmt.Println(`x`)": false,
	} {
		if setsCgo(code) != want {
			t.Errorf("%q", code)
		}
	}
}

// Where a driver is, cells that use Halftone know the device "cuda", and no others are burdened.
func TestGlue(t *testing.T) {
	s := startKernel(t, home(t), driverEnv+"=yes")
	const trivial = "%%\nfmt.Println(1)"
	const cuda = "%%\nfmt.Println(amp.Maybe(func() { amp.NewScope(amp.On(\"cuda:7\")) }))"
	has := func() bool {
		return strings.Contains(s.run("!*ls").ok(t).stdout, glueName)
	}
	s.run(trivial).ok(t)
	if has() {
		t.Error("a cell without Halftone has the glue")
	}
	// The line of an error is the cell's.
	if r := s.run(cuda + "\nvar x int"); !strings.Contains(r.reply["evalue"].(string), "line 3") {
		t.Errorf("%v", r.reply)
	}
	r := s.run(cuda).ok(t)
	if strings.Contains(r.stdout, "import _") || strings.Contains(r.stdout, "<nil>") {
		t.Errorf("cudart is not in the cell: %s", r.stdout)
	}
	s.run("func scope() *amp.Scope { return amp.NewScope() }").ok(t)
	s.run(trivial).ok(t)
	if !has() {
		t.Error("a cell that may use Halftone has no glue")
	}
	s.run("%reset").ok(t)
	if s.run(trivial).ok(t); has() {
		t.Error("the glue outlives a reset")
	}
	if r := s.run(cuda).ok(t); strings.Contains(r.stdout, "import _") {
		t.Errorf("after a reset: %s", r.stdout)
	}
}

func TestNoGlueWithoutADriver(t *testing.T) {
	s := startKernel(t, home(t), driverEnv+"=no")
	r := s.run("%%\nfmt.Println(amp.Maybe(func() { amp.NewScope(amp.On(\"cuda:7\")) }))").ok(t)
	if !strings.Contains(r.stdout, "import _") {
		t.Errorf("%s", r.stdout)
	}
}

// Cells are linked without debug data, unless the user asks for it in one of GoNB's ways.
func TestDebugData(t *testing.T) {
	s := startKernel(t, home(t), "GOFLAGS=")
	const printsDebug = "%%\nname, _ := os.Executable()\nf, err := elf.Open(name)\nfmt.Println(err, f.Section(\".debug_info\") != nil || f.Section(\".zdebug_info\") != nil)"
	has := func() string {
		t.Helper()
		return s.run("import \"debug/elf\"\n" + printsDebug).ok(t).stdout
	}
	if got := has(); got != "<nil> false\n" {
		t.Errorf("by default: %q", got)
	}
	s.run("%goflags -ldflags=").ok(t)
	if got := has(); got != "<nil> true\n" {
		t.Errorf("with %%goflags: %q", got)
	}
	s.run("%goflags \"\"").ok(t)
	s.run("%env GOFLAGS -buildvcs=false").ok(t)
	if got := has(); got != "<nil> true\n" {
		t.Errorf("with %%env: %q", got)
	}
}
