package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

// result is what a finished command printed and how it ended.
type result struct {
	stdout, stderr string
	code           int
}

// halftone runs the installed command to its end.
func halftone(t *testing.T, l layout.Layout, args ...string) result {
	t.Helper()
	cmd := exec.Command(l.Halftone(), args...)
	cmd.Dir, cmd.Env = t.TempDir(), mark(t)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	timer := time.AfterFunc(6*time.Minute, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// A cell is one cell of a notebook for a test.
type cell struct {
	code, markdown string
	tags           []string
}

// writeNotebook writes a notebook as a front end would and returns its path.
func writeNotebook(t *testing.T, cells ...cell) string {
	t.Helper()
	nb := map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}}
	var list []any
	for i, c := range cells {
		one := map[string]any{"id": fmt.Sprintf("cell-%d", i), "cell_type": "code", "metadata": map[string]any{}, "source": c.code,
			"outputs": []any{}, "execution_count": nil}
		if c.markdown != "" {
			one = map[string]any{"id": fmt.Sprintf("cell-%d", i), "cell_type": "markdown", "metadata": map[string]any{}, "source": c.markdown}
		}
		if len(c.tags) > 0 {
			one["metadata"] = map[string]any{"tags": c.tags}
		}
		list = append(list, one)
	}
	nb["cells"] = list
	b, err := json.Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.ipynb")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var hello = cell{code: "%%\nfmt.Println(\"hello\", 40+2)"}

func TestRunPrintsProgressAndLeavesTheNotebookAlone(t *testing.T) {
	l, _ := testenv.Installed(t)
	path := writeNotebook(t, cell{markdown: "# Title"}, hello,
		cell{code: "%%\npanic(\"on purpose\")", tags: []string{"raises-exception"}}, cell{code: "%%\nfmt.Println(os.Getwd())"})
	before := read(t, path)
	out := filepath.Join(t.TempDir(), "out.ipynb")
	r := halftone(t, l, "run", path, "--output", out, "--html")
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, want := range []string{`1/3  fmt.Println("hello", 40+2)`, `2/3  panic("on purpose")`, "3/3", "raised", "wrote " + out} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("progress lacks %q:\n%s", want, r.stdout)
		}
	}
	if read(t, path) != before {
		t.Error("the notebook was changed")
	}
	written := read(t, out)
	if !strings.Contains(written, `hello 42\n`) || !strings.Contains(written, filepath.Dir(path)) {
		t.Errorf("outputs or working folder are not as expected:\n%s", written)
	}
	page := read(t, strings.TrimSuffix(out, ".ipynb")+".html")
	if !strings.Contains(page, "hello 42") {
		t.Error("the page lacks the output")
	}
	for _, load := range []string{"<script", "<link", "@import", `src="http`, "url(http"} {
		if strings.Contains(page, load) {
			t.Errorf("the page loads something: %s", load)
		}
	}
}

func TestRunOfAFailingNotebook(t *testing.T) {
	l, _ := testenv.Installed(t)
	for name, c := range map[string]struct{ code, want string }{
		"panic":   {"%%\nvar m map[string]int\nm[\"x\"] = 1", "assignment to entry in nil map"},
		"compile": {"%%\nvar unused int", "declared and not used: unused"},
		"exit":    {"%%\nos.Exit(3)", "exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeNotebook(t, hello, cell{code: c.code}, hello)
			before := read(t, path)
			r := halftone(t, l, "run", "--inplace", path)
			if r.code != 1 {
				t.Errorf("exit code %d", r.code)
			}
			for _, want := range []string{path, "cell 2 of 3", c.want, "1 of 1 notebooks failed"} {
				if !strings.Contains(r.stderr, want) {
					t.Errorf("the error lacks %q:\n%s", want, r.stderr)
				}
			}
			if strings.Contains(r.stdout, "3/3") {
				t.Error("the cell behind the failing one ran")
			}
			if read(t, path) != before {
				t.Error("a failed run was written over the notebook")
			}
		})
	}
}

