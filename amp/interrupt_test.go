package amp

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
)

// interruptChild is a program that is interrupted while it does what the name says.
const interruptChildEnv = "HALFTONE_TEST_INTERRUPT"

func TestMain(m *testing.M) {
	if what := os.Getenv(interruptChildEnv); what != "" {
		interruptChild(what)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func interruptChild(what string) {
	s := NewScope()
	defer fmt.Println("deferred")
	defer s.Close()
	for range s.Steps(3) { // a loop that is over changes nothing
	}
	fmt.Println("ready")
	switch what {
	case "steps", "twice":
		for c := range s.Steps(1000) {
			time.Sleep(20 * time.Millisecond)
			_ = c
		}
		fmt.Println("after the loop", s.Context().Err())
		for range s.Steps(5) {
			fmt.Println("another step")
		}
		if what == "twice" {
			time.Sleep(time.Minute)
		}
	case "own loop":
		for s.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
	case "no loop":
		time.Sleep(time.Minute)
	}
}

// interrupted runs a program, interrupts it n times and returns what it printed and how it ended.
func interrupted(t *testing.T, what, mode string, n int) (stdout, stderr, end string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), interruptChildEnv+"="+what, InterruptEnv+"="+mode)
	var out, errs bytes.Buffer
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, w), &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if _, err := r.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	for range n {
		time.Sleep(200 * time.Millisecond)
		_ = cmd.Process.Signal(syscall.SIGINT)
	}
	began := time.Now()
	err := cmd.Wait()
	if d := time.Since(began); stretch.Over(d, 2*time.Second) {
		t.Errorf("%s: it ended %v after the interrupt", what, d)
	}
	return out.String(), errs.String(), fmt.Sprint(err)
}

func TestInterrupt(t *testing.T) {
	for _, c := range []struct {
		what, mode  string
		n           int
		stdout, end string
	}{
		{"steps", "steps", 1, "ready\nafter the loop context canceled\ndeferred\n", "<nil>"},
		{"own loop", "", 1, "ready\n", "signal: interrupt"},
		{"steps", "", 1, "ready\n", "signal: interrupt"},
		{"twice", "steps", 2, "ready\nafter the loop context canceled\n", "signal: interrupt"},
		{"no loop", "steps", 1, "ready\n", "signal: interrupt"},
		{"own loop", "steps", 1, "ready\ndeferred\n", "<nil>"},
	} {
		stdout, stderr, end := interrupted(t, c.what, c.mode, c.n)
		if stdout != c.stdout || end != c.end {
			t.Errorf("%s, mode %q: printed %q, ended with %s; want %q, %s", c.what, c.mode, stdout, end, c.stdout, c.end)
		}
		if told := strings.Contains(stderr, "Interrupt again"); told != (c.mode == "steps" && c.what != "no loop") {
			t.Errorf("%s: on stderr %q", c.what, stderr)
		}
	}
}
