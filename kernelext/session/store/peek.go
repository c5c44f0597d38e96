package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// Peek lists what a session keeps as of its current record, also while another program has it. The numbers and small tensors are
// copies; large tensors can't be read. A file that no cell has used yet is an empty session.
func Peek(path string) ([]*Object, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	defer f.Close()
	err = errors.New("session: it changes too fast to be read; try again")
	for range 100 {
		var objects []*Object
		var again bool
		if objects, again, err = peek(f); !again {
			return objects, err
		}
	}
	return nil, err
}

// peek reads the current record; again is set where it was replaced meanwhile.
func peek(f *os.File) (objects []*Object, again bool, err error) {
	head := make([]byte, slotsAt+16*slotCount)
	if info, err := f.Stat(); err != nil || info.Size() < pageSize {
		return nil, false, err
	}
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, false, err
	}
	word := binary.NativeEndian.Uint64(head[flipAt:])
	mark, _ := readFlip(word)
	if mark < 0 {
		return nil, false, nil
	}
	if err := checkHead(head); err != nil {
		return nil, false, err
	}
	raw := make([]byte, binary.NativeEndian.Uint64(head[slotsAt+16*mark+8:]))
	_, err = f.ReadAt(raw, int64(binary.NativeEndian.Uint64(head[slotsAt+16*mark:])))
	if err == nil {
		var r *record
		if r, err = parseRecord(raw); err == nil {
			return r.objects, false, nil
		}
	}
	now := make([]byte, 8)
	if _, e := f.ReadAt(now, flipAt); e != nil {
		return nil, false, e
	}
	return nil, binary.NativeEndian.Uint64(now) != word, err
}

// Handles returns the names of all memory on devices that the next process may need: of the current record and of the anchor.
func Handles(path string) (map[uint64]bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for range 100 {
		head := make([]byte, slotsAt+16*slotCount)
		need := map[uint64]bool{}
		if info, err := f.Stat(); err != nil || info.Size() < pageSize {
			return need, err
		}
		if _, err := f.ReadAt(head, 0); err != nil {
			return nil, err
		}
		word := binary.NativeEndian.Uint64(head[flipAt:])
		mark, anchor := readFlip(word)
		if mark < 0 {
			return need, nil
		}
		err = errors.Join(handlesIn(f, head, mark, need), handlesIn(f, head, anchor, need))
		now := make([]byte, 8)
		if _, e := f.ReadAt(now, flipAt); e != nil {
			return nil, e
		}
		if err == nil && binary.NativeEndian.Uint64(now) == word {
			return need, nil
		}
	}
	return nil, errors.Join(errors.New("session: it changes too fast to be read"), err)
}

func handlesIn(f *os.File, head []byte, slot int, need map[uint64]bool) error {
	if slot < 0 {
		return nil
	}
	raw := make([]byte, binary.NativeEndian.Uint64(head[slotsAt+16*slot+8:]))
	if _, err := f.ReadAt(raw, int64(binary.NativeEndian.Uint64(head[slotsAt+16*slot:]))); err != nil {
		return err
	}
	r, err := parseRecord(raw)
	if err != nil {
		return err
	}
	for _, o := range r.objects {
		for _, e := range o.Extents {
			if e.Device != "" {
				need[e.Handle] = true
			}
		}
	}
	return nil
}
