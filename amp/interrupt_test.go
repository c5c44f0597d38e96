package amp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/internal/testsignal"
)

// interruptChild is a program that is interrupted while it does what the name says.
const interruptChildEnv = "HALFTONE_TEST_INTERRUPT"

func TestMain(m *testing.M) {
	if what := os.Getenv(interruptChildEnv); what != "" {
		interruptChild(what)
		os.Exit(0)
	}
	testsignal.Restore()
	os.Exit(m.Run())
}

func interruptChild(what string) {
	s := NewScope()
	defer fmt.Println("deferred")
	defer s.Close()
	for range s.Steps(3) { // a loop that is over changes nothing
	}
	// It is ready once it looks at the context: an interrupt before that ends any program.
	ready := sync.OnceFunc(func() { fmt.Println("ready") })
	switch what {
	case "steps", "twice":
		for range s.Steps(100_000) {
			ready()
			time.Sleep(20 * time.Millisecond)
		}
		fmt.Println("after the loop", s.Context().Err())
		for range s.Steps(5) {
			fmt.Println("another step")
		}
		if what == "twice" {
			time.Sleep(time.Hour)
		}
	case "own loop":
		for s.Context().Err() == nil {
			ready()
			time.Sleep(10 * time.Millisecond)
		}
	case "no loop":
		ready()
		time.Sleep(time.Hour)
	}
}

// interrupted runs a program, interrupts it after each of its first n lines and returns what it printed and how it ended.
func interrupted(t *testing.T, what, mode string, n int) (stdout, stderr, end string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), interruptChildEnv+"="+what, InterruptEnv+"="+mode)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewReader(out)
	for range n {
		line, _ := lines.ReadString('\n')
		stdout += line
		time.Sleep(50 * time.Millisecond)
		_ = cmd.Process.Signal(syscall.SIGINT)
	}
	began := time.Now()
	rest, _ := io.ReadAll(lines)
	err = cmd.Wait()
	if d := time.Since(began); stretch.Over(d, 2*time.Second) {
		t.Errorf("%s: it ended %v after the interrupt", what, d)
	}
	return stdout + string(rest), errs.String(), fmt.Sprint(err)
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
