package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lab4 is an interpreter with everything.
func lab4(dir string) Python {
	return Python{Version: "3.12.3", Venv: true, Lab: "4.2.5", Client: "0.10.0", Convert: "7.16", DataDir: filepath.Join(dir, "jupyter")}
}

// onlyPath makes dir the only place where programs are found, apart from the shell's own tools.
func onlyPath(t *testing.T, dir string) {
	t.Helper()
	tools := t.TempDir()
	for _, name := range []string{"sh", "cat", "sed", "mkdir", "cp", "touch", "dirname", "git"} {
		for _, d := range []string{"/bin", "/usr/bin"} {
			if _, err := os.Stat(filepath.Join(d, name)); err == nil {
				if err := os.Symlink(filepath.Join(d, name), filepath.Join(tools, name)); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+tools)
	t.Setenv("TMPDIR", t.TempDir())
	old := systemDirs
	systemDirs = nil
	t.Cleanup(func() { systemDirs = old })
}

func TestJupyterLabInPathIsUsed(t *testing.T) {
	dir := isolate(t)
	bin := filepath.Join(dir, "bin")
	onlyPath(t, bin)
	// python3 in PATH has nothing; the interpreter behind jupyter-lab has.
	fakePython(t, filepath.Join(bin, "python3"), Python{Version: "3.12.3", Venv: true}, "")
	real := filepath.Join(dir, "conda", "bin", "python")
	calls := fakePython(t, real, lab4(dir), "")
	script(t, filepath.Join(bin, "jupyter-lab"), "#!"+real+"\nimport jupyterlab\n")

	in, _ := newInstaller(t)
	detail, err := choose(t, in)
	if err != nil {
		t.Fatal(err)
	}
	if in.python.Path != real || in.data != filepath.Join(dir, "jupyter") || !strings.Contains(detail, "4.2.5") {
		t.Errorf("chose %s with data folder %s (%s)", in.python.Path, in.data, detail)
	}
	if b, _ := os.ReadFile(calls); len(b) > 0 {
		t.Errorf("an interpreter that has JupyterLab was changed: %s", b)
	}
}

func TestOldLabLeadsToAPrivateEnvironment(t *testing.T) {
	dir := isolate(t)
	bin := filepath.Join(dir, "bin")
	onlyPath(t, bin)
	old := lab4(dir)
	old.Lab = "3.6.7"
	calls := fakePython(t, filepath.Join(bin, "python3"), old, "")
	in, _ := newInstaller(t)
	if _, err := choose(t, in); err != nil {
		t.Fatal(err)
	}
	if in.python.Path != venvPython(in.Layout.Venv()) || in.data != filepath.Join(in.Layout.Venv(), "share", "jupyter") {
		t.Errorf("chose %s, %s", in.python.Path, in.data)
	}
	b, _ := os.ReadFile(calls)
	if n := strings.Count(string(b), "-m venv --without-pip"); n != 1 {
		t.Errorf("%d environments were made:\n%s", n, b)
	}
	if !strings.Contains(string(b), "--require-hashes --only-binary=:all:") {
		t.Errorf("packages were installed without their hashes:\n%s", b)
	}

	// Again: nothing is made or installed.
	before := len(b)
	again, _ := newInstaller(t)
	again.Layout = in.Layout
	if _, err := choose(t, again); err != nil {
		t.Fatal(err)
	}
	if b, _ = os.ReadFile(calls); len(b) != before {
		t.Errorf("the second time did something:\n%s", b[before:])
	}

	// Its interpreter is gone: made anew.
	if err := os.Remove(venvPython(in.Layout.Venv())); err != nil {
		t.Fatal(err)
	}
	if _, err := choose(t, again); err != nil {
		t.Fatal(err)
	}
	if b, _ = os.ReadFile(calls); strings.Count(string(b), "-m venv --without-pip") != 2 {
		t.Errorf("a damaged environment was not made anew:\n%s", b[before:])
	}
}

func TestOlderJupyterWhereNoEnvironmentCanBeMade(t *testing.T) {
	dir := isolate(t)
	bin := filepath.Join(dir, "bin")
	onlyPath(t, bin)
	old := lab4(dir)
	old.Lab, old.Notebook = "", "6.4.12"
	fakePython(t, filepath.Join(bin, "python3"), old, "NewConnectionError: Failed to establish a new connection")
	in, out := newInstaller(t)
	detail, err := choose(t, in)
	if err != nil {
		t.Fatal(err)
	}
	if in.python.Path != filepath.Join(bin, "python3") || !strings.Contains(detail, "notebook 6.4.12") {
		t.Errorf("chose %s (%s)", in.python.Path, detail)
	}
	if !strings.Contains(out.String(), "Check the network") || !strings.Contains(out.String(), "is used instead") {
		t.Errorf("the user is not told why:\n%s", out)
	}
	if args := labArgs(in.python, "/n", LabOptions{}); args[1] != "notebook" {
		t.Errorf("started as %v", args)
	}
}

func TestNothingToMakeAnEnvironmentWith(t *testing.T) {
	for name, c := range map[string]struct {
		py   Python
		want string
	}{
		"no Python":  {Python{}, "no Python was found"},
		"old Python": {Python{Version: "3.8.10", Venv: true}, "the newest Python here is 3.8.10"},
		"no venv":    {Python{Version: "3.11.2"}, "its module venv is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := isolate(t)
			bin := filepath.Join(dir, "bin")
			onlyPath(t, bin)
			if c.py.Version != "" {
				fakePython(t, filepath.Join(bin, "python3"), c.py, "")
			}
			in, _ := newInstaller(t)
			_, err := choose(t, in)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "Install it") {
				t.Errorf("error %v does not say %q and what to install", err, c.want)
			}
		})
	}
}

