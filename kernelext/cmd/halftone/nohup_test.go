package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

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
