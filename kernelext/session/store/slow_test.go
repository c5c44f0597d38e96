package store

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/halftone-ml/halftone/amp"
)

// slow is a device that does nothing by itself: what is queued runs when the test lets it, or as far as a killed process's work got.
type slow struct {
	memory map[uint64][]byte // by the name that the keeper has for it
	fresh  *slowShared       // allocated, and not handed over yet
	asked  uint64            // what the keeper was asked for last
	queue  []func(memory map[uint64][]byte, part float64)
	done   int   // functions of the queue that ran
	waits  int   // how often somebody waited
	fault  error // of what is queued now
}

type slowShared struct {
	d      *slow
	handle uint64
	n      int64
}

func (d *slow) Name() string                                     { return "slow:0" }
func (d *slow) Alloc(int) (amp.Buffer, error)                    { return nil, errors.ErrUnsupported }
func (d *slow) Run(*amp.Call) error                              { return errors.ErrUnsupported }
func (d *slow) CopyIn(amp.Buffer, int, []byte) error             { return errors.ErrUnsupported }
func (d *slow) CopyOut([]byte, amp.Buffer, int) error            { return errors.ErrUnsupported }
func (d *slow) Copy(amp.Buffer, int, amp.Buffer, int, int) error { return errors.ErrUnsupported }
func (d *slow) CanShare() bool                                   { return true }
func (d *slow) Sync() error                                      { d.waits++; d.run(len(d.queue)); return nil }
func (d *slow) OpenShared(_ []*os.File, n int64) (amp.Shared, error) {
	return &slowShared{d, d.asked, n}, nil
}
func (d *slow) Share(n int64) (amp.Shared, error) {
	d.fresh = &slowShared{d: d, n: n}
	return d.fresh, nil
}

func (d *slow) run(n int) {
	for ; n > 0 && d.done < len(d.queue); n-- {
		d.queue[d.done](d.memory, 1)
		d.done++
	}
}

// The keeper's part.
func (d *slow) Put(handle uint64, _ []*os.File) error {
	d.fresh.handle = handle
	d.memory[handle] = make([]byte, d.fresh.n)
	return nil
}
func (d *slow) Get(handle uint64) ([]*os.File, error) { d.asked = handle; return nil, nil }
func (d *slow) Keep([]uint64) error                   { return nil }

func (m *slowShared) Len() int64                                       { return m.n }
func (m *slowShared) Files() ([]*os.File, error)                       { return nil, nil }
func (m *slowShared) Part(at, n int64, owner amp.PartOwner) amp.Buffer { return nil }
func (m *slowShared) Close() error                                     { return nil }
func (m *slowShared) mem() []byte                                      { return m.d.memory[m.handle] }
func (m *slowShared) Write(at int64, src []byte) error                 { copy(m.mem()[at:], src); return nil }
func (m *slowShared) Read(dst []byte, at int64) error                  { copy(dst, m.mem()[at:]); return nil }
func (m *slowShared) Copy(moves []amp.Move) error {
	for _, c := range moves {
		copy(m.mem()[c.To:c.To+c.Bytes], m.mem()[c.From:])
	}
	return nil
}

// A slowSnapshot is made once the queue has run up to it.
type slowSnapshot struct {
	d     *slow
	upTo  int
	fault error
}

func (d *slow) Snapshot(copies []amp.SharedMoves, _ []*amp.Tensor) (amp.Snapshot, error) {
	for _, c := range copies {
		handle := c.Of.(*slowShared).handle
		for _, m := range c.Moves {
			d.queue = append(d.queue, func(memory map[uint64][]byte, part float64) {
				n := int64(part * float64(m.Bytes))
				copy(memory[handle][m.To:m.To+n], memory[handle][m.From:])
			})
		}
	}
	return &slowSnapshot{d, len(d.queue), d.fault}, nil
}

func (s *slowSnapshot) Done() (bool, error) {
	if s.d.done < s.upTo {
		return false, nil
	}
	return true, s.fault
}
func (s *slowSnapshot) Wait() error {
	if s.d.done < s.upTo {
		s.d.waits++
		s.d.run(s.upTo - s.d.done)
	}
	return s.fault
}
func (s *slowSnapshot) Elements() [][]byte  { return nil }
func (s *slowSnapshot) Took() time.Duration { return 0 }
func (s *slowSnapshot) Drop()               {}

// current returns the step of the record that others see.
func (r *slowRun) current() int64 {
	objects, err := Peek(r.s.b.path)
	if err != nil {
		r.t.Fatal(err)
	}
	var step int64
	fmt.Sscan(string(objects[0].State()), &step)
	return step
}