// TestRunKeepsWhatWasSavedMeanwhile: an editor may save a notebook while it runs, and what was typed there is not written over.
func TestRunKeepsWhatWasSavedMeanwhile(t *testing.T) {
	l, _ := testenv.Installed(t)
	path := writeNotebook(t, cell{code: "!echo >> *.ipynb"})
	before := read(t, path)
	r := halftone(t, l, "run", "--inplace", path)
	if r.code != 1 || !strings.Contains(r.stderr, "was changed meanwhile, so it stays as it is") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if read(t, path) != before+"\n" {
		t.Error("the notebook was written over")
	}
}

func TestRunGoesOnWithTheNextNotebook(t *testing.T) {
	l, _ := testenv.Installed(t)
	r := halftone(t, l, "run", writeNotebook(t, cell{code: "%%\npanic(1)"}), writeNotebook(t, hello))
	if r.code != 1 || !strings.Contains(r.stderr, "1 of 2 notebooks failed") || !strings.Contains(r.stdout, "ran in") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

func TestRunTimeout(t *testing.T) {
	l, _ := testenv.Installed(t)
	began := time.Now()
	// The first cell compiles nothing: on a busy machine that takes longer than this.
	r := halftone(t, l, "run", "--timeout", "10s", writeNotebook(t, cell{code: "!true"}, cell{code: "%%\nfor { time.Sleep(time.Second) }"}))
	if r.code != 1 || !strings.Contains(r.stderr, "cell 2 of 2: a cell took longer than 10 s") || !strings.Contains(r.stderr, "--timeout") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	if d := time.Since(began); stretch.Over(d, 60*time.Second) {
		t.Errorf("took %v", d)
	}
}

func TestWrongCallsAreOneSentence(t *testing.T) {
	l, _ := testenv.Installed(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	broken, other, empty := file("broken.ipynb", "{"), file("other.ipynb", "{}"), file("empty.ipynb", `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[]}`)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"run"}, 2, "name at least one notebook"},
		{[]string{"share"}, 2, "halftone share notebooks/"},
		{[]string{"run", broken}, 1, "broken.ipynb is damaged, or no notebook"},
		{[]string{"share", broken}, 1, "broken.ipynb is damaged, or no notebook"},
		{[]string{"run", other}, 1, "it has no nbformat"},
		{[]string{"run", "--output", filepath.Join(dir, "none", "x.ipynb"), empty}, 1, "name another with --output"},
		{[]string{"run", "no/such.ipynb"}, 1, "no such notebook"},
		{[]string{"run", "--nonsense"}, 2, "flag provided but not defined"},
		{[]string{"frobnicate"}, 2, "`halftone help` lists them"},
		{[]string{"install"}, 0, ""}, // outside the checkout it knows the one it was installed from
		{[]string{"install", "--checkout", "/"}, 1, "--checkout DIR"},
	} {
		r := halftone(t, l, c.args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("halftone %v: exit code %d, want %d; stderr:\n%s", c.args, r.code, c.code, r.stderr)
		}
		if strings.Contains(r.stderr, "goroutine") {
			t.Errorf("halftone %v: a stack trace", c.args)
		}
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	l, _ := testenv.Installed(t)
	r := halftone(t, l)
	for _, name := range []string{"lab", "install", "uninstall", "doctor", "run", "train", "version", "help"} {
		if !strings.Contains(r.stdout, "halftone "+name) {
			t.Errorf("help lacks %s", name)
		}
		if name == "help" {
			continue
		}
		if h := halftone(t, l, "help", name); h.code != 0 || !strings.Contains(h.stdout+h.stderr, "usage: halftone "+name) {
			t.Errorf("help %s: exit code %d\n%s%s", name, h.code, h.stdout, h.stderr)
		}
	}
	if v := halftone(t, l, "version"); v.code != 0 || !strings.Contains(v.stdout, "go1.") {
		t.Errorf("version: %s", v.stdout)
	}
}

