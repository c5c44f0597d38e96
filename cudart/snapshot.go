package cudart

import (
	"slices"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Copies in the order of the stream that nobody waits for (amp.Snapshotter): of shared memory within the device, and of a few numbers to
// page-locked memory of the host. An event behind them says that they are made.

// A snapshot is what was queued between two events.
type snapshot struct {
	d        *device
	from, to driver.Event
	host     []byte // page-locked: the note of refused indices, then the elements of tensors
	elements [][]byte
	noted    bool // the note was copied
	over     bool // it is known what became of it
	err      error
	took     time.Duration
}

// snapshots are what no snapshot has of the page-locked memory, under the lock of the clocks.
type snapshots struct{ free [][]byte }

// snapshotBytes is the least page-locked memory of a snapshot: room for the numbers of many optimizers.
const snapshotBytes = 4 << 10

// Snapshot queues the copies.
func (d *device) Snapshot(copies []amp.SharedMoves, read []*amp.Tensor) (amp.Snapshot, error) {
	if err := d.admit(); err != nil {
		return nil, err
	}
	defer d.finish()
	if err := d.refuse("memory can't be copied apart while a step is captured", "do it after Capture"); err != nil {
		return nil, err
	}
	bufs := make([]amp.Buffer, len(read))
	for i, t := range read {
		bufs[i] = t.Layout().Buffer
	}
	if err := d.ready(bufs...); err != nil {
		return nil, err
	}
	s := &snapshot{d: d}
	err := d.do(func() error {
		if err := s.begin(read); err != nil {
			return err
		}
		if err := s.queue(copies, read); err != nil {
			_ = d.drv.SyncStream(d.stream) // what is queued already writes to the host
			return err
		}
		return d.drv.RecordEvent(s.to, d.stream)
	})
	if err != nil {
		s.Drop()
		return nil, err
	}
	return s, nil
}

// begin takes events and memory of the host; the context is bound.
func (s *snapshot) begin(read []*amp.Tensor) (err error) {
	d := s.d
	n := refusedRoom
	for _, t := range read {
		n += (int(t.Bytes()) + 7) &^ 7
	}
	if s.host, err = d.snapshots.take(d, n); err != nil {
		return err
	}
	if s.from, err = d.clocks.take(d); err != nil {
		return err
	}
	if s.to, err = d.clocks.take(d); err != nil {
		return err
	}
	return d.drv.RecordEvent(s.from, d.stream)
}

// queue queues the copies between the events.
func (s *snapshot) queue(copies []amp.SharedMoves, read []*amp.Tensor) error {
	d := s.d
	for _, c := range copies {
		for _, m := range c.Moves {
			if err := c.Of.(*shared).move(m, d.stream); err != nil {
				return err
			}
		}
	}
	if r := &d.refused; r.ready.Load() && r.asked.Load() {
		s.noted = true
		if err := d.drv.CopyDtoHAsync(s.host[:refusedBytes], r.mem, d.stream); err != nil {
			return err
		}
	}
	at := refusedRoom
	for _, t := range read {
		l, n := t.Layout(), int(t.Bytes())
		to := s.host[at:][:n:n]
		from := blockOf(l.Buffer).ptr + driver.DevicePtr(l.Offset*t.DType().Size())
		if err := d.drv.CopyDtoHAsync(to, from, d.stream); err != nil {
			return err
		}
		s.elements = append(s.elements, to)
		at += (n + 7) &^ 7
	}
	return nil
}

// take returns page-locked memory; the context is bound.
func (p *snapshots) take(d *device, n int) ([]byte, error) {
	d.clocks.mu.Lock()
	if i := slices.IndexFunc(p.free, func(b []byte) bool { return len(b) >= n }); i >= 0 {
		b := p.free[i]
		p.free = slices.Delete(p.free, i, i+1)
		d.clocks.mu.Unlock()
		return b, nil
	}
	d.clocks.mu.Unlock()
	return d.drv.HostAlloc(max(n, snapshotBytes))
}

// Done asks the event.
func (s *snapshot) Done() (bool, error) {
	if s.over {
		return true, s.err
	}
	err := s.d.do(func() error {
		done, err := s.d.drv.EventDone(s.to)
		if done || err != nil {
			s.end(err)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	return s.over, s.err
}

// Wait waits for the event.
func (s *snapshot) Wait() error {
	if s.over {
		return s.err
	}
	err := s.d.do(func() error {
		s.end(s.d.drv.SyncEvent(s.to))
		return nil
	})
	if err != nil {
		return err
	}
	return s.err
}

// end notes what became of the copies: the device's error, or that a kernel up to them has refused an index. That stays noted for who
// waits for the device.
func (s *snapshot) end(err error) {
	s.over, s.err = true, err
	if err == nil && s.noted {
		s.err = s.d.refusedIn(s.host)
	}
	if s.err == nil {
		s.took, s.err = s.d.drv.Elapsed(s.from, s.to)
	}
}

func (s *snapshot) Elements() [][]byte  { return s.elements }
func (s *snapshot) Took() time.Duration { return s.took }

// Drop gives events and memory to the next one.
func (s *snapshot) Drop() {
	c := &s.d.clocks
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range []driver.Event{s.from, s.to} {
		if e != 0 {
			c.free = append(c.free, e)
		}
	}
	if s.host != nil {
		s.d.snapshots.free = append(s.d.snapshots.free, s.host)
	}
	s.from, s.to, s.host, s.elements = 0, 0, nil, nil
}
