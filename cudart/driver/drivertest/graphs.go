package drivertest

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// graphs: captured work does not run, and runs at each replay, on what is in memory then.
func graphs(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	if !s.supported(t, "capture", s.d.BeginCapture(st)) {
		return
	}
	_, err := s.d.EndCapture(st)
	check(t, err)
	step, from := s.kernel(t, "drivertest_step"), s.kernel(t, "drivertest_step_from")
	out, in := s.alloc(t, 4), s.alloc(t, 8)
	before, err := s.d.NewEvent(true)
	check(t, err, s.d.Memset32(out, 1, 1, st), s.d.RecordEvent(before, st), s.d.SyncStream(st))

	check(t, s.d.BeginCapture(st))
	if on, err := s.d.Capturing(st); err != nil || !on {
		t.Errorf("capturing is %v, %v", on, err)
	}
	s.step(t, step, st, out, 2, 3)
	a := driver.GetArgs("step_from").Ptr(out).Ptr(in)
	check(t, s.d.Launch(from, one, one, 0, st, a))
	a.Put()
	if done, err := s.d.EventDone(before); err != nil || !done { // of work that is done; a capture that was broken ends in an error below
		t.Errorf("an event from before the capture is done: %v, %v", done, err)
	}
	pinned, err := s.d.HostAlloc(64)
	check(t, err, s.d.SyncEvent(before), s.d.HostFree(pinned))
	scratch, err := s.d.Alloc(64) // is allowed, and is not captured
	check(t, err, s.d.Memset32(scratch, 9, 16, st))
	g, err := s.d.EndCapture(st)
	check(t, err)
	if on, err := s.d.Capturing(st); err != nil || on {
		t.Errorf("after the capture, capturing is %v, %v", on, err)
	}
	if n, err := s.d.GraphNodes(g); err != nil || n != 3 {
		t.Errorf("%d nodes, %v; want 3", n, err)
	}
	if got := s.word(t, out); got != 1 {
		t.Errorf("captured work ran: %d", got)
	}
	x, err := s.d.Instantiate(g)
	check(t, err, s.d.DestroyGraph(g))
	want := uint32(1)
	for i := range uint32(100) {
		check(t, s.d.CopyHtoDAsync(in, raw([]uint32{i | 1, 5 * i}), st), s.d.LaunchGraph(x, st))
		want = (want*2+3)*(i|1) + 5*i
	}
	check(t, s.d.SyncStream(st))
	if got := s.word(t, out); got != want {
		t.Errorf("after 100 replays %d, want %d", got, want)
	}
	if got := s.word(t, scratch+60); got != 9 {
		t.Errorf("the captured memset wrote %d", got)
	}
	check(t, s.d.DestroyGraphExec(x), s.d.Free(scratch), s.d.DestroyEvent(before))
}

func capturedCopies(t *testing.T, s *suite) {
	s.bind(t)
	st, side := s.stream(t), s.stream(t)
	if !s.supported(t, "capture", s.d.BeginCapture(st)) {
		return
	}
	_, err := s.d.EndCapture(st)
	check(t, err)
	const n = 4096
	in, err := s.d.HostAlloc(n)
	check(t, err)
	out, err := s.d.HostAlloc(n)
	check(t, err)
	p, q := s.alloc(t, n), s.alloc(t, n)
	fork, err := s.d.NewEvent(false)
	check(t, err)
	join, err := s.d.NewEvent(false)
	check(t, err)

	// A second stream joins the capture through an event, and must be joined again.
	check(t, s.d.BeginCapture(st), s.d.CopyHtoDAsync(p, in, st), s.d.RecordEvent(fork, st), s.d.StreamWait(side, fork),
		s.d.CopyDtoD(q, p, n, side), s.d.RecordEvent(join, side), s.d.StreamWait(st, join), s.d.CopyDtoHAsync(out, q, st))
	g, err := s.d.EndCapture(st)
	check(t, err)
	x, err := s.d.Instantiate(g)
	check(t, err)
	for round := range 3 {
		copy(in, random(n-round))
		check(t, s.d.LaunchGraph(x, st), s.d.SyncStream(st))
		if !bytes.Equal(in, out) {
			t.Errorf("replay %d did not copy what was there", round)
		}
	}
	check(t, s.d.DestroyGraphExec(x), s.d.DestroyGraph(g))

	check(t, s.d.BeginCapture(st))
	if err := s.d.CopyHtoDAsync(p, make([]byte, n), st); !errors.Is(err, driver.ErrCapture) {
		t.Errorf("a copy of Go's memory was captured: %v", err)
	}
	if g, err := s.d.EndCapture(st); err == nil { // it was refused before it reached the driver
		check(t, s.d.DestroyGraph(g))
	}
	check(t, s.d.HostFree(in), s.d.HostFree(out), s.d.DestroyEvent(fork), s.d.DestroyEvent(join))
}

// refusedInCapture: calls that wait are errors; the stream works again afterwards.
func refusedInCapture(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	if !s.supported(t, "capture", s.d.BeginCapture(st)) {
		return
	}
	_, err := s.d.EndCapture(st)
	check(t, err)
	p := s.alloc(t, 64)
	for name, call := range map[string]func() error{
		"SyncStream": func() error { return s.d.SyncStream(st) },
		"Sync":       s.d.Sync,
		"CopyDtoH":   func() error { return s.d.CopyDtoH(make([]byte, 4), p) },
		"StreamDone": func() error { _, err := s.d.StreamDone(st); return err },
	} {
		check(t, s.d.BeginCapture(st), s.d.Memset32(p, 1, 1, st))
		if err := call(); !errors.Is(err, driver.ErrCapture) {
			t.Errorf("%s while capturing: %v", name, err)
		}
		// The driver gives the capture up, unless the call was refused before it got there.
		if g, err := s.d.EndCapture(st); err == nil {
			check(t, s.d.DestroyGraph(g))
		} else if !errors.Is(err, driver.ErrCapture) {
			t.Errorf("after %s, the capture ends in %v", name, err)
		}
		check(t, s.d.Memset32(p, 1, 1, st), s.d.SyncStream(st))
	}
	if err := s.d.BeginCapture(0); err == nil {
		t.Error("the default stream was captured")
	}
	if _, err := s.d.EndCapture(st); err == nil {
		t.Error("a capture ended that had not begun")
	}

	// Other threads go on: allocation there does not break a capture here.
	check(t, s.d.BeginCapture(st))
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // without unlocking: the thread ends with the goroutine
		done <- driver.Do(s.d, s.ctx, func() error {
			q, err := s.d.Alloc(1 << 20)
			if err != nil {
				return err
			}
			return s.d.Free(q)
		})
	}()
	check(t, <-done, s.d.Memset32(p, 1, 1, st))
	g, err := s.d.EndCapture(st)
	check(t, err, s.d.DestroyGraph(g))
}
