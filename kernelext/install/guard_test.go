package install

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
)

func TestGuardLetsOneInAtATime(t *testing.T) {
	home := t.TempDir()
	var out strings.Builder
	rep := NewReporter(&out)
	release, err := guard(context.Background(), home, rep)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := guard(ctx, home, rep); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a second installation got in: %v", err)
	}
	if !strings.Contains(out.String(), "Another installation is running (process ") {
		t.Errorf("the user is not told: %q", out.String())
	}
	go func() { time.Sleep(100 * time.Millisecond); release() }()
	again, err := guard(context.Background(), home, rep)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestReadOnlyHome(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root may write anywhere: a file in the place of a folder is the closest failure.
		home := filepath.Join(t.TempDir(), "file")
		write(t, home, "")
		if _, err := guard(context.Background(), filepath.Join(home, "halftone"), NewReporter(&strings.Builder{})); err == nil {
			t.Error("no error")
		}
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	_, err := guard(context.Background(), filepath.Join(dir, "halftone"), NewReporter(&strings.Builder{}))
	if err == nil || !strings.Contains(err.Error(), "HALFTONE_HOME") {
		t.Errorf("error %v", err)
	}
}

func TestCancelledCommandIsStoppedWithItsChildren(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	pid := make(chan string, 1)
	go func() { <-pid; cancel() }()
	began := time.Now()
	cmd := exec.Command("sh", "-c", "sleep 60 & echo $!; wait")
	var child string
	_, err := run(ctx, cmd, func(line string) { child = line; pid <- line })
	if !errors.Is(err, context.Canceled) || stretch.Over(time.Since(began), 10*time.Second) {
		t.Fatalf("%v after %v", err, time.Since(began))
	}
	for runs := true; runs; time.Sleep(10 * time.Millisecond) { // a signal takes a moment
		runs = slices.ContainsFunc(processes(), func(p process) bool { return child == itoa(p.pid) })
		if runs && time.Since(began) > time.Minute {
			t.Fatalf("child %s is still running", child)
		}
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }
