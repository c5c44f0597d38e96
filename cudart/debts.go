package cudart

import (
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
)

// Gradients that a GradScaler's Step unscales are read by the optimizer, which multiplies on the way, and then mostly removed by ZeroGrad
// without anybody having looked at them. So they are only tested at first: what is left of unscale_ is a debt of the memory that they lie
// in, which is settled when something else is about to read or change it. That saves a pass of writing over all gradients in each step. The
// row of an optimizer made with Fused multiplies on the way too, and leaves the same debt instead of writing what it read.

// A factor is what blocks are still to be multiplied by: the inverse scale as it was, in memory of its own, or 1 if the row that was to
// multiply skipped the step.
type factor struct {
	mem  *block
	refs int // blocks, captured steps, the round, and calls
}

// A debt is what a block owes: n elements from ptr on are to be multiplied. Two tensors' gradients may lie in it, one behind the other.
type debt struct {
	*factor
	dt  amp.DType
	ptr uint64
	n   int
	at  int // place in the list
}

func (o *debt) end() uint64 { return o.ptr + uint64(o.n*o.dt.Size()) }

// covers says whether all of a tensor is to be multiplied.
func (o *debt) covers(ptr, bytes uint64) bool {
	return o.factor != nil && ptr >= o.ptr && ptr+bytes <= o.end()
}

// meets says whether some of it is.
func (o *debt) meets(ptr, bytes uint64) bool {
	return o.factor != nil && ptr < o.end() && o.ptr < ptr+bytes
}

// A multiplier is what calls leave out: times the number at inv, unless that at found, where there is one, is not 0.
type multiplier struct{ inv, found uint64 }

// debts are those of a device. Who settles, or is about to say which product a call leaves out or takes over, has the lock settling; mu is
// that of the fields, and held for nothing that takes another lock of the device.
type debts struct {
	settling sync.Mutex
	mu       sync.Mutex
	some     atomic.Int32 // blocks in the list
	list     []*block
	factor   *factor // of the round: calls that follow each other and leave out one product
	of       multiplier
	last     int64 // number of the round's last call
}

// round returns the factor of a call that leaves out a product, nil without memory for one. The call holds a reference, so that no other
// goroutine's round frees it: see leave.
func (d *device) round(of multiplier) *factor {
	q, call := &d.debts, d.count.ops.Load()
	q.mu.Lock()
	f := q.factor
	if f != nil && q.of == of && q.last+1 == call {
		q.last = call
		f.refs++
		q.mu.Unlock()
		return f
	}
	q.mu.Unlock()
	mem, err := d.pool.get(4, "inverse scales")
	if err != nil {
		return nil
	}
	f = &factor{mem: mem, refs: 2} // the round's and the call's
	d.begin(f, of, call)
	return f
}

// leave gives the reference of a call back.
func (d *device) leave(f *factor) {
	d.debts.mu.Lock()
	free := f.unref()
	d.debts.mu.Unlock()
	free.free()
}

// begin makes f the factor of the round; nil ends it.
func (d *device) begin(f *factor, of multiplier, call int64) {
	q := &d.debts
	q.mu.Lock()
	old := q.factor
	q.factor, q.of, q.last = f, of, call
	free := old.unref()
	q.mu.Unlock()
	free.free()
}

// renewed ends the round if memory that is about to change holds what its calls multiply by: those behind it would give the factor another
// value, and it is that of the calls before, too.
func (d *device) renewed(bufs []amp.Buffer) {
	q := &d.debts
	q.mu.Lock()
	of, on := q.of, q.factor != nil
	q.mu.Unlock()
	if !on {
		return
	}
	for _, buf := range bufs {
		if b, ok := buf.(*block); ok && b.dev == d && (b.holds(of.inv) || b.holds(of.found)) {
			d.begin(nil, multiplier{}, 0)
			return
		}
	}
}

func (b *block) holds(at uint64) bool { return at >= uint64(b.ptr) && at < uint64(b.ptr)+b.b.Bytes }

