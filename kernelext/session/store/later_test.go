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
