package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// The head of the file: one page.
//
//	0 magic · 8 byte order · 16 page size · 24 flip word · 32 changed · 40 process · 64 three slots of offset and capacity
const (
	magic     = "htsess02"
	flipAt    = 24
	changedAt = 32
	slotsAt   = 64
	slotCount = 3
	firstSlot = 64 << 10
	byteOrder = 0x0102030405060708
)

// share is the part of the time that commits may take: one in share.
const share = 100

// copyShare is the part of the time that copies may take: one in copyShare.
const copyShare = 200

// anchorEvery is the least time between two anchors: far below what a reader notices as lost, far above what making one takes where the
// tensors are small. It is a variable for tests.
var anchorEvery = 25 * time.Millisecond

// A Store is an open session. One process at a time has it.
type Store struct {
	mu    sync.Mutex
	b     *backing
	head  []byte
	slots [slotCount]struct {
		off, size int64
		mem       []byte
	}

	mark, anchor  int // slots
	seq           uint64
	step          int64
	objects       []*Object
	dir           []byte
	extents       []*Extent // every one reserved
	anchorExtents []*Extent
	pinned        []*Extent // of objects that were removed while this process has them mapped
	structure     bool      // objects came or went since the anchor
	dirty         []*Block
	changed       atomic.Bool
	copying       bool // a goroutine copies ahead
	closed        bool
	buf           []byte
	lost          *Loss
	along         []*Object // of which Add commits the numbers as they are
	keeper        Keeper    // of memory of devices; nil where nobody keeps any
	usesFar       bool      // there was some
	devices       map[string]amp.Device

	pending *pending // a commit that devices are working at
	failed  error    // of the last one, not told yet

	lastMark, lastAnchor time.Time
	markCost, copyCost   time.Duration
	farCost              time.Duration // what copies have taken that devices made of themselves
	spent                time.Duration
	opened               time.Time
}

// A Loss says that the process before ended with changes that it had not committed.
type Loss struct {
	Step int64     // the one that the session is as of
	At   time.Time // when that was committed
}

// Open opens the session in a file, an empty one too, and brings it to the newest generation that is complete. It waits a few seconds
// for a program that has the session, and gives an error that wraps ErrBusy then.
func Open(path string) (*Store, error) { return open(path, false, lockPatience) }

// OpenSoon is Open that waits for another program no longer than patience.
func OpenSoon(path string, patience time.Duration) (*Store, error) {
	return open(path, false, patience)
}

// Create is Open that makes the file if there is none.
func Create(path string) (*Store, error) { return open(path, true, lockPatience) }

func open(path string, create bool, patience time.Duration) (*Store, error) {
	b, err := openBacking(path, create, patience)
	if err != nil {
		return nil, err
	}
	s := &Store{b: b, opened: time.Now()}
	if err := s.load(); err != nil {
		_ = b.close()
		return nil, err
	}
	return s, nil
}

// Close gives the session to the next process, once a commit that devices are working at is made. All memory of it that is in use here
// must not be touched any more; a program that ends need not call it.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	failed := s.finish()
	s.closed = true
	for _, e := range append(s.extents, s.pinned...) {
		e.detach()
	}
	for i := range s.slots {
		if s.slots[i].mem != nil {
			unmap(s.slots[i].mem)
			s.slots[i].mem = nil
		}
	}
	unmap(s.head)
	return errors.Join(failed, s.b.close())
}

func (s *Store) flip() *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&s.head[flipAt])) }
func (s *Store) changedMark() *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.head[changedAt]))
}

// The flip word: the slot of the current record, that of the anchor, and a count. It is 0 in a session that was never committed.
func flipWord(mark, anchor int, seq uint64) uint64 {
	return uint64(mark+1) | uint64(anchor+1)<<4 | seq<<8
}

func readFlip(w uint64) (mark, anchor int) { return int(w&15) - 1, int(w>>4&15) - 1 }

// load maps the head, or makes it, and finds the generation to go on from.
func (s *Store) load() error {
	info, err := s.b.f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < pageSize {
		if err := s.b.reserve(0, pageSize); err != nil {
			return err
		}
	}
	if s.head, err = s.b.mapped(0, pageSize); err != nil {
		return err
	}
	if unbegun(s.head) {
		s.begin()
	}
	if err := checkHead(s.head); err != nil {
		return err
	}
	for i := range s.slots {
		s.slots[i].off = int64(binary.NativeEndian.Uint64(s.head[slotsAt+16*i:]))
		s.slots[i].size = int64(binary.NativeEndian.Uint64(s.head[slotsAt+16*i+8:]))
	}
	s.mark, s.anchor = readFlip(s.flip().Load())
	if s.mark < 0 {
		s.dir = []byte("[]")
		s.structure = true
		return nil
	}
	return s.recover()
}

// unbegun says whether nobody has begun the session, or a process was killed while it did: the magic is what begin writes last, and
// nothing else than what it writes is there.
func unbegun(head []byte) bool {
	for at := 0; at < len(head); at += 8 {
		w := binary.NativeEndian.Uint64(head[at:])
		if w != 0 && !(at == 8 && w == byteOrder) && !(at == 16 && w == uint64(pageSize)) {
			return false
		}
	}
	return true
}

