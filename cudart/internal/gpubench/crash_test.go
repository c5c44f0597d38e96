//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
	"time"
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
