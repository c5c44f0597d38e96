package cellgo

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/testsignal"
)

// As a program called go these tests are the one under test.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "go" {
		os.Exit(Main())
	}
	testsignal.Restore()
	os.Exit(m.Run())
}

// A bench is a cell's folder with two go commands in PATH: the one under test, and a script behind it that writes down how it was called.
type bench struct {
	t           *testing.T
	dir, log    string
	front, real string
	env         []string
}

func newBench(t *testing.T, files map[string]string, script string) *bench {
	t.Helper()
	b := &bench{t: t, dir: folder(t, files)}
	base := filepath.Dir(b.dir)
	b.log, b.front, b.real = filepath.Join(base, "log"), filepath.Join(base, "front"), filepath.Join(base, "goroot", "bin")
	for _, dir := range []string{b.front, b.real} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(b.front, "go"))
	}
	if err == nil {
		err = os.Symlink(filepath.Join(root(t), "src"), filepath.Join(base, "goroot", "src"))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(b.real, "go"), []byte("#!/bin/sh\necho \"$@\" >> "+b.log+"\n"+script+"\n"), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.env = []string{"PATH=" + strings.Join([]string{b.front, b.front, b.real, "/usr/bin", "/bin"}, ":"), "HOME=" + base}
	return b
}

func (b *bench) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(b.front, "go"), args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	return cmd
}

// run returns the exit status and what was printed.
func (b *bench) run(args ...string) (int, string) {
	b.t.Helper()
	out, err := b.command(args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	if exit != nil {
		return exit.ExitCode(), string(out)
	}
	return 0, string(out)
}

// calls is how the go command behind was called since the last time.
func (b *bench) calls() string {
	text, _ := os.ReadFile(b.log)
	_ = os.Remove(b.log)
	return string(text)
}

// TestOthersAreTheGoCommands: all but a bare `go get` is the go command's own: arguments, input, output, status.
func TestOthersAreTheGoCommands(t *testing.T) {
	b := newBench(t, nil, "cat; echo said; exit 3")
	for _, args := range [][]string{{"version"}, {"build", "-o", "a b"}, {"get", "example.org/x@latest"}, {"get", "-u"}, {}, {"env", "get"}} {
		cmd := b.command(args...)
		cmd.Stdin = strings.NewReader("input\n")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 3 || string(out) != "input\nsaid\n" {
			t.Errorf("%q: %v %q", args, err, out)
		}
		if got := b.calls(); got != strings.Join(args, " ")+"\n" {
			t.Errorf("%q: called %q", args, got)
		}
	}
}

// TestGetOnlyWhereNeeded: `go get` runs for an import that is new, not for one that it has got, nor for the library's.
func TestGetOnlyWhereNeeded(t *testing.T) {
	b := newBench(t, nil, "")
	write := func(files map[string]string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(b.dir, "main.go"), []byte(files["main.go"]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		imports []string
		args    []string
		want    string
	}{
		{[]string{"fmt"}, []string{"get"}, ""},
		{[]string{"fmt", "example.org/a"}, []string{"get"}, "get\n"},
		{[]string{"example.org/a"}, []string{"get"}, ""},
		{[]string{"example.org/a"}, []string{"get", "-t"}, ""},
		{[]string{"example.org/a", "example.org/b"}, []string{"get", "-t"}, "get -t\n"},
		{[]string{"example.org/b"}, []string{"get"}, ""},
	} {
		write(imports(step.imports...))
		if status, out := b.run(step.args...); status != 0 || out != "" {
			t.Errorf("%v: %d %s", step.imports, status, out)
		}
		if got := b.calls(); got != step.want {
			t.Errorf("%q for %v: called %q, want %q", step.args, step.imports, got, step.want)
		}
	}
}

// TestGetThatFails is not taken for one that has got anything.
func TestGetThatFails(t *testing.T) {
	b := newBench(t, imports("example.org/a"), "echo no such module >&2; exit 1")
	for range 2 {
		if status, out := b.run("get"); status != 1 || out != "no such module\n" {
			t.Errorf("%d %q", status, out)
		}
		if got := b.calls(); got != "get\n" {
			t.Errorf("called %q", got)
		}
	}
}

// TestGetThatChangesTheModule is remembered with the module as it then is.
func TestGetThatChangesTheModule(t *testing.T) {
	b := newBench(t, imports("example.org/a"), "echo 'require example.org/a v1.0.0' >> go.mod")
	for _, want := range []string{"get\n", ""} {
		if status, out := b.run("get"); status != 0 {
			t.Error(status, out)
		}
		if got := b.calls(); got != want {
			t.Errorf("called %q, want %q", got, want)
		}
	}
}

// TestGetIsInterrupted: a signal to this process alone ends the go command too.
func TestGetIsInterrupted(t *testing.T) {
	b := newBench(t, imports("example.org/a"), "exec sleep 60")
	cmd := b.command("get")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err := os.Stat(b.log); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if took := time.Since(began); err == nil || took > 30*time.Second {
		t.Errorf("%v after %v: %s", err, took, out.String())
	}
	if _, err := os.Stat(filepath.Join(b.dir, memoryName)); err == nil {
		t.Error("it is remembered")
	}
}

// TestTwoInstallations: a kernel that is started from another installation's has a second program of this package in PATH, before its own or
// behind it, and both end at the user's go command, which is called once.
func TestTwoInstallations(t *testing.T) {
	b := newBench(t, imports("example.org/a"), "")
	other := filepath.Join(filepath.Dir(b.dir), "other")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err == nil {
		err = os.Mkdir(other, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(other, "go"), program, 0o700) // a copy, since a link is known for the same program
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range [][]string{
		{b.front, other, b.real}, {other, b.front, b.real}, {b.front, other, b.front, b.real}, {other, b.front, other, b.real}, {other, b.real},
	} {
		b.env[0] = "PATH=" + strings.Join(append(path, "/usr/bin", "/bin"), ":")
		for _, args := range []string{"version", "get"} {
			_ = os.Remove(filepath.Join(b.dir, memoryName))
			cmd := b.command(args)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			stop := time.AfterFunc(20*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			out, err := cmd.CombinedOutput()
			stop.Stop()
			if got := b.calls(); err != nil || got != args+"\n" {
				t.Errorf("%s with PATH %v: called %q: %v %s", args, path, got, err, out)
			}
		}
	}
}

// TestNoGo: without a go command behind it there is an error that says so, and not one program that calls itself for ever.
func TestNoGo(t *testing.T) {
	b := newBench(t, nil, "")
	b.env[0] = "PATH=" + b.front + ":/nowhere:relative"
	for _, args := range [][]string{{"get"}, {"version"}} {
		if status, out := b.run(args...); status != 127 || !strings.Contains(out, "no go command in PATH") {
			t.Errorf("%q: %d %s", args, status, out)
		}
	}
}