// begin makes the head of an empty session. A process may be killed after any of the stores.
func (s *Store) begin() {
	word := func(at int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&s.head[at])) }
	word(8).Store(byteOrder)
	word(16).Store(uint64(pageSize))
	word(0).Store(binary.NativeEndian.Uint64([]byte(magic))) // makes the rest count
}

func checkHead(head []byte) error {
	switch {
	case string(head[:8]) != magic:
		return fmt.Errorf("session: %w: the file is no session, or one of another version", ErrCorrupt)
	case binary.NativeEndian.Uint64(head[8:]) != byteOrder || binary.NativeEndian.Uint64(head[16:]) != uint64(pageSize):
		return fmt.Errorf("session: %w: the file is of another machine", ErrCorrupt)
	}
	return nil
}

// slot returns the memory of a slot, nil for none.
func (s *Store) slot(i int) ([]byte, error) {
	sl := &s.slots[i]
	if sl.mem == nil && sl.size > 0 {
		var err error
		if sl.mem, err = s.b.mapped(sl.off, sl.size); err != nil {
			return nil, err
		}
	}
	return sl.mem, nil
}

// recover goes on from the current record if what belongs to it is still in either place of every large tensor, and otherwise from the
// anchor, of which that is certain. What neither needs is given back to the system.
func (s *Store) recover() error {
	changed := s.changedMark().Load() != 0
	r, err := s.candidate(s.mark)
	if err != nil || r.lacks() != nil {
		if r, err = s.candidate(s.anchor); err != nil {
			return fmt.Errorf("%w; drop the session with a restart of the kernel", err)
		}
		if b := r.lacks(); b != nil {
			return fmt.Errorf("session: %w: %s is neither in place nor copied", ErrCorrupt, b.t.Name)
		}
		s.mark = s.anchor
	}
	for _, b := range r.blocks() {
		if b.work != b.need {
			if err := b.restore(); err != nil {
				return err
			}
		}
	}
	s.seq, s.step, s.objects = r.newest(), r.step, r.objects
	if changed {
		s.lost = &Loss{r.step, r.at}
	}
	if s.dir, err = directory(s.objects); err != nil {
		return err
	}
	s.anchor = s.mark
	s.flip().Store(flipWord(s.mark, s.anchor, s.seq))
	s.changedMark().Store(0)
	for _, o := range s.objects {
		for _, e := range o.Extents {
			s.usesFar = s.usesFar || e.Device != ""
		}
		s.extents = append(s.extents, o.Extents...)
	}
	s.anchored()
	s.sweep()
	return nil
}

// candidate reads the record in a slot and what the places of its tensors hold.
func (s *Store) candidate(slot int) (*record, error) {
	if slot < 0 || slot >= slotCount {
		return nil, fmt.Errorf("session: %w: slot %d", ErrCorrupt, slot)
	}
	raw, err := s.slot(slot)
	if err != nil {
		return nil, err
	}
	r, err := parseRecord(raw)
	if err != nil {
		return nil, err
	}
	words := map[*Extent][]uint64{}
	for _, b := range r.blocks() {
		b.s = s
		if words[b.ext] == nil {
			if words[b.ext], err = s.readWords(b.ext); err != nil {
				return nil, err
			}
		}
		own := words[b.ext][b.ext.words()*b.t.Index:][:b.ext.words()]
		b.work = own[workWord]
		copy(b.copied[:], own[copyWord:])
	}
	return r, nil
}

// newest returns the newest version that there ever was: a process that was killed before it had made a commit the current one may have
// left elements of a version whose number no other may get.
func (r *record) newest() uint64 {
	seq := r.seq
	for _, b := range r.blocks() {
		seq = max(seq, b.work, b.copied[0], b.copied[1])
	}
	return seq
}

// lacks returns a large tensor whose elements are in neither place, nil if there is none.
func (r *record) lacks() *Block {
	for _, b := range r.blocks() {
		if !b.holds(b.need) {
			return b
		}
	}
	return nil
}

// blocks lists the large tensors of a record.
func (r *record) blocks() []*Block { return blocksOf(r.objects) }

func blocksOf(objects []*Object) []*Block {
	var out []*Block
	for _, o := range objects {
		for _, t := range o.Tensors {
			if t.block != nil {
				out = append(out, t.block)
			}
		}
	}
	return out
}

// Lost returns what the process before this one lost, nil if it had committed all it did.
func (s *Store) Lost() *Loss { return s.lost }

// Step returns the training steps that were committed.
func (s *Store) Step() int64 { s.mu.Lock(); defer s.mu.Unlock(); return s.step }

// Find returns the object of a name, nil for none.
func (s *Store) Find(name string) *Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(name)
}

func (s *Store) find(name string) *Object {
	for _, o := range s.objects {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// Objects lists what the session keeps.
func (s *Store) Objects() []*Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Object(nil), s.objects...)
}

// InMemory says whether the session lies in memory, not on a disk.
func (s *Store) InMemory() bool { return s.b.memory }