// unref gives one reference back and returns what is then to be freed, without the lock.
func (f *factor) unref() *factor {
	if f == nil {
		return nil
	}
	if f.refs--; f.refs > 0 {
		return nil
	}
	return f
}

func (f *factor) free() {
	if f != nil {
		f.mem.Free()
	}
}

// owe notes what n elements of a block are to be multiplied by. It has no debt, or that of what lies just before them.
func (d *device) owe(b *block, f *factor, dt amp.DType, ptr uint64, n int) {
	q := &d.debts
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case b.gone:
		return
	case b.debt.factor != nil:
		b.debt.n += n
		return
	}
	f.refs++
	b.debt = debt{f, dt, ptr, n, len(q.list)}
	q.list = append(q.list, b)
	q.some.Add(1)
}

// remit takes a block's debt from it; the lock is held.
func (q *debts) remit(b *block) (free *factor) {
	f := b.debt.factor
	if f == nil {
		return nil
	}
	last := len(q.list) - 1
	q.list[b.debt.at] = q.list[last]
	q.list[b.debt.at].debt.at = b.debt.at
	q.list[last] = nil
	q.list = q.list[:last]
	b.debt = debt{}
	q.some.Add(-1)
	return f.unref()
}

// remitted is remit without the lock.
func (d *device) remitted(b *block) {
	d.debts.mu.Lock()
	free := d.debts.remit(b)
	d.debts.mu.Unlock()
	free.free()
}

// forgo lets go of the debt of a block whose memory is given back.
func (d *device) forgo(b *block) {
	d.debts.mu.Lock()
	b.gone = true
	d.debts.mu.Unlock()
	d.remitted(b)
}

// owes returns the debt of a buffer's memory.
func (d *device) owes(buf amp.Buffer) (o debt) {
	if d.debts.some.Load() == 0 {
		return o
	}
	b, ok := buf.(*block)
	if !ok || b.dev != d {
		return o
	}
	d.debts.mu.Lock()
	defer d.debts.mu.Unlock()
	return b.debt
}

// forgive drops the debts of a factor: the launch that was to write it has failed, and the gradients are as they were. What it returns is to
// be freed.
func (d *device) forgive(at uint64) *factor {
	q := &d.debts
	q.mu.Lock()
	defer q.mu.Unlock()
	var free *factor
	if f := q.factor; f != nil && uint64(f.mem.ptr) == at {
		q.factor, free = nil, f.unref()
	}
	for i := len(q.list) - 1; i >= 0; i-- {
		if b := q.list[i]; uint64(b.debt.mem.ptr) == at {
			if f := q.remit(b); f != nil {
				free = f
			}
		}
	}
	return free
}

// A claim is a debt that every replay of a captured step leaves behind.
type claim struct {
	b *block
	debt
}

// closeDebts ends the debts of a captured step that is about to end: gradients that were there before it must be whole at the beginning of
// each replay. It returns those of its own memory, which each replay makes anew.
func (d *device) closeDebts() (kept []claim, err error) {
	err = d.settleDebts(func(b *block) bool { return b.pool != d.pool.private })
	d.begin(nil, multiplier{}, 0)
	q := &d.debts
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := len(q.list) - 1; i >= 0; i-- {
		if b := q.list[i]; b.pool == d.pool.private {
			b.debt.refs++
			kept = append(kept, claim{b, b.debt})
			q.remit(b) // nothing has been computed yet
		}
	}
	return kept, err
}

// claimAll puts the debts of a captured step in force again, whatever the memory owed before it was written anew.
func (d *device) claimAll(list []claim) {
	for _, c := range list {
		d.remitted(c.b)
		d.owe(c.b, c.factor, c.dt, c.ptr, c.n)
	}
}

// dropAll gives the references of a captured step back.
func (d *device) dropAll(list []claim) {
	for _, c := range list {
		d.debts.mu.Lock()
		free := c.factor.unref()
		d.debts.mu.Unlock()
		free.free()
	}
}
