package store

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/halftone-ml/halftone/amp"
)

// Commits that nobody waits for. Where devices alone change tensors, the end of a training step queues copies of what the step has changed
// behind the step's own work, in the order of each device, and the host goes on. Once the devices say that they are made, the record of
// the step is written and becomes the current one, and the anchor.
//
// A tensor has two copies for that. The device writes the one that the anchor does not need, whose word is 0 meanwhile, so that a process
// which is killed leaves the anchor whole, whatever the device still does of what was queued. Numbers that the device computes, a loss
// scale or a count of steps, come with the copies.

// A LaterSource is a Source some of whose numbers a device may still be computing.
type LaterSource interface {
	Source
	// StateLater returns small tensors and a function that appends the numbers, given their elements as they are when all that is queued
	// now is done: what AppendState would append if it waited for that.
	StateLater() (of []*amp.Tensor, state func(b []byte, elements [][]byte) ([]byte, error))
}

// A pending is a commit that devices are working at.
type pending struct {
	seq   uint64
	step  int64
	begun time.Time
	raw   []byte // the record without what cuts stands for
	cuts  []cut
	taken []taken
	jobs  []*job
}

// A cut is the place of numbers in a record that are not there yet.
type cut struct {
	at       int
	name     string
	state    func(b []byte, elements [][]byte) ([]byte, error)
	elements []element
}

// An element is a tensor that a job reads.
type element struct {
	job *job
	at  int // among those that it reads
}

// A taken block is one that is being copied.
type taken struct {
	b       *Block
	changed bool // since the last commit
}

// A job is one device's part.
type job struct {
	device string
	copies []amp.SharedMoves
	read   []*amp.Tensor
	queued amp.Snapshot
}

// Later says whether steps are committed without waiting: tensors on devices that can do that are all that has changed.
func (s *Store) Later() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.later()
}

func (s *Store) later() bool {
	if s.structure || s.anchor < 0 || slices.ContainsFunc(s.dirty, func(b *Block) bool { return !b.IsFar() }) {
		return false
	}
	any := false
	for _, e := range s.extents {
		if e.far == nil {
			continue
		}
		if _, able := s.devices[e.Device].(amp.Snapshotter); !able {
			return false
		}
		any = true
	}
	return any
}

// DueLater says whether a commit that nobody waits for is worth its time at the end of a step: the one before is made, and the copies
// take a two-hundredth of the devices' time at most.
func (s *Store) DueLater() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed != nil || s.pending == nil && time.Since(s.lastAnchor) >= max(anchorEvery, copyShare*s.farCost)
}

// EndStepLater counts a training step and begins to commit it, where Later and DueLater say that this can be done. The error may be that
// of an earlier one.
func (s *Store) EndStepLater() error {
	start := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.spent += time.Since(start) }()
	s.step++
	s.touchLocked()
	if err := s.finishMade(); err != nil {
		return err
	}
	if s.pending != nil || !s.later() {
		return nil // a later step is committed
	}
	p := &pending{seq: s.seq + 1, step: s.step, begun: start}
	if err := s.prepareLater(p); err != nil {
		return err
	}
	if err := s.queueLater(p); err != nil {
		return err
	}
	s.pending = p
	s.changed.Store(false) // the word in the head stays until the commit is made
	go s.await(p)
	return nil
}

// prepareLater writes the record and lists what each device has to do.
func (s *Store) prepareLater(p *pending) (err error) {
	if p.raw, err = s.compose(nil, true, s.step, p); err != nil {
		return err
	}
	moves := map[*Extent][]amp.Move{}
	for _, b := range blocksOf(s.objects) {
		if b.ext.far == nil || !b.dirty.Load() && b.copyOf(b.need) >= 0 {
			continue
		}
		b.into = b.spare()
		moves[b.ext] = append(moves[b.ext], amp.Move{To: b.ext.copyFar(b.into, b.t.At), From: b.t.At, Bytes: b.t.Size})
		p.taken = append(p.taken, taken{b, b.dirty.Load()})
	}
	for _, e := range s.extents {
		if len(moves[e]) > 0 {
			j := p.jobOn(e.Device)
			j.copies = append(j.copies, amp.SharedMoves{Of: e.far, Moves: joined(moves[e])})
		}
	}
	return nil
}

// jobOn returns the part of a device.
func (p *pending) jobOn(device string) *job {
	for _, j := range p.jobs {
		if j.device == device {
			return j
		}
	}
	j := &job{device: device}
	p.jobs = append(p.jobs, j)
	return j
}

// joined makes one copy of those that lie beside each other, with what fills the gap to the next tensor.
func joined(moves []amp.Move) []amp.Move {
	slices.SortFunc(moves, func(a, b amp.Move) int { return int(a.From - b.From) })
	out := moves[:1]
	for _, m := range moves[1:] {
		if last := &out[len(out)-1]; m.From == roundUp(last.From+last.Bytes, farAlign) && m.To-m.From == last.To-last.From {
			last.Bytes = m.From + m.Bytes - last.From
		} else {
			out = append(out, m)
		}
	}
	return out
}

