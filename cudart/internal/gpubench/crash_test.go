//go:build linux

package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// crashEnv has TestCrasher and those behind it, in a process of their own, end it.
const crashEnv = "HALFTONE_TEST_CRASH"

func TestCrasher(t *testing.T) {
	if os.Getenv(crashEnv) == "" {
		t.Skip("TestCrashHidesNothing starts it")
	}
	for _, name := range []string{"well", "panics (1|2)", "deep/panics", "deep/well", "leaves", "fails"} {
		t.Run(name, func(t *testing.T) {
			switch {
			case strings.Contains(name, "panics"):
				panic("on purpose")
			case name == "leaves":
				os.Exit(3)
			case name == "fails":
				t.Error("on purpose")
			}
		})
	}
}

func TestCrasherItself(t *testing.T) {
	if os.Getenv(crashEnv) == "" {
		t.Skip("TestCrashHidesNothing starts it")
	}
	panic("on purpose")
}

func TestCrasherLast(t *testing.T) {
	if os.Getenv(crashEnv) == "" {
		t.Skip("TestCrashHidesNothing starts it")
	}
}

// TestCrashHidesNothing: a test that ends its binary does not keep those behind it from running, and each is counted once.
func TestCrashHidesNothing(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := stage{name: "suite", side: tests, usual: time.Second, limit: time.Minute, argv: []string{exe, "-test.v", "-test.run=^TestCrasher"}, env: []string{crashEnv + "=1"}}
	st := call(t, t.Context(), t.TempDir(), time.Hour, s)
	e := st.of(t, "suite", failed)
	why := strings.Join(e.Why, "; ")
	for _, want := range []string{"TestCrasher/panics_(1|2) failed", "TestCrasher/deep/panics failed", "TestCrasher/leaves ended the tests", "TestCrasher/fails failed", "TestCrasherItself failed"} {
		if strings.Count(why, want) != 1 {
			t.Errorf("%q is not there once: %s", want, why)
		}
	}
	if e.Passed != 3 || e.Failed != 6 { // the passed: well, deep/well, TestCrasherLast; TestCrasher failed too
		t.Errorf("%d passed, %d failed: %s", e.Passed, e.Failed, why)
	}
}

// TestDeviceLost: a test that loses the device is ended, and those behind it run in a process that has it again. What was said after the loss
// is no verdict.
func TestDeviceLost(t *testing.T) {
	needsShell(t)
	s := sh("suite", tests, `case "$*" in
	*TestB*) printf '=== RUN   TestC\n--- PASS: TestC (0.00s)\nPASS\n';;
	*) printf '=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:3: add: '"$LOST"'; fix: none\n'
		printf -- '--- FAIL: TestB (0.00s)\n=== RUN   TestC\n--- FAIL: TestC (0.00s)\nFAIL\n'; exec sleep 60;;
	esac`)
	s.argv, s.env = append(s.argv, "sh"), []string{"LOST=" + driver.ErrLost.Error()}
	began := time.Now()
	dir := t.TempDir()
	e := call(t, t.Context(), dir, time.Hour, s).of(t, "suite", failed)
	if time.Since(began) > 30*time.Second {
		t.Error("it was not ended")
	}
	if why := strings.Join(e.Why, "; "); e.Passed != 2 || e.Failed != 1 || !strings.HasPrefix(why, "TestB ended the tests; ") || strings.Contains(why, "TestC") {
		t.Errorf("%+v", e)
	}
}

// TestEnded: a process that does not end when it is killed is not waited for.
func TestEnded(t *testing.T) {
	needsShell(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.Command("/bin/sh", "-c", "exec sleep 3") // of no context: nothing kills it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := ended(ctx, cmd, time.Millisecond); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Error(err)
	}
	_ = cmd.Process.Kill()
}