// installAgain makes a second installation for tests that damage it: other packages use the first at the same time. It uses
// the first one's JupyterLab as one that is already there.
func installAgain(t *testing.T) layout.Layout {
	t.Helper()
	first, state := testenv.Installed(t)
	dir := t.TempDir()
	l := layout.Layout{Home: filepath.Join(dir, "home")}
	t.Setenv(layout.HomeEnv, l.Home)
	t.Setenv("JUPYTER_DATA_DIR", filepath.Join(dir, "jupyter"))
	r := halftone(t, first, "install", "--checkout", testenv.Checkout(t), "--python", state.Python)
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if strings.Contains(r.stdout, "\x1b") || strings.Contains(r.stdout, "\r") {
		t.Errorf("moving output in a log:\n%q", r.stdout)
	}
	return l
}

func TestInstallIsIdempotentAndUninstallTakesItAllAway(t *testing.T) {
	l := installAgain(t)
	data := os.Getenv("JUPYTER_DATA_DIR")
	before := tree(t, l.Home, data)
	r := halftone(t, l, "install")
	if r.code != 0 || strings.Contains(r.stdout, "built") || strings.Contains(r.stdout, "fetched") {
		t.Errorf("the second installation did something: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if after := tree(t, l.Home, data); before != after {
		t.Errorf("the second installation changed files:\n%s", diff(before, after))
	}
	if r := halftone(t, l, "run", writeNotebook(t, hello)); r.code != 0 {
		t.Errorf("the kernel does not run in a JupyterLab that was already there:\n%s", r.stderr)
	}
	r = halftone(t, l, "uninstall")
	for _, want := range []string{"removed " + l.Home, "removed " + filepath.Join(data, "kernels", "halftone"), "removed " + filepath.Join(data, "labextensions")} {
		if r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("uninstall does not say %q: exit code %d\n%s%s", want, r.code, r.stdout, r.stderr)
		}
	}
	if _, err := os.Stat(l.Home); !os.IsNotExist(err) {
		t.Errorf("%s is still there", l.Home)
	}
}

// tree lists files with size and time of change.
func tree(t *testing.T, dirs ...string) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil && d.Name() != "install.lock" && d.Name() != "install.json" {
				fmt.Fprintf(&b, "%s %d %v\n", path, info.Size(), info.ModTime())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestDoctorFindsEverythingThenWhatIsMissing(t *testing.T) {
	l := installAgain(t)
	look := func() (healthy bool, parts map[string]install.Part, code int) {
		t.Helper()
		r := halftone(t, l, "doctor", "--json")
		var report struct {
			Healthy bool
			Parts   []install.Part
		}
		if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
			t.Fatalf("%v\n%s", err, r.stdout)
		}
		parts = map[string]install.Part{}
		for _, p := range report.Parts {
			parts[p.Name] = p
		}
		return report.Healthy, parts, r.code
	}
	healthy, parts, code := look()
	if !healthy || code != 0 {
		t.Fatalf("healthy %v, exit code %d: %+v", healthy, code, parts)
	}
	for _, name := range []string{"installation", "checkout", "Go", "Python", "JupyterLab", "gonb", "goimports", "gopls", "halftone", "kernelspec",
		"front end", "modules", "build cache", "disk space"} {
		if p, ok := parts[name]; !ok || p.Status != install.OK {
			t.Errorf("%s: %+v", name, p)
		}
	}

	broken := func(name, file string, content []byte, wantStatus string, needed bool) {
		t.Helper()
		keep, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		mode, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			os.Remove(file)
			if err := os.WriteFile(file, keep, mode.Mode()); err != nil {
				t.Fatal(err)
			}
		}()
		os.Remove(file)
		if content != nil {
			if err := os.WriteFile(file, content, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		healthy, parts, code := look()
		p := parts[name]
		if p.Status != wantStatus || p.Fix == "" || p.Detail == "" {
			t.Errorf("%s: %+v, want %s with a fix", name, p, wantStatus)
		}
		if healthy == needed || (code == 0) == needed {
			t.Errorf("%s: healthy %v, exit code %d", name, healthy, code)
		}
	}
	broken("gopls", filepath.Join(l.Bin(), "gopls"), nil, install.Missing, false)
	broken("goimports", filepath.Join(l.Bin(), "goimports"), []byte("not a program"), install.Broken, true)
	state, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	broken("kernelspec", filepath.Join(state.Data, "kernels", "halftone", "kernel.json"), nil, install.Missing, true)
	broken("installation", l.StateFile(), []byte("{"), install.Broken, true)
}
