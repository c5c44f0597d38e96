package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
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

// A slowRun is a process that trains on the slow device. What it was after each step is known.
type slowRun struct {
	t      *testing.T
	s      *Store
	d      *slow
	th     *thing
	step   int
	now    []byte   // what each tensor is, once the queue has run
	states [][]byte // now at the end of each step
	checks int
	early  int
	flip   uint64 // the word of the head when kill looked last and nothing but commits has come since; else 0
}

const slowSize = 96

func newSlowRun(t *testing.T, tensors int) *slowRun {
	was := anchorEvery
	t.Cleanup(func() { anchorEvery = was })
	anchorEvery = 0
	o, err := NewOwner(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	r := &slowRun{t: t, d: &slow{memory: map[uint64][]byte{}}, th: &thing{state: "0", small: []byte{}}, now: make([]byte, tensors)}
	if r.s, err = Open(o.Path()); err != nil {
		t.Fatal(err)
	}
	r.s.SetKeeper(r.d)
	r.s.devices = map[string]amp.Device{r.d.Name(): r.d}
	var specs []*Tensor
	for i := range tensors {
		specs = append(specs, &Tensor{Name: fmt.Sprint(i), DType: "bool", Shape: []int{slowSize}, Size: slowSize, Device: r.d.Name()})
	}
	err = r.s.Add(&Object{Name: "net", Kind: KindModel}, specs, r.th, false, func() error {
		for _, x := range specs {
			_ = x.Block().Write(make([]byte, slowSize))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range specs {
		r.th.large = append(r.th.large, x.Block())
	}
	r.states = append(r.states, bytes.Clone(r.now))
	return r
}

// change queues what makes every element of a tensor v.
func (r *slowRun) change(i int, v byte) {
	b := r.th.large[i]
	b.BeforeChange()
	r.flip = 0
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	handle, at := b.ext.Handle, b.t.At
	r.d.queue = append(r.d.queue, func(memory map[uint64][]byte, part float64) {
		n := int(part * slowSize)
		copy(memory[handle][at:], bytes.Repeat([]byte{v}, n))
	})
	r.now[i] = v
}

// work lets the device do some of its work.
func (r *slowRun) work(n int) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.d.run(n)
}

// end ends a step.
func (r *slowRun) end(later bool) {
	r.flip = 0
	r.step++
	r.th.state = fmt.Sprint(r.step)
	r.states = append(r.states, bytes.Clone(r.now))
	err := error(nil)
	if later {
		err = r.s.EndStepLater()
	} else {
		err = r.s.EndStep(false)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// kill looks at what the next process finds if this one is killed now and the device still does any part of what is queued.
func (r *slowRun) kill() {
	r.t.Helper()
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	info, err := r.s.b.f.Stat()
	if err != nil {
		r.t.Fatal(err)
	}
	file := make([]byte, info.Size())
	if _, err := r.s.b.f.ReadAt(file, 0); err != nil {
		r.t.Fatal(err)
	}
	anchor, err := parseRecord(r.s.slots[r.s.anchor].mem)
	if err != nil {
		r.t.Fatal(err)
	}
	now := binary.NativeEndian.Uint64(file[flipAt:])
	if r.flip != 0 && now>>8 == r.flip>>8+1 {
		early := bytes.Clone(file) // all of the last commit is written but this word
		binary.NativeEndian.PutUint64(early[flipAt:], r.flip)
		r.found(filepath.Join(r.t.TempDir(), "early"), early, r.d.memory, 0)
		r.early++
	}
	r.flip = now
	memory := map[uint64][]byte{}
	for handle, mem := range r.d.memory {
		memory[handle] = bytes.Clone(mem)
	}
	path := filepath.Join(r.t.TempDir(), "killed")
	for k := r.d.done; ; k++ {
		r.found(path, file, memory, anchor.step)
		if k == len(r.d.queue) {
			return
		}
		half := maps.Clone(memory)
		for handle, mem := range half {
			half[handle] = bytes.Clone(mem)
		}
		r.d.queue[k](half, 0.5)
		r.found(path, file, half, anchor.step)
		r.d.queue[k](memory, 1)
	}
}

// found checks that the next process finds a step, whole, and none before the anchor.
func (r *slowRun) found(path string, file []byte, memory map[uint64][]byte, least int64) {
	r.t.Helper()
	r.checks++
	if err := os.WriteFile(path, file, 0o600); err != nil {
		r.t.Fatal(err)
	}
	next, err := Open(path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = next.Close() }()
	d := &slow{memory: map[uint64][]byte{}}
	for handle, mem := range memory {
		d.memory[handle] = bytes.Clone(mem)
	}
	next.SetKeeper(d)
	next.devices = map[string]amp.Device{d.Name(): d}
	o := next.Find("net")
	if err := next.Attach(o, nil); err != nil {
		r.t.Fatal(err)
	}
	var step int
	if _, err := fmt.Sscan(string(o.State()), &step); err != nil || int64(step) < least || step >= len(r.states) {
		r.t.Fatalf("the next process finds step %q, the anchor is step %d: %v", o.State(), least, err)
	}
	r.holds(o, r.states[step])
	if r.checks%4 != 0 {
		return
	}
	// The next process commits a change, and is killed in the next one.
	second := bytes.Repeat([]byte{201}, len(r.now))
	for _, v := range []byte{201, 202} {
		for _, x := range o.Tensors {
			x.Block().BeforeChange()
			_ = x.Block().Write(bytes.Repeat([]byte{v}, slowSize))
		}
		if v == 201 {
			if err := next.Commit(); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	_ = next.Close()
	if next, err = Open(path); err != nil {
		r.t.Fatal(err)
	}
	next.SetKeeper(d)
	next.devices = map[string]amp.Device{d.Name(): d}
	o = next.Find("net")
	if err := next.Attach(o, nil); err != nil {
		r.t.Fatal(err)
	}
	r.holds(o, second)
}

// holds checks what the tensors of an object are.
func (r *slowRun) holds(o *Object, want []byte) {
	r.t.Helper()
	elements := make([]byte, slowSize)
	for i, x := range o.Tensors {
		if err := x.Block().Read(elements); err != nil {
			r.t.Fatal(err)
		}
		for k, v := range elements {
			if v != want[i] {
				r.t.Fatalf("at %q tensor %d is %d at %d, want %d", o.State(), i, v, k, want[i])
			}
		}
	}
}

// TestKilledWhileTheDeviceWorks: whenever a process is killed, and however far the device gets with what was queued, within an operation
// too, the next process finds one step, whole. Some steps are committed without waiting, some not at all, and some by waiting.
func TestKilledWhileTheDeviceWorks(t *testing.T) {
	checks, early := 0, 0
	for seed := range uint64(6) {
		r, rnd := newSlowRun(t, 3), rand.New(rand.NewPCG(seed, 1))
		for range 14 {
			for i := range r.now {
				if rnd.IntN(2) > 0 {
					r.change(i, byte(r.step+1))
					r.kill()
				}
				if rnd.IntN(3) == 0 {
					r.work(rnd.IntN(4))
					r.kill()
				}
			}
			r.end(r.s.Later() && r.s.DueLater() && rnd.IntN(5) > 0)
			r.kill()
			if rnd.IntN(2) == 0 {
				r.work(rnd.IntN(8))
				time.Sleep(time.Duration(rnd.IntN(2)) * time.Millisecond) // the store may look by itself
				r.kill()
			}
			if rnd.IntN(4) == 0 {
				anchorEvery = time.Duration(rnd.IntN(2)) * time.Hour // the commit becomes the anchor or not
				if err := r.s.Commit(); err != nil {
					t.Fatal(err)
				}
				anchorEvery = 0
				r.kill()
			}
		}
		r.work(len(r.d.queue))
		if err := r.s.Commit(); err != nil {
			t.Fatal(err)
		}
		r.kill()
		if got := r.current(); got != int64(r.step) {
			t.Errorf("step %d is the current one after %d", got, r.step)
		}
		_ = r.s.Close()
		checks += r.checks
		early += r.early
	}
	t.Logf("%d instants, %d of them just before a commit is the current one", checks, early)
	if early == 0 {
		t.Error("none is just before a commit is the current one")
	}
}

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

// TestSeenOnceTheDeviceIsDone: ending steps waits for nothing however far behind the device is; others see a step once its copies are
// made, and not before, without anybody doing anything.
func TestSeenOnceTheDeviceIsDone(t *testing.T) {
	r := newSlowRun(t, 2)
	if err := r.s.Commit(); err != nil {
		t.Fatal(err)
	}
	r.step1(true)
	waits := r.d.waits
	for range 20 {
		r.step1(false)
	}
	if r.d.waits != waits {
		t.Errorf("steps waited for the device %d times", r.d.waits-waits)
	}
	r.work(1) // a part of step 1
	time.Sleep(20 * time.Millisecond)
	if got := r.current(); got != 0 {
		t.Errorf("step %d is seen before the device has done it", got)
	}
	r.work(3) // the rest of it, and the copy
	r.until(1)
	r.step1(true)
	r.work(len(r.d.queue))
	r.until(22)
	if err := r.s.Close(); err != nil || r.d.waits != waits {
		t.Errorf("%v; waited %d times", err, r.d.waits-waits)
	}
}

// step1 changes everything in a step, and says whether it is to be committed.
func (r *slowRun) step1(due bool) {
	r.t.Helper()
	for i := range r.now {
		r.change(i, byte(r.step+1))
	}
	if !r.s.Later() || r.s.DueLater() != due {
		r.t.Fatalf("step %d: later %v, due %v, want %v", r.step, r.s.Later(), r.s.DueLater(), due)
	}
	r.end(due)
}

// until waits for a step to be the current one.
func (r *slowRun) until(step int64) {
	r.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for r.current() != step && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if got := r.current(); got != step {
		r.t.Errorf("step %d is the current one, want %d", got, step)
	}
}

// TestCloseMakesWhatIsPending: whoever gives the session on, or makes something in it, finishes the commit that the device is working at.
func TestCloseMakesWhatIsPending(t *testing.T) {
	r := newSlowRun(t, 2)
	if err := r.s.Commit(); err != nil {
		t.Fatal(err)
	}
	r.step1(true)
	if err := r.s.Add(&Object{Name: "more", Kind: KindValue}, nil, &thing{state: "x"}, false, nil); err != nil {
		t.Fatal(err)
	}
	if got := r.current(); got != 1 {
		t.Errorf("step %d is seen beside the new object, want 1", got)
	}
	if err := r.s.Commit(); err != nil {
		t.Fatal(err)
	}
	r.step1(true)
	path := r.s.b.path
	if err := r.s.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if got := string(next.Find("net").State()); got != "2" || next.Lost() != nil {
		t.Errorf("state %s, lost %v", got, next.Lost())
	}
}

// TestFaultsOfTheDevice: what the device could not do is told at the next end of a step, or commit; the step before stays, and later ones
// are committed as if nothing had been.
func TestFaultsOfTheDevice(t *testing.T) {
	r := newSlowRun(t, 2)
	if err := r.s.Commit(); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("illegal address in adam")
	r.d.fault = fault
	r.step1(true)
	r.d.fault = nil
	r.work(len(r.d.queue))
	r.kill()
	deadline := time.Now().Add(20 * time.Second)
	for !r.s.DueLater() && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if err := r.s.EndStep(false); !errors.Is(err, fault) {
		t.Errorf("the next step says %v", err)
	}
	if got := r.current(); got != 0 {
		t.Errorf("step %d is the current one", got)
	}
	r.step++
	r.states = append(r.states, bytes.Clone(r.now))
	r.step1(true)
	r.work(len(r.d.queue))
	r.until(3)
	r.kill()
	_ = r.s.Close()
}