func TestInstallAdviceNamesTheDistribution(t *testing.T) {
	for _, c := range []struct{ goos, release, want string }{
		{"linux", "debian", "sudo apt install python3 python3-venv"},
		{"linux", "linuxmint ubuntu debian", "sudo apt install python3 python3-venv"},
		{"linux", "fedora", "sudo dnf install python3"},
		{"linux", "rocky rhel centos fedora", "sudo dnf install python3"},
		{"darwin", "", "brew install python"},
		{"linux", "arch", "Debian, Ubuntu:"},
	} {
		if got := pythonAdvice(c.goos, c.release); !strings.Contains(got, c.want) {
			t.Errorf("%s %q: %q lacks %q", c.goos, c.release, got, c.want)
		}
	}
}

func TestInterpreterIsNotMisled(t *testing.T) {
	// A user's PYTHONPATH and pip settings must not leak into the private environment; mirrors and certificates must.
	t.Setenv("PYTHONPATH", "/elsewhere")
	t.Setenv("PIP_TARGET", "/elsewhere")
	t.Setenv("PIP_CERT", "/etc/cert.pem")
	env := strings.Join(pythonEnv("/opt/py/bin/python3"), "\n")
	if strings.Contains(env, "/elsewhere") {
		t.Error("PYTHONPATH or PIP_TARGET is passed on")
	}
	if !strings.Contains(env, "PIP_CERT=/etc/cert.pem") || !strings.Contains(env, "PATH=/opt/py/bin:") {
		t.Errorf("the environment lacks PIP_CERT or the interpreter's folder in PATH")
	}
}

func TestProbeOfARealInterpreter(t *testing.T) {
	path := ""
	for _, c := range pythonCandidates() {
		if py, err := probePython(context.Background(), c); err == nil && py.Recent() {
			path = c
			break
		}
	}
	if path == "" {
		t.Skip("no Python 3.10 or newer on this machine")
	}
	full, err := probePython(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	quick, err := quickProbe(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if full.Version != quick.Version || (full.Lab == "") != (quick.Lab == "") || full.Executable == "" {
		t.Errorf("full probe %+v, quick probe %+v", full, quick)
	}
}

func TestVersionsAreCompared(t *testing.T) {
	for ver, want := range map[string]bool{"3.9.18": true, "3.10.0": false, "3.14.0rc1": false, "4.0": false, "2.7": true, "": true} {
		if got := older(ver, 3, 10); got != want {
			t.Errorf("older(%q, 3.10) = %v", ver, got)
		}
	}
}

func TestPrivateFlagIgnoresAJupyterLab(t *testing.T) {
	dir := isolate(t)
	bin := filepath.Join(dir, "bin")
	onlyPath(t, bin)
	fakePython(t, filepath.Join(bin, "python3"), lab4(dir), "")
	in, _ := newInstaller(t)
	in.Private = true
	if _, err := choose(t, in); err != nil {
		t.Fatal(err)
	}
	if in.python.Path != venvPython(in.Layout.Venv()) {
		t.Errorf("chose %s", in.python.Path)
	}
}
