package cudart

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Indices that are out of range are found by kernels (kernels/refuse.h), after the call that gave them has returned. They read and write
// nothing for such an index, and note the first one in device memory. Whoever next waits for the device, to read a value or in Sync, gets it
// as the error that the CPU would have given at once; what was read is not handed out.

// refusedBytes is the size of struct Refused, refusedRoom what is set aside for it.
const (
	refusedBytes = 40
	refusedRoom  = 64
)

// A guard is struct Guard: where a kernel notes an index that it refuses.
type guard struct{ to, claim uint64 }

// refusals is a device's note.
type refusals struct {
	mu    sync.Mutex // held from the copy of the note to its reading
	ready atomic.Bool
	mem   driver.DevicePtr
	host  []byte        // where the note is copied to
	asked atomic.Bool   // a kernel with a guard was queued since the note was last looked at
	baked atomic.Bool   // the step being captured has one
	next  atomic.Uint64 // claims, which tell launches apart
}

// A refusal is what the indices of an op are called, and what to do about them.
type refusal struct {
	op     string
	module string // that called it
	what   string // "index %d" of their place, "target[%d]" …
	fix    string // of the first and the last that are allowed
	rows   bool   // the place is one in rows, end elements wide
	leave  int64  // with leaves: the index that leaves a row out, which fix names too
	leaves bool
	// singular says that it is no index: a matrix, the place, has no factor or no inverse, for what is found at the value.
	singular bool
}

// known numbers the refusals, so that a claim carries its own. Number 0 is for those that come when the numbers are used up.
var known = struct {
	sync.Mutex
	list   []refusal
	number map[refusal]uint64
}{list: []refusal{{op: "an op", what: "index %d", fix: "use indices from %d to %d"}}, number: map[refusal]uint64{}}

func (r refusal) id() uint64 {
	known.Lock()
	defer known.Unlock()
	n, ok := known.number[r]
	if !ok {
		if n = uint64(len(known.list)); n > claimMost {
			return 0
		}
		known.number[r] = n
		known.list = append(known.list, r)
	}
	return n
}

const (
	claimShift = 16 // bits of a claim for the number of its refusal
	claimMost  = 1<<claimShift - 1
)

// guards makes the note; the context is bound and nothing is captured.
func (d *device) guards() error {
	r := &d.refused
	if r.ready.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready.Load() {
		return nil
	}
	host, err := d.drv.HostAlloc(refusedRoom)
	if err != nil {
		return err
	}
	mem, err := d.drv.Alloc(refusedRoom)
	if err == nil {
		if err = d.drv.Memset8(mem, 0xff, refusedBytes, d.stream); err != nil {
			_ = d.drv.Free(mem)
		}
	}
	if err != nil {
		_ = d.drv.HostFree(host)
		return err
	}
	r.mem, r.host = mem, host
	r.ready.Store(true)
	return nil
}

// guard returns what a kernel needs to refuse an index.
func (l *launcher) guard(what, fix string) guard {
	return l.guardOf(refusal{op: l.c.Op.Name, what: what, fix: fix})
}

func (l *launcher) guardOf(why refusal) guard {
	d := l.d
	r := &d.refused
	why.module = l.c.Module
	if l.err == nil {
		l.err = d.guards()
	}
	if l.err != nil {
		return guard{}
	}
	if d.capture.on.Load() {
		r.baked.Store(true)
	}
	r.asked.Store(true)
	return guard{uint64(r.mem), r.next.Add(1)<<claimShift | why.id()}
}

// indexGuard is that of rows whose indices count from 0.
func (l *launcher) indexGuard() guard { return l.guard("index %d", "use indices from %d to %d") }

// settle waits for the stream and returns what a kernel has refused since the last time as an *amp.Error. The context is bound.
func (d *device) settle() error {
	r := &d.refused
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked.Swap(false) {
		return d.drv.SyncStream(d.stream)
	}
	err := d.drv.CopyDtoHAsync(r.host[:refusedBytes], r.mem, d.stream)
	if err == nil {
		err = d.drv.SyncStream(d.stream)
	}
	if err == nil {
		refused := d.refusedIn(r.host)
		if refused == nil {
			return nil
		}
		if err = d.drv.Memset8(r.mem, 0xff, refusedBytes, d.stream); err == nil {
			return refused
		}
	}
	r.asked.Store(true) // whoever waits next looks at it
	return err
}

// refusedIn returns what a copy of the note says, nil where no index was refused.
func (d *device) refusedIn(note []byte) error {
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(note[8*i:]) }
	claim := word(0)
	if claim == ^uint64(0) {
		return nil
	}
	known.Lock()
	why := known.list[claim&claimMost]
	known.Unlock()
	place, value := int64(word(1)>>32), int64(word(1)<<32|word(2)&0xffffffff)
	return why.failure(d.name, place, value, int64(word(3)), int64(word(4)))
}

// failure words an index that was refused.
func (w refusal) failure(device string, place, value, first, end int64) error {
	if w.singular {
		return &amp.Error{Op: w.op, Module: w.module, Kind: amp.ErrSingular, Fix: w.fix,
			Detail: fmt.Sprintf(w.what, place, value+1) + fmt.Sprintf(" (%s found it after the call had returned)", device)}
	}
	at := fmt.Sprintf(w.what, place)
	if w.rows {
		at = fmt.Sprintf(w.what, place/end, place%end)
	}
	fix := w.fix
	switch {
	case w.leaves:
		fix = fmt.Sprintf(fix, first, end-1, w.leave)
	case strings.Contains(fix, "%d"):
		fix = fmt.Sprintf(fix, first, end-1)
	}
	return &amp.Error{Op: w.op, Module: w.module, Kind: amp.ErrArgument, Fix: fix,
		Detail: fmt.Sprintf("%s is %d (%s found it after the call had returned)", at, value, device)}
}
