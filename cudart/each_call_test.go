package cudart_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/emulator"
)

// wholeStep uses what a notebook's training uses of a device: weights in memory that processes share, losses of classes, whose kernels look at
// indices, dropout, a scaler, two steps one by one and two of a captured one, a snapshot, times and a trace. It returns the losses.
func wholeStep(on string) (losses []float64, err error) {
	var held []*amp.Tensor
	keep := func(t *amp.Tensor) *amp.Tensor { held = append(held, t); return t }
	var opt *optim.Adam
	var memory amp.Shared
	defer func() {
		if opt != nil {
			_ = amp.Maybe(func() { // it reads how many steps were taken, which may be what fails
				for _, s := range opt.LiveState().Tensors {
					s.Free()
				}
			})
		}
		for _, t := range held {
			t.ZeroGrad()
			t.Free()
		}
		if memory != nil {
			_ = memory.Close()
		}
	}()
	err = amp.Maybe(func() {
		root := amp.NewScope(amp.On(on), amp.Seed(1), amp.Record(amp.Health))
		dev, _, _ := amp.OpenDevice(on)
		defer func() {
			_ = dev.Sync() // so that the trace knows its times
			root.Close()
		}()
		d := dev.(amp.Snapshotter)
		x, y := keep(amp.Randn(root, amp.Float32, 0, 1, 8, 4)), keep(amp.RandInt(root, 0, 3, 8))
		w := keep(amp.Randn(root, amp.Float32, 0, 0.5, 3, 4)).RequireGrad()
		var e error
		if memory, e = d.Share(1 << 12); e != nil {
			panic(&amp.Error{Op: "Share", Kind: e})
		}
		w.Rehome(memory.Part(0, w.Bytes(), nobody{}), true)
		opt = optim.NewAdam([]*amp.Tensor{w}, optim.LR(0.05))
		scaler := amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(2))
		loss := keep(amp.Full(root, amp.Float32, 0))
		step := func(s *amp.Scope) {
			half := s.Autocast(amp.Float16)
			l := amp.CrossEntropy(half, amp.Dropout(half, amp.Linear(half, x, w, nil), 0.25), y)
			opt.ZeroGrad()
			scaler.Scale(s, l).Backward()
			scaler.Step(opt)
			scaler.Update()
			amp.Assign(loss, l)
		}
		for s := range root.Steps(2) {
			step(s)
			losses = append(losses, loss.Item())
		}
		snap, e := d.Snapshot([]amp.SharedMoves{{Of: memory, Moves: []amp.Move{{To: 1024, From: 0, Bytes: 48}}}}, []*amp.Tensor{loss})
		if e != nil {
			panic(&amp.Error{Op: "Snapshot", Kind: e})
		}
		e = snap.Wait()
		snap.Drop()
		if e != nil {
			panic(&amp.Error{Op: "Snapshot", Kind: e})
		}
		g := root.Capture(step)
		defer g.Close()
		losses = append(losses, loss.Item())
		g.Replay()
		losses = append(losses, loss.Item())
	})
	return losses, err
}

// oneFailure is what became of a run of which a call failed.
type oneFailure struct {
	err, after    error
	losses, again []float64
	left          map[string]int
	inUse         uint64
	panicked      string
	failing       *failing
}

