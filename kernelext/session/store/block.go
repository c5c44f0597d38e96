package store

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"
)

// The words of a block, in memory that all processes share. Every one is written by a single store, so that a process that is killed
// leaves either value.

func (b *Block) word(k int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&b.ext.mem[8*(b.ext.words()*b.t.Index+k)]))
}

const (
	workWord = iota
	copyWord
)

func (b *Block) setWork(version uint64) {
	b.work = version
	b.word(workWord).Store(version)
}

func (b *Block) setCopied(k int, version uint64) {
	b.copied[k] = version
	b.word(copyWord + k).Store(version)
}

// copyOf returns which copy holds a version, -1 for none.
func (b *Block) copyOf(version uint64) int {
	if version != 0 {
		for k, v := range b.copied {
			if v == version {
				return k
			}
		}
	}
	return -1
}

// holds says whether any place has the elements of a version.
func (b *Block) holds(version uint64) bool { return b.work == version || b.copyOf(version) >= 0 }

// spare returns the copy to write next: not what the anchor needs, nor one that is being made, and rather not what the record needs.
func (b *Block) spare() int {
	best := -1
	for k, v := range b.copied[:b.ext.words()-1] {
		if b.making != 0 && b.into == k || v != 0 && v == b.anchor {
			continue
		}
		if best < 0 || v != b.need {
			best = k
		}
	}
	return best
}

// offset returns where in the file the copy begins.
func (b *Block) copyAt() int64 { return b.ext.Off + b.ext.Copies + b.t.At - b.ext.table() }

// Bytes returns the elements' memory, which the processes of all cells share; nil for memory of a device.
func (b *Block) Bytes() []byte {
	if b.IsFar() {
		return nil
	}
	return b.ext.mem[b.t.At : b.t.At+b.t.Size : roundUp(b.t.At+b.t.Size, 64)]
}

// Len returns the size in bytes.
func (b *Block) Len() int { return int(b.t.Size) }

// Free notes that the tensor which had the block has other memory now; the block stays what it is to later cells.
func (b *Block) Free() { b.freed.Store(true) }

// Freed says whether a tensor gave the block up.
func (b *Block) Freed() bool { return b.freed.Load() }

// BeforeChange makes sure that what the anchor needs of the block is in its copy, and notes that the block is being changed.
func (b *Block) BeforeChange() {
	if b.dirty.Load() {
		return
	}
	s, start := b.s, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.spent += time.Since(start) }()
	if b.dirty.Load() {
		return
	}
	if b.ext.Copies == 0 {
		panic(fmt.Sprintf("session: %s can't be changed", b.t.Name))
	}
	if s.pending != nil && (b.unsaved() || b.making == 0 && b.work == b.need && b.copyOf(b.need) < 0) {
		s.land(true) // what it needs of the block is here alone
	}
	s.touchLocked()
	if b.unsaved() {
		if err := b.save(); err != nil {
			panic(err) // the space is reserved: the file itself is broken, or the device
		}
	}
	b.setWork(0)
	b.dirty.Store(true)
	s.dirty = append(s.dirty, b)
}

// unsaved says whether the anchor's elements are in the working place alone.
func (b *Block) unsaved() bool {
	return b.work == b.anchor && b.copyOf(b.anchor) < 0 && b.anchor != 0 && b.ext.Copies != 0
}

// CopyAhead begins to make the copies that the anchor needs before its elements change, on a goroutine of its own: while the next step
// computes gradients, which only reads. A change of elements that are being copied waits for it.
func (s *Store) CopyAhead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.copying || s.closed || !s.hasLarge() {
		return
	}
	s.copying = true
	go func() {
		for s.copyOne() {
		}
	}()
}

// copyOne copies a tensor of an object that this process has; false if there is none to copy.
func (s *Store) copyOne() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		for _, o := range s.objects {
			for _, t := range o.Tensors {
				if b := t.block; o.source != nil && b != nil && b.ext.mem != nil && b.unsaved() {
					return b.save() == nil
				}
			}
		}
	}
	s.copying = false
	return false
}

// save copies the elements to their other place. It goes through the file, not through memory: the copies are never mapped, and pages
// that no process has touched are not faulted in one by one.
func (b *Block) save() error {
	if b.IsFar() {
		return b.s.saveFar(b.ext)
	}
	start := time.Now()
	b.setCopied(0, 0)
	if _, err := b.s.b.f.WriteAt(b.Bytes(), b.copyAt()); err != nil {
		return fmt.Errorf("session: copying %s: %w", b.t.Name, err)
	}
	b.setCopied(0, b.work)
	b.s.copyCost += time.Since(start)
	return nil
}

// attach maps an extent.
func (s *Store) attach(e *Extent) error {
	if e.mem != nil {
		return nil
	}
	n := e.Copies
	if n == 0 || e.Device != "" {
		n = e.Len
	}
	var err error
	e.mem, err = s.b.mapped(e.Off, n)
	return err
}

// readWords reads an extent's words from the file.
func (s *Store) readWords(e *Extent) ([]uint64, error) {
	raw := make([]byte, 8*e.words()*e.Versions)
	if _, err := s.b.f.ReadAt(raw, e.Off); err != nil {
		return nil, err
	}
	words := make([]uint64, e.words()*e.Versions)
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(raw[8*i:])
	}
	return words, nil
}

// restore brings the elements back from the copy.
func (b *Block) restore() error {
	if b.IsFar() {
		return nil // when it is attached: this process may have no use for the device
	}
	if err := b.s.attach(b.ext); err != nil {
		return err
	}
	b.setWork(0)
	if _, err := b.s.b.f.ReadAt(b.Bytes(), b.copyAt()); err != nil {
		return err
	}
	b.setWork(b.copied[0])
	return nil
}

// Fixed says whether the elements never change.
func (b *Block) Fixed() bool { return b.ext.Copies == 0 }

// Taken notes that another tensor has the block that one gave up.
func (b *Block) Taken() { b.freed.Store(false) }