// later notes numbers that are not there yet, at the end of a record that is being written; false if the source has none such.
func (p *pending) later(o *Object, src Source, at int) bool {
	l, ok := src.(LaterSource)
	if !ok {
		return false
	}
	of, state := l.StateLater()
	c := cut{at: at, name: o.Name, state: state}
	for _, t := range of {
		j := p.jobOn(t.Device())
		c.elements = append(c.elements, element{j, len(j.read)})
		j.read = append(j.read, t)
	}
	p.cuts = append(p.cuts, c)
	return true
}

// queueLater queues the work of all devices. From here on the copies hold nothing.
func (s *Store) queueLater(p *pending) error {
	for _, t := range p.taken {
		t.b.setCopied(t.b.into, 0)
	}
	for i, j := range p.jobs {
		_, err := s.sharer(j.device)
		if err == nil {
			j.queued, err = s.devices[j.device].(amp.Snapshotter).Snapshot(j.copies, j.read)
		}
		if err != nil {
			for _, done := range p.jobs[:i] {
				_ = done.queued.Wait()
				done.queued.Drop()
			}
			return fmt.Errorf("session: copying on %s: %w; what was committed before stays", j.device, err)
		}
	}
	s.seq = p.seq
	for _, t := range p.taken {
		if t.b.making = t.b.need; t.changed {
			t.b.making = p.seq
			t.b.dirty.Store(false)
		}
	}
	s.dirty = s.dirty[:0]
	return nil
}

// await makes the commit the current one when the devices are done, in a cell that does something else meanwhile, too.
func (s *Store) await(p *pending) {
	for wait := 250 * time.Microsecond; ; wait = min(2*wait, 4*time.Millisecond) {
		time.Sleep(wait)
		s.mu.Lock()
		over := s.pending != p || s.land(false)
		s.mu.Unlock()
		if over {
			return
		}
	}
}

// finishMade returns what became of the last commit that nobody waited for, if that is known, and does not wait either.
func (s *Store) finishMade() error {
	if s.pending != nil {
		s.land(false)
	}
	err := s.failed
	s.failed = nil
	return err
}

// finish is finishMade that waits.
func (s *Store) finish() error {
	if s.pending != nil {
		s.land(true)
	}
	return s.finishMade()
}

// land makes the pending commit the current one if the devices are done, or waits for them. It says whether it is over.
func (s *Store) land(wait bool) bool {
	p := s.pending
	if !wait && !p.made() {
		return false
	}
	s.pending, s.farCost = nil, 0
	err := p.wait()
	if err == nil {
		err = s.publish(p)
	}
	if err != nil {
		s.failed = err
		s.renounce(p)
	}
	for _, j := range p.jobs {
		s.farCost = max(s.farCost, j.queued.Took())
		j.queued.Drop()
	}
	return true
}

// made says whether no device has anything left to do, or one has failed.
func (p *pending) made() bool {
	for _, j := range p.jobs {
		if done, err := j.queued.Done(); err != nil {
			return true
		} else if !done {
			return false
		}
	}
	return true
}

// wait waits for the devices.
func (p *pending) wait() error {
	var faults []error
	for _, j := range p.jobs {
		if err := j.queued.Wait(); err != nil {
			faults = append(faults, fmt.Errorf("session: %s: up to step %d: %w; what was committed before stays", j.device, p.step, err))
		}
	}
	return errors.Join(faults...)
}

// publish makes the record of a commit whose copies are made the current one and the anchor.
func (s *Store) publish(p *pending) error {
	raw, err := p.record()
	if err != nil {
		return err
	}
	free, mem, err := s.room(int64(len(raw)))
	if err != nil {
		return err
	}
	copy(mem, raw)
	for _, t := range p.taken {
		t.b.setCopied(t.b.into, t.b.making)
	}
	s.flip().Store(flipWord(free, free, p.seq))
	s.mark, s.anchor = free, free
	s.repoint(mem)
	for _, t := range p.taken {
		if t.b.making = 0; t.changed && !t.b.dirty.Load() {
			t.b.setWork(p.seq) // nothing has changed it since
		}
	}
	if len(s.dirty) == 0 && !s.changed.Load() {
		s.changedMark().Store(0)
	}
	s.anchored()
	s.lastAnchor, s.lastMark = p.begun, time.Now()
	s.sweep()
	return nil
}

// record returns the record, whole.
func (p *pending) record() (raw []byte, err error) {
	at := 0
	for _, c := range p.cuts {
		raw = append(raw, p.raw[at:c.at]...)
		at = c.at
		var elements [][]byte
		for _, e := range c.elements {
			elements = append(elements, e.job.queued.Elements()[e.at])
		}
		begin := len(raw)
		if raw, err = c.state(append(raw, 0, 0, 0, 0), elements); err != nil {
			return nil, fmt.Errorf("session: %s: %w", c.name, err)
		}
		putLength(raw, begin)
	}
	raw = append(raw, p.raw[at:]...)
	seal(raw, p.seq, p.begun, p.step)
	return raw, nil
}

// renounce gives a commit up that can't be made: what it took as committed is as changed as before.
func (s *Store) renounce(p *pending) {
	for _, t := range p.taken {
		if t.b.making = 0; t.changed && !t.b.dirty.Swap(true) {
			s.dirty = append(s.dirty, t.b)
		}
	}
	s.touchLocked()
}
