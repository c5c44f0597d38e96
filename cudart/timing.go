package cudart

import (
	"sync"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Times of ops for traces: two events around what an op queues, asked when the trace is.

// clocks are the device's events that no timing has.
type clocks struct {
	mu   sync.Mutex
	free []driver.Event
}

// A timing lies between two events.
type timing struct {
	d        *device
	from, to driver.Event // 0 if there are none
	took     time.Duration
	passed   bool // Done has said so
}

// Start marks the beginning of what is queued next.
func (d *device) Start() amp.Timing {
	t := &timing{d: d}
	if d.admit() != nil { // another goroutine captures a step
		return t
	}
	defer d.finish()
	if d.capture.on.Load() || !d.readies() {
		return t
	}
	_ = d.do(func() error {
		t.from, _ = d.clocks.take(d)
		t.to, _ = d.clocks.take(d)
		if t.from == 0 || t.to == 0 || d.drv.RecordEvent(t.from, d.stream) != nil {
			t.Drop()
		}
		return nil
	})
	return t
}

func (t *timing) Stop() {
	if t.from == 0 {
		return
	}
	if t.d.admit() != nil { // what began before the capture has no end that is known
		t.Drop()
		return
	}
	defer t.d.finish()
	if t.d.capture.on.Load() || !t.d.readies() {
		t.Drop()
		return
	}
	_ = t.d.do(func() error {
		if t.d.drv.RecordEvent(t.to, t.d.stream) != nil {
			t.Drop()
		}
		return nil
	})
}

func (t *timing) Done() (done bool) {
	if t.from == 0 {
		return true
	}
	_ = t.d.do(func() error {
		ok, err := t.d.drv.EventDone(t.to)
		done = ok || err != nil
		t.passed = ok && err == nil
		return nil
	})
	return done
}

func (t *timing) Duration() time.Duration {
	if t.from == 0 {
		return t.took
	}
	_ = t.d.do(func() error {
		if !t.passed {
			if err := t.d.drv.SyncEvent(t.to); err != nil {
				return err
			}
		}
		took, err := t.d.drv.Elapsed(t.from, t.to)
		t.took = took
		return err
	})
	t.Drop()
	return t.took
}

// Drop gives the events back: what records them again need not wait for what recorded them before.
func (t *timing) Drop() {
	c := &t.d.clocks
	c.mu.Lock()
	for _, e := range []driver.Event{t.from, t.to} {
		if e != 0 {
			c.free = append(c.free, e)
		}
	}
	c.mu.Unlock()
	t.from, t.to = 0, 0
}

// take returns an event; the context is bound.
func (c *clocks) take(d *device) (driver.Event, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		e := c.free[n-1]
		c.free = c.free[:n-1]
		return e, nil
	}
	return d.drv.NewEvent(true)
}
