//go:build linux && (amd64 || arm64)

package driver_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/ebitengine/purego"
)

// TestSignalsOnForeignThreads: an interrupted cell gets its signal on any thread, those of the driver as well, which Go did not start.
func TestSignalsOnForeignThreads(t *testing.T) {
	path := fake(t).Path()
	h, err := purego.Dlopen(path, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := purego.Dlsym(h, "cuThread")
	if err != nil {
		t.Fatal(err)
	}
	tid, _, _ := purego.SyscallN(addr)
	got := make(chan os.Signal, 100)
	signal.Notify(got, os.Interrupt)
	defer signal.Stop(got)
	for i := range 20 {
		if err := syscall.Tgkill(syscall.Getpid(), int(tid), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		// The one that preempts goroutines is not for the program, but must not end it either.
		if err := syscall.Tgkill(syscall.Getpid(), int(tid), syscall.SIGURG); err != nil {
			t.Fatal(err)
		}
		select {
		case <-got:
		case <-time.After(time.Minute):
			t.Fatalf("signal %d to the driver's thread %d was lost", i, tid)
		}
	}
}
