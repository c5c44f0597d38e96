package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dispatched runs a command in this process and returns what it printed and its exit code.
func dispatched(t *testing.T, args ...string) result {
	t.Helper()
	return dispatchedWith(context.Background(), t, args...)
}

func dispatchedWith(ctx context.Context, t *testing.T, args ...string) result {
	t.Helper()
	out, err := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = out, err }()
	var texts [2]bytes.Buffer
	done := make(chan struct{}, 2)
	var ends [2]*os.File
	for i := range texts {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = w
		go func() { _, _ = io.Copy(&texts[i], r); r.Close(); done <- struct{}{} }()
	}
	os.Stdout, os.Stderr = ends[0], ends[1]
	code := dispatch(ctx, args)
	for _, w := range ends {
		w.Close()
	}
	<-done
	<-done
	return result{texts[0].String(), texts[1].String(), code}
}

// TestWrongCallsAreRefusedBeforeAnythingHappens: a word too many, or a value without sense, is exit code 2 and one sentence; above all it
// does not uninstall.
func TestWrongCallsAreRefusedBeforeAnythingHappens(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv("HALFTONE_HOME", home)
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	book := filepath.Join(t.TempDir(), "a.ipynb")
	if err := os.WriteFile(book, []byte(`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"it takes no argument, not \"now\"", []string{"uninstall", "now"}},
		{"it takes no argument, not \"--help\"", []string{"uninstall", "--", "--help"}},
		{"it takes no argument", []string{"install", "gopls"}},
		{"it takes no argument", []string{"doctor", "gpu"}},
		{"it takes no argument", []string{"bench", "cpu"}},
		{"it takes no argument", []string{"version", "all"}},
		{"it takes no argument", []string{"render", "file"}},
		{"at least once", []string{"bench", "--rounds", "-1"}},
		{"at least once", []string{"bench", "--cpu-rounds", "0"}},
		{"no case starts like that", []string{"bench", "--cpu", "nonexist"}},
		{"there is no command \"bogus\"", []string{"help", "bogus"}},
		{"name one command", []string{"help", "run", "show"}},
		{"there is no command \"bogus\"", []string{"bogus"}},
		{"name at least one notebook", []string{"run"}},
		{"name at least one notebook", []string{"share"}},
		{"name at least one notebook", []string{"compare"}},
		{"name a notebook", []string{"show"}},
		{"name the connection file", []string{"kernel"}},
		{"--timeout -5s", []string{"run", "--timeout", "-5s", book}},
		{"--timeout -5s", []string{"share", "--timeout", "-5s", book}},
		{"--timeout -5s", []string{"verify", "--timeout", "-5s", book}},
		{"--output names one file", []string{"run", "--inplace", "--output", "x.ipynb", book}},
		{"--width 3", []string{"show", "--width", "3", book}},
		{"`halftone help run` lists the options", []string{"run", "--nonsense"}},
	} {
		r := dispatched(t, c.args...)
		if r.code != 2 || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 || r.stdout != "" {
			t.Errorf("halftone %q: exit code %d, want 2 and %q\n%s%s", c.args, r.code, c.want, r.stdout, r.stderr)
		}
	}
	if _, err := os.Stat(home); err != nil {
		t.Error(err)
	}
}

// TestKernelTakesNoNoticeOfArgumentsOfConsoles: `jupyter run --kernel halftone cell.go` starts "halftone kernel CONNECTION_FILE cell.go".
func TestKernelTakesNoNoticeOfArgumentsOfConsoles(t *testing.T) {
	t.Setenv("HALFTONE_HOME", filepath.Join(t.TempDir(), "none"))
	alone, more := dispatched(t, "kernel", "connection.json"), dispatched(t, "kernel", "connection.json", "cell.go", "--flag")
	if alone.code != 1 || more != alone {
		t.Errorf("exit code %d, %d with more arguments\n%s%s", alone.code, more.code, alone.stderr, more.stderr)
	}
}

// TestHelpOfEveryCommand: asked for in either way it is on standard output, with exit code 0, and lists options only where there are some.
func TestHelpOfEveryCommand(t *testing.T) {
	for _, c := range commands {
		for _, args := range [][]string{{"help", c.name}, {c.name, "--help"}, {c.name, "-h"}} {
			r := dispatched(t, args...)
			if r.code != 0 || r.stderr != "" || !strings.HasPrefix(r.stdout, "usage: halftone "+c.name) {
				t.Errorf("halftone %q: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
			}
			options, listed := strings.Contains(r.stdout, "[options]"), strings.Contains(r.stdout, "\n\noptions:\n  -")
			if options != listed || strings.HasSuffix(r.stdout, "options:\n") {
				t.Errorf("halftone %q: options are not listed as said:\n%s", args, r.stdout)
			}
		}
	}
}
