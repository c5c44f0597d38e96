package kernel

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/cellsource"
)

// emptyCache returns environment that gives Go a module cache with nothing in it, at the same place each time: Go compiles again, for
// a minute and more, what lies in another.
func emptyCache(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(toolsDir), "modules")
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) // tests of another process may use it
	}
	if err != nil {
		t.Fatal(err)
	}
	clear := func() error {
		_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error { return os.Chmod(p, 0o700) }) // Go makes it read-only
		return os.RemoveAll(dir)
	}
	t.Cleanup(func() {
		_ = clear()
		_ = lock.Close()
	})
	if err := clear(); err != nil {
		t.Fatal(err)
	}
	return "GOMODCACHE=" + dir
}

func TestPinnedModulesNeedNoNetwork(t *testing.T) {
	s := startKernel(t, home(t), emptyCache(t), "GOPROXY=off")
	r := s.run("%%\nfmt.Println(amp.Float16)").ok(t)
	if strings.TrimSpace(r.stdout) == "" {
		t.Error("no output")
	}
	// A module that Halftone needs, imported by the cell itself: the version is the pinned one.
	s.run("import \"github.com/x448/float16\"\n%%\nfmt.Println(float16.Fromfloat32(1.5))").ok(t)
	out := s.run("!*go list -m github.com/x448/float16").ok(t).stdout
	if want := pinned(t, "github.com/x448/float16"); !strings.Contains(out, want) {
		t.Errorf("got %s, want %s", out, want)
	}
	// Everything else is as the user has set it: off.
	r = s.run(greetCell)
	if r.reply["ename"] != "ImportError" || r.reply["evalue"] != "example.org/greet: cannot find module providing package example.org/greet" {
		t.Errorf("%v %s", r.reply, r.stdout)
	}
}

