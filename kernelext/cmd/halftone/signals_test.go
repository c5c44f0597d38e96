package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/testsignal"
)

// TestNohup: what nohup has started goes on when the terminal is closed, and nothing else does.
func TestNohup(t *testing.T) {
	testsignal.Restore()
	defer testsignal.Restore()
	defer signal.Reset(syscall.SIGHUP)
	ends := func() bool { return slices.Contains(endings(), os.Signal(syscall.SIGHUP)) }
	if !ends() {
		t.Error("a closed terminal does not end a command")
	}
	signal.Ignore(syscall.SIGHUP)
	if ends() {
		t.Error("a closed terminal ends a command that nohup has started")
	}
}

// TestInterruptEndsReading: a command that waits for what never comes ends at the first signal.
func TestInterruptEndsReading(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.ipynb")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	stdin := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = stdin; in.Close() }()
	for _, c := range []struct {
		code int
		args []string
	}{
		{130, []string{"show", "-"}},
		{130, []string{"show", pipe}},
		{130, []string{"render"}},
		{1, []string{"run", pipe}},
		{1, []string{"share", pipe}},
		{1, []string{"compare", pipe}},
		{1, []string{"verify", pipe}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		ended := make(chan result, 1)
		go func() { ended <- dispatchedWith(ctx, t, c.args...) }()
		select {
		case r := <-ended:
			if r.code != c.code {
				t.Errorf("halftone %q: exit code %d, want %d\n%s%s", c.args, r.code, c.code, r.stdout, r.stderr)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("halftone %q goes on", c.args)
		}
		cancel()
	}
}

const secondEnv = "HALFTONE_TEST_SECOND_SIGNAL"

// TestSecondSignalKills what the first has not ended.
func TestSecondSignalKills(t *testing.T) {
	if os.Getenv(secondEnv) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), endings()...)
		letSecondKill(ctx, stop)
		fmt.Println("ready")
		<-ctx.Done()
		fmt.Println("first")
		time.Sleep(time.Minute)
		return
	}
	testsignal.Restore()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSecondSignalKills$")
	cmd.Env = append(os.Environ(), secondEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	began := time.Now()
	for _, want := range []string{"ready", "first"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("%q, want %q", lines.Text(), want)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM) // the second comes at once and counts as the first
	}
	time.Sleep(oneSignal + 200*time.Millisecond)
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGTERM || time.Since(began) > 30*time.Second {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}
