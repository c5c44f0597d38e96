package cudart

import (
	"slices"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// reach settles before memory is read or changed. All debts are settled then: who looks at one gradient looks at the next.
func (d *device) reach(bufs ...amp.Buffer) error {
	d.doubt(bufs...)
	if !d.anyOwes(bufs...) {
		return nil
	}
	return d.settleDebts(nil)
}

func (d *device) anyOwes(bufs ...amp.Buffer) bool {
	return slices.ContainsFunc(bufs, func(b amp.Buffer) bool { return d.owes(b).factor != nil })
}

// multiplies says whether a call is of the rows that leave out products and take them over. What it finds owed must be so until it is
// gathered.
func multiplies(c *amp.Call) bool { return c.Update != nil || c.Mode == amp.UnscaleLater }

// overdue says whether something is owed that a call reads or writes, but for gradients that an optimizer's row multiplies itself, or whose
// memory is to owe more of the same.
func (d *device) overdue(c *amp.Call) bool {
	if d.debts.some.Load() == 0 {
		return false
	}
	for i, t := range c.In {
		if t != nil && !d.takes(c, i) && d.anyOwes(t.Layout().Buffer) {
			return true
		}
	}
	return c.Out != nil && c.Out != c.In[0] && d.anyOwes(c.Out.Layout().Buffer)
}

// takes says whether a call can do with its input i as it is.
func (d *device) takes(c *amp.Call, i int) bool {
	if hostOnly.Load() {
		return false
	}
	t, n := c.In[i], len(c.In)
	switch {
	case c.Update != nil && n > updateTold && i == 1: // an optimizer's row
		if inv := c.In[n-updateTold]; inv != nil {
			return d.extends(t, multiplier{uint64(address(inv)), uint64(address(c.In[n-updateTold+1]))})
		}
		o, at, bytes := d.owes(t.Layout().Buffer), uint64(address(t)), uint64(t.Len()*t.DType().Size())
		return o.covers(at, bytes) && o.dt.Size() >= 4 || !o.meets(at, bytes) // a half is rounded between product and step
	case c.Mode == amp.UnscaleLater && n == 4 && i == 0:
		return d.extends(t, multiplier{inv: uint64(address(c.In[3]))})
	}
	return false
}

// extends says whether a gradient lies just behind what its memory owes since the round began.
func (d *device) extends(g *amp.Tensor, of multiplier) bool {
	o, q := d.owes(g.Layout().Buffer), &d.debts
	q.mu.Lock()
	defer q.mu.Unlock()
	return o.factor == q.factor && q.of == of && q.last+1 == d.count.ops.Load() && o.dt == g.DType() && o.end() == uint64(address(g))
}

// settleDebts multiplies the blocks that owe, or those of them that are asked for.
func (d *device) settleDebts(which func(*block) bool) error {
	d.debts.settling.Lock()
	defer d.debts.settling.Unlock()
	return d.settleAll(which)
}

// settleAll is settleDebts for who has the lock.
func (d *device) settleAll(which func(*block) bool) error {
	if err := d.flush(); err != nil {
		return err
	}
	q := &d.debts
	var due []*block
	q.mu.Lock()
	for _, b := range q.list {
		if which == nil || which(b) {
			due = append(due, b)
		}
	}
	q.mu.Unlock()
	for len(due) > 0 {
		n, err := d.settleSome(due)
		if err != nil {
			return err
		}
		due = due[n:]
	}
	return nil
}

// settleSome multiplies the first of these blocks that one launch takes, and returns their number. Until it is queued none of them can be
// given back, which needs the lock: its memory would be another's by then.
func (d *device) settleSome(due []*block) (n int, err error) {
	first := d.owes(due[0])
	if first.factor == nil { // settled by what was queued before, or gone
		return 1, nil
	}
	f, err := d.unscaling(first.dt)
	if err != nil {
		return 0, err
	}
	q := &d.debts
	q.mu.Lock()
	if now := due[0].debt; now.factor != first.factor || now.dt != first.dt { // no longer: once more
		q.mu.Unlock()
		return 0, nil
	}
	a := unscaleArgs{unscaleSettings: unscaleSettings{inv: uint64(first.mem.ptr)}}
	grid := int32(0)
	for ; n < len(due) && n < listTensors; n++ {
		b := due[n]
		if b.debt.factor != first.factor || b.debt.dt != first.dt {
			break
		}
		a.ptr[n] = b.debt.ptr
		grid = a.lay(b.debt.n, grid, int32(max(1, blocks(b.debt.n, listThreads*unscaleEach))))
	}
	err = d.do(func() error {
		args := driver.GetArgs("unscale_").Struct(unsafe.Pointer(&a), unsafe.Sizeof(a))
		return d.queue(f, [3]uint32{uint32(grid), 1, 1}, [3]uint32{listThreads, 1, 1}, 0, args)
	})
	if err != nil {
		q.mu.Unlock()
		return 0, err
	}
	var free *factor
	for _, b := range due[:n] {
		if f := q.remit(b); f != nil {
			free = f
		}
	}
	q.mu.Unlock()
	free.free()
	return n, nil
}

// unscaling returns the kernel that multiplies what is owed of a dtype.
func (d *device) unscaling(dt amp.DType) (f driver.Function, err error) {
	err = d.do(func() error {
		f, err = d.function("unscale_" + dtypeNames[dt])
		return err
	})
	return f, err
}