// failCall opens a device of its own on the driver, and has its call at fail.
func failCall(t *testing.T, d driver.Driver, at int, code int32, sticky bool) (o oneFailure) {
	o.failing = newFailing(d)
	name := cudart.OpenOn(o.failing)
	defer o.failing.end()
	o.failing.at, o.failing.code, o.failing.sticky = at, code, sticky
	run := func() (losses []float64, err error) {
		defer func() {
			if r := recover(); r != nil {
				o.panicked = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
		}()
		return wholeStep(name)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.losses, o.err = run()
		if !sticky {
			o.failing.rest()
		}
		o.again, o.after = run()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%v: hangs", o.failing)
	}
	o.inUse = cudart.InUse(name)
	o.left = o.failing.holds()
	return o
}

// TestCallsFail has calls of the driver fail that training makes, one at a time; TestCallsFailLong takes each. The error says what failed,
// nothing is left behind, and the next run is right; with the device lost it fails as well, at once.
func TestCallsFail(t *testing.T) { failCalls(t, 24) }

// failCalls does so for every stride-th call.
func failCalls(t *testing.T, stride int) {
	t.Helper()
	gpu(t)
	if os.Getenv(cudart.ModeEnv) != cudart.ModeEmulator {
		t.Skip("a real device has no faults on demand")
	}
	path, err := emulator.Library()
	if err != nil {
		t.Fatal(err)
	}
	d, err := driver.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	want := failCall(t, d, 0, 0, false)
	if want.err != nil || want.after != nil || len(want.losses) != 4 || !slices.Equal(want.losses, want.again) {
		t.Fatalf("without a fault: %+v", want)
	}
	calls := len(want.failing.names)/2 + 50
	for i, kind := range []struct {
		code   int32
		sticky bool
	}{{1, false}, {2, false}, {700, true}} {
		for at := 1 + i*stride/3; at <= calls; at += stride {
			o := failCall(t, d, at, kind.code, kind.sticky)
			if o.failing.failed == "" {
				break
			}
			o.judge(t, want, kind.sticky)
		}
	}
}

// ofTheTest are the errors that wholeStep itself makes, of calls that return theirs.
var ofTheTest = regexp.MustCompile(`^amp: (Share|Snapshot): `)

func (o *oneFailure) text() string {
	if o.err == nil {
		return ""
	}
	return o.err.Error()
}

// judge compares a run of which a call failed with one of which none did.
func (o *oneFailure) judge(t *testing.T, want oneFailure, lost bool) {
	t.Helper()
	f := o.failing
	name := codeNames[f.code]
	switch {
	case o.panicked != "":
		t.Errorf("%v: panics: %s", f, o.panicked)
		return
	case strings.Contains(o.text(), "device mismatch") || strings.Contains(o.text(), "no such device") && !strings.HasPrefix(o.text(), "amp: NewScope: "): // which opens it
		t.Errorf("%v: a failure is called a mistake of the program's: %v", f, o.err)
	case lost && o.err != nil && !strings.Contains(o.text(), "start the program again") && !ofTheTest.MatchString(o.text()):
		t.Errorf("%v: the device is lost, and no advice is given: %v", f, o.err)
	case o.err == nil && !slices.Equal(o.losses, want.losses):
		t.Errorf("%v: no error, and other losses: %v, want %v", f, o.losses, want.losses)
	case o.err != nil && (!strings.Contains(o.err.Error(), name) || !strings.HasPrefix(o.err.Error(), "amp: ")):
		t.Errorf("%v: the error does not say what failed: %v", f, o.err)
	case o.err != nil && f.code == 2 && !errors.Is(o.err, amp.ErrMemory) && !errors.Is(o.err, driver.ErrMemory):
		t.Errorf("%v: out of memory by another name: %v", f, o.err)
	}
	if lost {
		if o.after == nil {
			t.Errorf("%v: the next run says nothing", f)
		}
		return
	}
	if o.after != nil || !slices.Equal(o.again, want.losses) {
		t.Errorf("%v: the next run is not what it was: %v, %v, want %v", f, o.after, o.again, want.losses)
	}
	if strings.Contains(o.text(), "eachChunk") {
		t.Errorf("%v: the error names what is no function of the program's: %v", f, o.err)
	}
	const fresh = 4 * 512 // state of an optimizer that no step was applied to, which it does not show
	if o.inUse > want.inUse+fresh {
		t.Errorf("%v: %d bytes are in use, without a fault %d", f, o.inUse, want.inUse)
	}
	for kind, n := range o.left {
		if kind == "module" && n == f.found() || strings.Contains(f.failed, "Destroy") || f.failed == "cuMemUnmap" {
			continue
		}
		if n > want.left[kind] {
			t.Errorf("%v: %d pieces of %s are held of the driver, without a fault %d", f, n, kind, want.left[kind])
		}
	}
}
