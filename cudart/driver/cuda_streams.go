//go:build linux && (amd64 || arm64)

package driver

import (
	"math"
	"time"
)

func (d *cuda) NewStream() (Stream, error) {
	const nonBlocking = 1
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.streamCreate, "", o.o(0), nonBlocking)
	return Stream(o.out[0]), err
}

func (d *cuda) DestroyStream(s Stream) error { return d.call(&d.f.streamDestroy, "", uintptr(s)) }

func (d *cuda) SyncStream(s Stream) error { return d.call(&d.f.streamSync, "", uintptr(s)) }

func (d *cuda) StreamDone(s Stream) (bool, error) { return d.done(&d.f.streamQuery, uintptr(s)) }

// done calls a query, for which "not ready" is an answer.
func (d *cuda) done(f *symbol, handle uintptr) (bool, error) {
	switch r := f.invoke(handle); r {
	case 0:
		return true, nil
	case codeNotReady:
		return false, nil
	default:
		return false, d.failure(f.name, r, "")
	}
}

func (d *cuda) StreamWait(s Stream, e Event) error {
	return d.call(&d.f.streamWait, "", uintptr(s), uintptr(e), 0)
}

func (d *cuda) Sync() error { return d.call(&d.f.ctxSync, "") }

func (d *cuda) NewEvent(timing bool) (Event, error) {
	const disableTiming = 2
	var flags uintptr = disableTiming
	if timing {
		flags = 0
	}
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.eventCreate, "", o.o(0), flags)
	return Event(o.out[0]), err
}

func (d *cuda) DestroyEvent(e Event) error { return d.call(&d.f.eventDestroy, "", uintptr(e)) }

func (d *cuda) RecordEvent(e Event, s Stream) error {
	return d.call(&d.f.eventRecord, "", uintptr(e), uintptr(s))
}

// SyncEvent and EventDone are of events from before a capture where this thread captures; without uncaptured they would end it.
func (d *cuda) SyncEvent(e Event) error {
	defer d.uncaptured()()
	return d.call(&d.f.eventSync, "", uintptr(e))
}

func (d *cuda) EventDone(e Event) (bool, error) {
	defer d.uncaptured()()
	return d.done(&d.f.eventQuery, uintptr(e))
}

func (d *cuda) Elapsed(from, to Event) (time.Duration, error) {
	o := newFrame()
	defer o.put()
	if err := d.call(&d.f.eventElapsed, "", o.o(0), uintptr(from), uintptr(to)); err != nil {
		return 0, err
	}
	ms := math.Float32frombits(uint32(o.out[0]))
	return time.Duration(float64(ms) * 1e6), nil
}