func pinned(t *testing.T, path string) string {
	t.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Version}}", path)
	cmd.Dir = checkout
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// A moduleServer is a user's module proxy: it has example.org/greet and remembers what was asked.
type moduleServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newModuleServer(t *testing.T) *moduleServer {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range map[string]string{
		"go.mod": "module example.org/greet\n\ngo 1.21\n", "greet.go": "package greet\n\nfunc Hello() string { return \"hello from afar\" }\n",
		"native/native.go": "package native\n\n// static int answer(void) { return 42; }\nimport \"C\"\n\nfunc Answer() int { return int(C.answer()) }\n",
	} {
		w, err := z.Create("example.org/greet@v1.2.3/" + name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"/example.org/greet/@v/list":        "v1.2.3\n",
		"/example.org/greet/@v/v1.2.3.info": `{"Version":"v1.2.3","Time":"2024-01-01T00:00:00Z"}`,
		"/example.org/greet/@v/v1.2.3.mod":  "module example.org/greet\n\ngo 1.21\n",
		"/example.org/greet/@v/v1.2.3.zip":  archive.String(),
	}
	s := &moduleServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		s.mu.Unlock()
		if text, ok := files[r.URL.Path]; ok {
			_, _ = w.Write([]byte(text))
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *moduleServer) wasAsked(for_ string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.asked {
		if strings.Contains(path, for_) {
			return true
		}
	}
	return false
}

const greetCell = "import \"example.org/greet\"\n%%\nfmt.Println(greet.Hello())"

func TestOtherModulesComeFromTheUsersProxy(t *testing.T) {
	proxy := newModuleServer(t)
	s := startKernel(t, home(t), emptyCache(t), "GOPROXY="+proxy.URL, "GONOSUMDB=example.org")
	if r := s.run(greetCell).ok(t); r.stdout != "hello from afar\n" {
		t.Errorf("%q", r.stdout)
	}
	s.run("%%\nfmt.Println(amp.Float16)").ok(t)
	for _, ours := range []string{"float16", "gonb", "halftone"} {
		if proxy.wasAsked(ours) {
			t.Errorf("the user's proxy was asked for %s: %v", ours, proxy.asked)
		}
	}
}

// TestGetOnlyWhereNeeded: a cell does not wait for a `go get` that has nothing to get; one that imports something new does.
func TestGetOnlyWhereNeeded(t *testing.T) {
	realGo, err := exec.LookPath("go")
	if err == nil {
		realGo, err = filepath.EvalSymlinks(realGo)
	}
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	log, bin := filepath.Join(base, "log"), filepath.Join(base, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(filepath.Dir(filepath.Dir(realGo)), "src"), filepath.Join(base, "src")); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho \"$1\" >> " + log + "\nexec " + realGo + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	proxy := newModuleServer(t)
	s := startKernel(t, home(t), "PATH="+bin+":"+os.Getenv("PATH"), "GOPROXY="+proxy.URL, "GONOSUMDB=example.org")
	s.run("%%").ok(t) // the first cell makes the module
	for _, c := range []struct {
		what, code string
		gets       int
	}{
		{"Halftone and the library", "%%\nfmt.Println(amp.Float16)", 0},
		{"a module of others", greetCell, 1},
		{"the same again", greetCell, 0},
		{"neither", "%%\nfmt.Println(1)", 0},
		{"a test", "import \"example.org/greet\"\n%test\nfunc TestGreet(t *testing.T) { t.Log(greet.Hello()) }", 0},
	} {
		_ = os.Remove(log)
		s.run(c.code).ok(t)
		calls, _ := os.ReadFile(log)
		lines := strings.Fields(string(calls))
		gets, builds := 0, 0
		for _, l := range lines {
			gets += map[bool]int{true: 1}[l == "get"]
			builds += map[bool]int{true: 1}[l == "build" || l == "test"]
		}
		if gets != c.gets || builds != 1 {
			t.Errorf("%s: called %v, want get %d times and one build", c.what, lines, c.gets)
		}
	}
	if out := s.run("!*which go; go env GOROOT").ok(t).stdout; !strings.Contains(out, "/bin/go") || !strings.Contains(out, filepath.Dir(filepath.Dir(realGo))) {
		t.Errorf("go in a shell: %s", out)
	}
}

// TestOtherModulesAreVerified leaves the checksum database on: it does not know example.org/greet, or cannot be reached.
func TestOtherModulesAreVerified(t *testing.T) {
	proxy := newModuleServer(t)
	s := startKernel(t, home(t), emptyCache(t), "GOPROXY="+proxy.URL)
	r := s.run(greetCell)
	b, _ := json.Marshal(r.displays)
	if r.reply["status"] != "error" || !strings.Contains(r.stderr+string(b), "verifying") {
		t.Errorf("a module that nobody vouches for was compiled: %v %q %s", r.reply, r.stdout, b)
	}
	if !proxy.wasAsked("/sumdb/") {
		t.Error("the checksum database was not asked")
	}
}

// TestPublicModule imports a module from where the user's Go gets them, if that can be reached.
func TestPublicModule(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	probe := exec.CommandContext(ctx, "go", "mod", "download", "github.com/google/uuid@v1.6.0")
	probe.Dir = t.TempDir()
	probe.Env = append(os.Environ(), "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw")
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: public modules cannot be reached: %v: %s", err, out)
	}
	s := startKernel(t, home(t), emptyCache(t))
	r := s.run("import \"github.com/google/uuid\"\n%%\nfmt.Println(len(uuid.NewString()))").ok(t)
	if r.stdout != "36\n" {
		t.Errorf("%q", r.stdout)
	}
}

// cellsOf reads the cell map as a cell's program does.
const cellsOf = "%%\nb, _ := os.ReadFile(os.Getenv(\"HALFTONE_CELLS\"))\nfmt.Print(string(b))"

func TestCellMap(t *testing.T) {
	s := startKernel(t, home(t))
	read := func(r result) []cell {
		t.Helper()
		list, err := cellsource.Decode([]byte(r.ok(t).stdout))
		if err != nil {
			t.Fatalf("%v in %q", err, r.stdout)
		}
		return list
	}
	s.run("var one = 1").ok(t)
	// Queued behind a slow cell: the file must be right when each runs, not when it was sent.
	s.submit("%%\ntime.Sleep(300*time.Millisecond)")
	mapped, last := s.submit(cellsOf), s.submit("%%\nfmt.Println(4)")
	cells := read(s.result(mapped))
	s.result(last).ok(t)
	if len(cells) != 3 || cells[0] != (cell{Count: 1, Code: "var one = 1"}) || cells[2] != (cell{Count: 3, Code: cellsOf}) {
		t.Errorf("%+v", cells)
	}
	// A cell outside the history has no number of its own and is forgotten.
	hidden := s.request(s.shell, "execute_request", map[string]any{"code": cellsOf, "silent": false, "store_history": false})
	cells = read(s.result(hidden))
	if n := len(cells); n != 5 || cells[4].Code != cellsOf || cells[4].Count != 4 {
		t.Errorf("%+v", cells)
	}
	cells = read(s.run(cellsOf))
	if n := len(cells); n != 5 || cells[3].Count != 4 || cells[4].Count != 5 {
		t.Errorf("%+v", cells)
	}
}

func TestCellMapIsBounded(t *testing.T) {
	m := newCellMap(filepath.Join(t.TempDir(), "cells"))
	for range 3 * maxCells {
		if err := m.add("x", true); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.cells); n != maxCells || m.cells[n-1].Count != 3*maxCells {
		t.Errorf("%d cells", n)
	}
	for range 5 {
		_ = m.add(strings.Repeat("y", maxCellBytes/2), true)
	}
	if n := len(m.cells); n != 2 {
		t.Errorf("%d cells of half the size that fits", n)
	}
	_ = m.add(strings.Repeat("z", 2*maxCellBytes), true)
	if n := len(m.cells); n != 1 { // the running cell is always there
		t.Errorf("%d cells", n)
	}
}
