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
	return (*atomic.Uint64)(unsafe.Pointer(&b.ext.mem[16*b.t.Index+8*k]))
}

const (
	workWord = iota
	copyWord
)

func (b *Block) setWork(version uint64) {
	b.work = version
	b.word(workWord).Store(version)
}

func (b *Block) setCopied(version uint64) {
	b.copied = version
	b.word(copyWord).Store(version)
}

// offset returns where in the file the copy begins.
func (b *Block) copyAt() int64 { return b.ext.Off + b.ext.Copies + b.t.At - b.ext.table() }

// Bytes returns the elements' memory, which the processes of all cells share.
func (b *Block) Bytes() []byte {
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
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.dirty.Load() {
		return
	}
	if b.ext.Copies == 0 {
		panic(fmt.Sprintf("session: %s can't be changed", b.t.Name))
	}
	s.touchLocked()
	if b.work == b.anchor && b.copied != b.anchor && b.anchor != 0 {
		start := time.Now()
		if err := b.save(); err != nil {
			panic(err) // the space is reserved: the file itself is broken
		}
		d := time.Since(start)
		s.copyCost += d
		s.spent += d
	}
	b.setWork(0)
	b.dirty.Store(true)
	s.dirty = append(s.dirty, b)
}

// save copies the elements to their other place. It goes through the file, not through memory: the copies are never mapped, and pages
// that no process has touched are not faulted in one by one.
func (b *Block) save() error {
	b.setCopied(0)
	if _, err := b.s.b.f.WriteAt(b.Bytes(), b.copyAt()); err != nil {
		return fmt.Errorf("session: copying %s: %w", b.t.Name, err)
	}
	b.setCopied(b.work)
	return nil
}

// attach maps an extent.
func (s *Store) attach(e *Extent) error {
	if e.mem != nil {
		return nil
	}
	n := e.Copies
	if n == 0 {
		n = e.Len
	}
	var err error
	e.mem, err = s.b.mapped(e.Off, n)
	return err
}

// readWords reads an extent's words from the file.
func (s *Store) readWords(e *Extent) ([]uint64, error) {
	raw := make([]byte, 16*e.Versions)
	if _, err := s.b.f.ReadAt(raw, e.Off); err != nil {
		return nil, err
	}
	words := make([]uint64, 2*e.Versions)
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(raw[8*i:])
	}
	return words, nil
}

// restore brings the elements back from the copy.
func (b *Block) restore() error {
	if err := b.s.attach(b.ext); err != nil {
		return err
	}
	b.setWork(0)
	if _, err := b.s.b.f.ReadAt(b.Bytes(), b.copyAt()); err != nil {
		return err
	}
	b.setWork(b.copied)
	return nil
}

// Fixed says whether the elements never change.
func (b *Block) Fixed() bool { return b.ext.Copies == 0 }

// Taken notes that another tensor has the block that one gave up.
func (b *Block) Taken() { b.freed.Store(false) }
