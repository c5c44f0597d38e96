package cudart_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// failNext has the next call of a name fail, once.
type failNext struct {
	*failing
	call string
}

func (f *failNext) CopyDtoHAsync(dst []byte, src driver.DevicePtr, s driver.Stream) error {
	if err := f.next("CopyDtoHAsync"); err != nil {
		return err
	}
	return f.failing.CopyDtoHAsync(dst, src, s)
}

func (f *failNext) Launch(fn driver.Function, grid, block [3]uint32, shared uint32, s driver.Stream, a *driver.Args) error {
	if err := f.next("Launch"); err != nil {
		return err
	}
	return f.failing.Launch(fn, grid, block, shared, s, a)
}

func (f *failNext) next(call string) error {
	if f.call != call {
		return nil
	}
	f.call = ""
	return driver.NewError(call, "", 1, codeNames[1], "made to fail", &driver.History{})
}

// TestRefusalOutlivesAFailedWait: an index out of range that a wait could not tell of, since it failed itself, is told by the next one.
func TestRefusalOutlivesAFailedWait(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device)).NoGrad()
	defer s.Close()
	x := placed(s, amp.Float32, numbers(12), 4, 3)
	dev, _, _ := amp.OpenDevice(device)
	var f *failNext
	defer cudart.WrapDriver(device, func(d driver.Driver) driver.Driver { f = &failNext{failing: newFailing(d)}; return f })()
	amp.Embedding(s, x, list(s, 0, 9))
	f.call = "CopyDtoHAsync"
	if err := dev.Sync(); err == nil || !strings.Contains(err.Error(), "made to fail") {
		t.Error(err)
	}
	if err := dev.Sync(); !errors.Is(err, amp.ErrArgument) || !strings.Contains(err.Error(), "index 1 is 9") {
		t.Errorf("the index is forgotten: %v", err)
	}
	if err := dev.Sync(); err != nil {
		t.Error(err)
	}
}

// TestTracedOpsThatFailKeepNoEvents: the clock of an op that fails gives its events back.
func TestTracedOpsThatFailKeepNoEvents(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device), amp.Record(amp.Decisions)).NoGrad()
	defer s.Close()
	x := amp.Ones(s, amp.Float32, 4)
	amp.Exp(s, x)
	var f *failNext
	defer cudart.WrapDriver(device, func(d driver.Driver) driver.Driver { f = &failNext{failing: newFailing(d)}; return f })()
	for range 50 {
		f.call = "Launch"
		if err := amp.Maybe(func() { amp.Exp(s, x) }); err == nil {
			t.Fatal("no error")
		}
	}
	if n := f.holds()["event"]; n > 4 {
		t.Errorf("50 ops that failed took %d events", n)
	}
}

// TestClosedTracesKeepNoEvents: scopes that were closed have given the events of their traces back, and the traces have the times.
func TestClosedTracesKeepNoEvents(t *testing.T) {
	device := gpu(t)
	dev, _, _ := amp.OpenDevice(device)
	var f *failing
	defer cudart.WrapDriver(device, func(d driver.Driver) driver.Driver { f = newFailing(d); return f })()
	defer func() { f.rest() }()
	most := 0
	for round := range 4 {
		s := amp.NewScope(amp.On(device), amp.Record(amp.Decisions)).NoGrad()
		x := amp.Ones(s, amp.Float32, 4)
		for range 300 {
			amp.Exp(s, x)
		}
		if err := dev.Sync(); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if n := f.holds()["event"]; round == 0 {
			most = n
		} else if n > most {
			t.Errorf("round %d: %d events, after the first %d", round, n, most)
		}
	}
}

// TestProductsThatCuBLASRefuses: a product that cuBLAS has no algorithm for is computed by Halftone's kernel.
func TestProductsThatCuBLASRefuses(t *testing.T) {
	device := gpu(t)
	restore, asked := cudart.RefuseProducts(device)
	defer restore()
	run := func(on string) []float64 {
		s := amp.NewScope(amp.On(on)).NoGrad()
		defer s.Close()
		x, w, b := placed(s, amp.Float32, numbers(128*129), 128, 129), placed(s, amp.Float32, numbers(130*129), 130, 129), placed(s, amp.Float32, numbers(130), 130)
		return append(amp.Linear(s, x, w, b).Float64s(), amp.Linear(s, x, w, nil).Float64s()...)
	}
	want, got := run("cpu"), run(device)
	if i := farApart(want, got, 1e-4, 1e-4); i >= 0 || len(want) != len(got) {
		t.Errorf("number %d is %v, on the CPU %v", i, got[max(i, 0)], want[max(i, 0)])
	}
	if *asked != 2 {
		t.Errorf("cuBLAS was asked %d times", *asked)
	}
}
