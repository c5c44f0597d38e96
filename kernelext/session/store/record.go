package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"
)

// A record is one committed generation: the directory of all objects, their numbers and small tensors, and for each large tensor the
// version of its elements that belongs to it.
//
//	crc32c uint32 of what follows · flags uint32 · length uint64 · sequence uint64 · time int64 · step int64
//	length uint32, directory (JSON) · per object: length uint32, numbers · per tensor: elements, or version uint64
type record struct {
	seq     uint64
	at      time.Time
	step    int64
	objects []*Object
}

const recordHead = 40

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrCorrupt is wrapped where a session's file does not hold what one holds.
var ErrCorrupt = errors.New("the session's memory is damaged")

// parseRecord reads a record; numbers and small tensors stay in raw.
func parseRecord(raw []byte) (*record, error) {
	if len(raw) < recordHead {
		return nil, fmt.Errorf("session: %w: no record", ErrCorrupt)
	}
	n := binary.LittleEndian.Uint64(raw[8:])
	if n < recordHead || n > uint64(len(raw)) || crc32.Checksum(raw[4:n], castagnoli) != binary.LittleEndian.Uint32(raw) {
		return nil, fmt.Errorf("session: %w: a record's checksum is wrong", ErrCorrupt)
	}
	r := &record{
		seq: binary.LittleEndian.Uint64(raw[16:]), at: time.Unix(0, int64(binary.LittleEndian.Uint64(raw[24:]))),
		step: int64(binary.LittleEndian.Uint64(raw[32:])),
	}
	p := parser{raw[recordHead:n]}
	if err := json.Unmarshal(p.counted(), &r.objects); err != nil {
		return nil, fmt.Errorf("session: %w: %w", ErrCorrupt, err)
	}
	for _, o := range r.objects {
		o.state = p.counted()
		for _, t := range o.Tensors {
			if fault := t.fault(); fault != "" || t.Extent >= len(o.Extents) {
				return nil, fmt.Errorf("session: %w: %s", ErrCorrupt, fault)
			}
			if t.Small() {
				t.small = p.take(int(t.Size))
				continue
			}
			t.block = &Block{ext: o.Extents[t.Extent], t: t, need: p.version()}
		}
	}
	return r, nil
}

// A parser takes a record apart; the checksum vouches for the lengths.
type parser struct{ b []byte }

func (p *parser) take(n int) []byte {
	out := p.b[:n:n]
	p.b = p.b[n:]
	return out
}

func (p *parser) counted() []byte { return p.take(int(binary.LittleEndian.Uint32(p.take(4)))) }

func (p *parser) version() uint64 { return binary.LittleEndian.Uint64(p.take(8)) }

// compose writes the next record into buf. Objects with a source are asked for what they are now, if live says so; the rest is as
// it was committed. Numbers that are not there yet are left to p, where there is one.
func (s *Store) compose(buf []byte, live bool, step int64, p *pending) ([]byte, error) {
	buf = append(buf[:0], make([]byte, recordHead)...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(s.dir)))
	buf = append(buf, s.dir...)
	for _, o := range s.objects {
		src := o.source
		if !live && o.state != nil && !slices.Contains(s.along, o) {
			src = nil
		}
		var err error
		if at := len(buf); p == nil || !p.later(o, src, at) {
			buf = append(buf, 0, 0, 0, 0)
			if src == nil {
				buf = append(buf, o.state...)
			} else if buf, err = src.AppendState(buf); err != nil {
				return buf, fmt.Errorf("session: %s: %w", o.Name, err)
			}
			putLength(buf, at)
		}
		for i, t := range o.Tensors {
			if !t.Small() {
				buf = binary.LittleEndian.AppendUint64(buf, t.block.next(s.seq+1, live))
				continue
			}
			at := len(buf)
			if src == nil && t.small != nil {
				buf = append(buf, t.small...)
			} else if buf, err = o.source.AppendSmall(buf, i); err != nil {
				return buf, fmt.Errorf("session: %s: %w", o.Name, err)
			}
			if int64(len(buf)-at) != t.Size {
				return buf, fmt.Errorf("session: %s: %s has %d bytes, it was kept with %d", o.Name, t.Name, len(buf)-at, t.Size)
			}
		}
	}
	if p == nil {
		seal(buf, s.seq+1, time.Now(), step)
	}
	return buf, nil
}

// putLength writes how much was appended since the length at a place was left free.
func putLength(buf []byte, at int) { binary.LittleEndian.PutUint32(buf[at:], uint32(len(buf)-at-4)) }

// seal writes a record's head.
func seal(buf []byte, seq uint64, at time.Time, step int64) {
	binary.LittleEndian.PutUint64(buf[8:], uint64(len(buf)))
	binary.LittleEndian.PutUint64(buf[16:], seq)
	binary.LittleEndian.PutUint64(buf[24:], uint64(at.UnixNano()))
	binary.LittleEndian.PutUint64(buf[32:], uint64(step))
	binary.LittleEndian.PutUint32(buf, crc32.Checksum(buf[4:], castagnoli))
}

// repoint makes what was committed of the objects that of a record they were composed into.
func (s *Store) repoint(raw []byte) {
	p := parser{raw[recordHead:]}
	p.counted()
	for _, o := range s.objects {
		o.state = p.counted()
		for _, t := range o.Tensors {
			if t.Small() {
				t.small = p.take(int(t.Size))
			} else {
				t.block.need = p.version()
			}
		}
	}
}

// next is the version that a record of that sequence number asks for.
func (b *Block) next(seq uint64, live bool) uint64 {
	if live && b.dirty.Load() || b.need == 0 {
		return seq
	}
	return b.need
}
