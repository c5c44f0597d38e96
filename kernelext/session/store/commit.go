package store

import (
	"encoding/binary"
	"slices"
	"time"
)

// touchLocked notes that something was changed since the last commit: should the process end now, the next one can say so.
func (s *Store) touchLocked() {
	if !s.changed.Swap(true) {
		s.changedMark().Store(1)
	}
}

// Touch is touchLocked for what is no large tensor.
func (s *Store) Touch() {
	if s.changed.Load() {
		return
	}
	s.mu.Lock()
	s.touchLocked()
	s.mu.Unlock()
}

// Due says whether a commit is worth its time at the end of a step: all of them together take a hundredth of it at most.
func (s *Store) Due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.structure || time.Since(s.lastMark) >= share*s.markCost
}

// EndStep counts a training step and commits it, if commit is set: what Due said. Else a later step, or Commit, does it.
func (s *Store) EndStep(commit bool) error {
	start := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.spent += time.Since(start) }()
	s.step++
	if commit {
		return s.commit(true)
	}
	s.touchLocked()
	return s.finishMade()
}

// Charge says what a commit has cost together with what was done for it.
func (s *Store) Charge(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent += max(d-s.markCost, 0)
	s.markCost = max(d, s.markCost)
}

// Cost returns the time that steps of this process have waited for commits and copies, and the time since it opened the session.
func (s *Store) Cost() (spent, while time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened.IsZero() {
		return 0, 0
	}
	return s.spent, time.Since(s.opened)
}

// Commit makes all objects as they are now the current generation.
func (s *Store) Commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commit(true)
}

// commit writes a record and makes it the current one. Objects are what their sources say if live is set; otherwise they stay as they
// were committed, but for new ones.
//
// The record becomes the anchor as well, which costs a copy of what changes next, when the last one is old enough. A process that is
// killed while large tensors are being changed goes on from the anchor.
func (s *Store) commit(live bool) (err error) {
	if err := s.finish(); err != nil {
		return err
	}
	if err := s.arrive(); err != nil {
		return err
	}
	start := time.Now()
	if s.buf, err = s.compose(s.buf, live, s.step, nil); err != nil {
		return err
	}
	free, mem, err := s.room(int64(len(s.buf)))
	if err != nil {
		return err
	}
	copy(mem, s.buf)
	s.seq++
	s.settle(live)
	clean := len(s.dirty) == 0
	promote := clean && (s.structure || !s.hasLarge() || start.Sub(s.lastAnchor) >= max(anchorEvery, copyShare*s.copyCost)) || s.anchor < 0
	anchor := s.anchor
	if promote {
		anchor = free
	}
	s.flip().Store(flipWord(free, anchor, s.seq))
	s.mark, s.anchor = free, anchor
	s.repoint(mem)
	if clean && s.changed.Swap(false) {
		s.changedMark().Store(0)
	}
	if promote {
		s.anchored()
		s.lastAnchor = start
		s.sweep()
	}
	s.lastMark = time.Now()
	s.markCost = s.lastMark.Sub(start)
	return nil
}

// room returns a slot that is not in use, and its memory.
func (s *Store) room(size int64) (free int, mem []byte, err error) {
	for free == s.mark || free == s.anchor {
		free++
	}
	if err := s.fit(free, size); err != nil {
		return 0, nil, err
	}
	mem, err = s.slot(free)
	return free, mem, err
}

// settle gives the elements that were changed, or are new, the version of the record that is about to become current.
func (s *Store) settle(live bool) {
	for _, b := range blocksOf(s.objects) {
		if b.need == 0 {
			b.setWork(s.seq)
			b.dirty.Store(false)
			s.dirty = slices.DeleteFunc(s.dirty, func(d *Block) bool { return d == b })
		}
	}
	if !live {
		return
	}
	for i, b := range s.dirty {
		b.setWork(s.seq)
		b.dirty.Store(false)
		s.dirty[i] = nil
	}
	s.dirty = s.dirty[:0]
}

// anchored notes what the anchor, which is the current record, needs.
func (s *Store) anchored() {
	for _, b := range blocksOf(s.objects) {
		b.anchor = b.need
	}
	s.anchorExtents = s.anchorExtents[:0]
	for _, o := range s.objects {
		s.anchorExtents = append(s.anchorExtents, o.Extents...)
	}
	s.structure = false
	s.copyCost = 0
}

func (s *Store) hasLarge() bool {
	for _, o := range s.objects {
		if len(o.Extents) > 0 {
			return true
		}
	}
	return false
}

// fit makes a slot that is not in use large enough.
func (s *Store) fit(i int, size int64) error {
	sl := &s.slots[i]
	if sl.size >= size {
		return nil
	}
	want := roundUp(max(size+size/4, firstSlot), pageSize)
	off, err := s.place(want)
	if err != nil {
		return err
	}
	// The entry is read by the next process only if the flip word names it.
	binary.NativeEndian.PutUint64(s.head[slotsAt+16*i+8:], 0)
	binary.NativeEndian.PutUint64(s.head[slotsAt+16*i:], uint64(off))
	binary.NativeEndian.PutUint64(s.head[slotsAt+16*i+8:], uint64(want))
	old := *sl
	sl.off, sl.size, sl.mem = off, want, nil
	if old.size > 0 {
		if old.mem != nil {
			unmap(old.mem)
		}
		s.b.release(old.off, old.size)
	}
	return nil
}

// Describe makes a change of an object's Structure part of the next commit.
func (s *Store) Describe(o *Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending != nil {
		s.land(true)
	}
	if dir, err := directory(s.objects); err == nil {
		s.dir = dir
	}
}
