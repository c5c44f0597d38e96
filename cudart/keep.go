package cudart

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/halftone-ml/halftone/amp"
)

// Who may use a device while a step is captured: the goroutine that captures it, and nobody else. What others queue on the stream would become
// a part of the step, and what they wait for would break it. A goroutine is told from others by its thread, which it keeps meanwhile.

// Keep waits until no other goroutine is in a call of the device, and lets none begin one until release is called. It returns nil while another
// goroutine keeps the device.
func (d *device) Keep() (release func()) {
	runtime.LockOSThread()
	if d.capture.keeper.Load() == thread() { // a capture within a capture: amp refuses it
		return runtime.UnlockOSThread
	}
	if !d.capture.keeper.CompareAndSwap(0, thread()) {
		runtime.UnlockOSThread()
		return nil
	}
	for d.capture.calls.Load() > 0 { // those that began before: each looks for a keeper after it has been counted
		time.Sleep(20 * time.Microsecond)
	}
	return func() {
		d.capture.keeper.Store(0)
		runtime.UnlockOSThread()
	}
}

// KeptFrom says whether another goroutine than this one keeps the device.
func (d *device) KeptFrom() bool {
	by := d.capture.keeper.Load()
	return by != 0 && by != thread()
}

// admit counts a call that uses the device, which calls finish at its end, or refuses it. Calls may lie within each other.
func (d *device) admit() error {
	d.capture.calls.Add(1)
	switch other := recordedOn.Load(); {
	case d.KeptFrom():
		d.finish()
		return captureError{amp.KeptByAnother(d.name), amp.AwaitCapture}
	case other != nil && other != d && !other.KeptFrom():
		d.finish()
		return captureError{"the step is captured on " + other.name + ", and a replay would not do what it does on " + d.name,
			"capture on each device what the step does there, and replay one behind the other, with copies between them (Assign)"}
	}
	return nil
}

// recordedOn is the device whose stream is recorded now, nil for none: what the goroutine that does so queues on others would be done once and
// in no replay.
var recordedOn atomic.Pointer[device]

func (d *device) finish() { d.capture.calls.Add(-1) }
