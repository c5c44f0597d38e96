package install

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// otherArch is a processor that this machine does not have.
func otherArch() string {
	if runtime.GOARCH == "arm64" {
		return "amd64"
	}
	return "arm64"
}

func TestArchIsOneThatCanBeInstalledFor(t *testing.T) {
	for _, arch := range []string{"", runtime.GOARCH} {
		if err := checkArch(arch); err != nil || len(archEnv(arch)) > 0 {
			t.Errorf("%q: %v, %q", arch, err, archEnv(arch))
		}
	}
	if runtime.GOOS != "linux" {
		if err := checkArch(otherArch()); err == nil || !strings.Contains(err.Error(), "on Linux") {
			t.Errorf("%v", err)
		}
		t.Skip("installations for another processor are made on Linux")
	}
	if err := checkArch(otherArch()); err != nil {
		t.Error(err)
	}
	isolate(t)
	in, _ := newInstaller(t)
	in.Arch = "riscv64"
	if err := in.Install(context.Background()); err == nil || !strings.Contains(err.Error(), "take one of them") {
		t.Errorf("riscv64: %v", err)
	}
}

// TestProgramsOfAnotherProcessorAreReplaced goes from an installation for one processor to one for another and back.
func TestProgramsOfAnotherProcessorAreReplaced(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("installations for another processor are made on Linux")
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache))) // the user's, where the standard library is compiled already
	isolate(t)
	in, _ := newInstaller(t)
	if in.goCmd, in.goVersion, err = FindGo(context.Background(), mustCheckout(t)); err != nil {
		t.Fatal(err)
	}
	in.source = "one"
	write(t, filepath.Join(in.Checkout, "kernelext", "cmd", "halftone", "main.go"), "package main\n\nfunc main() { print() }\n")
	wheel := filepath.Join(in.Layout.Venv(), "lib", "wheel.so")
	for i, step := range []struct {
		arch, detail string
		keeps        bool // the Python packages
	}{{"", "built", true}, {"", "sources one", true}, {otherArch(), "built", false}, {otherArch(), "sources one", true}, {"", "built", false}} {
		write(t, wheel, "")
		in.Arch = step.arch
		err := in.Report.Phase("halftone", func(p *Progress) (string, error) {
			detail, err := in.buildBinary(context.Background(), p)
			if !strings.HasSuffix(detail, step.detail) {
				t.Errorf("step %d: %q", i, detail)
			}
			return detail, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(wheel); (err == nil) != step.keeps {
			t.Errorf("step %d: Python packages: %v", i, err)
		}
		want := step.arch
		if want == "" {
			want = runtime.GOARCH
		}
		for _, program := range []string{in.Layout.Halftone(), in.Layout.CellGo()} {
			if got := builtFor(program); got != want {
				t.Errorf("step %d: %s was built for %s", i, program, got)
			}
		}
	}
}

// TestWheelsAreForTheOtherProcessor lets a fake Python tell what pip would ask it.
func TestWheelsAreForTheOtherProcessor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("installations for another processor are made on Linux")
	}
	dir := isolate(t)
	in, _ := newInstaller(t)
	python := filepath.Join(dir, "python3")
	calls := fakePython(t, python, Python{Version: "3.13.5", Venv: true}, "")
	text, err := os.ReadFile(python)
	if err != nil {
		t.Fatal(err)
	}
	script(t, python, strings.Replace(string(text), `echo "$@"`, `echo "$_PYTHON_HOST_PLATFORM:" "$@"`, 1))
	in.Python, in.Arch, in.Private = python, otherArch(), true
	if _, err := choose(t, in); err != nil {
		t.Fatal(err)
	}
	asked, _ := os.ReadFile(calls)
	want := "linux-" + machines[otherArch()] + ": "
	for line := range strings.Lines(string(asked)) {
		if strings.Contains(line, " install ") && !strings.HasPrefix(line, want) {
			t.Errorf("pip was started without %s: %s", want, line)
		}
	}
	if !strings.Contains(string(asked), want) {
		t.Errorf("%s", asked)
	}
}
