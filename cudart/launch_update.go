package cudart

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of optimizer steps and of the unscaling (kernels/update.cu). The kernels take lists of tensors: calls of one row with the same
// settings that follow each other, as those for all parameters of a step do, are gathered and launched together. What is gathered is
// launched before anything else is queued on the device.

const (
	updateTensors = 24
	updateState   = 3
	updateTold    = 4 // inputs of an optimizer's row behind its state: inv_scale, found_inf, steps, rate
	updateThreads = 256
	updateEach    = 4 // elements per thread
	unscaleEach   = 8

	updateMaximize  = 1
	updateNesterov  = 2
	updateFirst     = 4
	updateDecoupled = 8
	updateVector    = 16
	unscaleKeep     = 32
	updateLeave     = 64
)

// updateArgs is struct Update.
type updateArgs struct {
	ptr          [2 + updateState][updateTensors]uint64
	n            [updateTensors]int64
	block        [updateTensors + 1]int32
	count, flags int32
	_            int32
	inv, found   uint64
	steps, rate  uint64
	used         uint64
	attr         [10]float64
}

// unscaleArgs is struct Unscale.
type unscaleArgs struct {
	ptr          [updateTensors]uint64
	n            [updateTensors]int64
	block        [updateTensors + 1]int32
	param        [updateTensors]int32
	count, flags int32
	_            int32
	inv          uint64
	found, first uint64
	used         uint64
}

// A batch is what was gathered.
type batch struct {
	mu      sync.Mutex
	waiting atomic.Bool
	op      *amp.Op
	f       driver.Function
	update  updateArgs // of an optimizer's row, or
	unscale unscaleArgs
	clip    clipArgs
	copies  copyArgs
	dt      amp.DType // that copies and casts are from
	blocks  int32
	behind  []*block // given back when it is launched

	late atomic.Pointer[error] // a failed launch that whoever caused it could not return: the next call does
}

func init() {
	for _, name := range []string{"sgd_", "adam_", "rmsprop_", "adagrad_"} {
		register(launchUpdate, name)
		gathers[name] = true
	}
	register(launchUnscale, "unscale_")
	gathers["unscale_"] = true
}

// gathers are the rows whose calls are launched together.
var gathers = map[string]bool{}

// flush launches what was gathered. Everything that queues work on the stream, but for the rows that gather, comes here first.
func (d *device) flush() error {
	if late := d.batch.late.Swap(nil); late != nil {
		return *late
	}
	if !d.batch.waiting.Load() {
		return nil
	}
	d.batch.mu.Lock()
	defer d.batch.mu.Unlock()
	return d.do(func() error { return d.batch.launch(d) })
}

// ready is flush for who is about to read or change memory by other means than calls of rows.
func (d *device) ready(bufs ...amp.Buffer) error {
	if err := d.flush(); err != nil {
		return err
	}
	d.renewed(bufs)
	return d.reach(bufs...)
}

// readies is ready for those who only watch, as traces and clocks do, and can return no error: the next call returns it.
func (d *device) readies(bufs ...amp.Buffer) bool {
	err := d.ready(bufs...)
	if err != nil {
		d.batch.late.Store(&err)
	}
	return err == nil
}

// keeps says whether something waits to be launched. Then memory that is given back is kept until it is, as tensors of which only the batch
// knows may lie there: until then nobody else gets it, be it another goroutine, the batch's own scratch memory or the driver.
func (b *batch) keeps(m *block) bool {
	if !b.waiting.Load() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.waiting.Load() || b.forget(m) {
		return false
	}
	b.behind = append(b.behind, m)
	return true
}

// keepsSome says whether memory was given back that is kept for longer than until the next call: casts wait for no more.
func (b *batch) keepsSome() bool {
	if !b.waiting.Load() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.behind) > 0 && !b.casts()
}

// launch queues the batch; the lock is held and the context bound. It waits until it is queued: another goroutine's call that found
// nothing waiting before would overtake it.
func (b *batch) launch(d *device) error {
	if !b.waiting.Load() {
		return nil
	}
	err := b.queue(d)
	b.waiting.Store(false)
	b.letGo()
	return err
}

// letGo gives back what was kept.
func (b *batch) letGo() {
	for _, m := range b.behind {
		m.release()
	}
	clear(b.behind)
	b.behind = b.behind[:0]
}

func (b *batch) queue(d *device) error {
	if b.op.Name == "copy_" || b.op.Name == "cast" {
		b.blocks = b.copies.spread()
	}
	if b.blocks == 0 {
		return nil
	}
	a, used := driver.GetArgs(b.op.Name), uint64(0)
	switch b.op.Name {
	case "norm_add_":
		a.Put()
		return b.launchSums(d)
	case "clip_norm_":
		a.Struct(unsafe.Pointer(&b.clip), unsafe.Sizeof(b.clip))
	case "copy_", "cast":
		a.Struct(unsafe.Pointer(&b.copies), unsafe.Sizeof(b.copies))
	case "unscale_":
		a.Struct(unsafe.Pointer(&b.unscale), unsafe.Sizeof(b.unscale))
		used = b.unscale.used
	default:
		a.Struct(unsafe.Pointer(&b.update), unsafe.Sizeof(b.update))
		used = b.update.used
	}
	err := d.queue(b.f, [3]uint32{uint32(b.blocks), 1, 1}, [3]uint32{updateThreads, 1, 1}, 0, a)
	if err != nil && used != 0 {
		if f := d.forgive(used); f != nil {
			b.behind = append(b.behind, f.mem)
		}
	}
	return err
}

// updateNumbers fills the numbers of the kernels from the settings of a row.
func updateNumbers(stem string, u *amp.Update) (attr [10]float64) {
	attr[0], attr[1] = u.LR, float64(u.Step)
	switch stem {
	case "sgd":
		attr[2], attr[3], attr[4] = u.Momentum, 1-u.Dampening, u.WeightDecay
	case "adam":
		attr[2], attr[3], attr[4], attr[5] = u.Beta1, u.Beta2, u.Eps, u.WeightDecay
		if u.Steps == nil {
			attr[6], attr[7] = 1-math.Pow(u.Beta1, float64(u.Step)), math.Sqrt(1-math.Pow(u.Beta2, float64(u.Step)))
		}
	case "rmsprop":
		attr[2], attr[3], attr[4], attr[5] = u.Alpha, u.Momentum, u.Eps, u.WeightDecay
	case "adagrad":
		attr[2], attr[4], attr[5] = u.LRDecay, u.Eps, u.WeightDecay
	}
	attr[8] = float64(u.FirstAt)
	return attr
}

func updateFlags(u *amp.Update) (flags int32) {
	for _, f := range [...]struct {
		on  bool
		bit int32
	}{{u.Maximize, updateMaximize}, {u.Nesterov, updateNesterov}, {u.First, updateFirst}, {u.Decoupled, updateDecoupled}} {
		if f.on {
			flags |= f.bit
		}
	}
	return flags
}

// launchUpdate gathers a call of an optimizer's row: param, grad, state, inv_scale, found_inf, steps, rate. A gradient that it multiplies
// stays as it is and owes the product.
func launchUpdate(l *launcher) bool {
	k := len(l.c.In) - updateTold
	var due *factor
	g, own := l.c.In[1].Layout().Buffer.(*block)
	if own && l.given(k) && l.in[1].len() > 0 { // a launch without elements would leave the factor unwritten
		due = l.d.round(multiplier{uint64(address(l.c.In[k])), uint64(address(l.c.In[k+1]))})
	}
	ok := l.gatherUpdate(due)
	l.owes(ok, due, g, 1)
	return ok
}

// owes notes that input i, in memory of g, is still to be multiplied, once the call that leaves it so is gathered, and gives the call's
// reference to the factor back.
func (l *launcher) owes(gathered bool, due *factor, g *block, i int) {
	if due == nil {
		return
	}
	if gathered && l.err == nil {
		l.d.owe(g, due, l.in[i].dt, l.in[i].ptr, l.in[i].len())
	}
	l.d.leave(due)
}

func (l *launcher) gatherUpdate(due *factor) bool {
	stem, k := l.c.Op.CUDA, len(l.c.In)-updateTold
	f := l.kernel(stem, l.in[0].dt, amp.NoDType)
	if f == 0 {
		return false
	}
	a := &l.updateArgs
	*a = updateArgs{flags: updateFlags(l.c.Update) | updateVector, attr: updateNumbers(stem, l.c.Update)}
	var ptr [2 + updateState]uint64
	for i := range k {
		ptr[i] = l.in[i].ptr
		if ptr[i]%16 != 0 {
			a.flags &^= updateVector
		}
	}
	for i, to := range [...]*uint64{&a.inv, &a.found, &a.steps, &a.rate} {
		if l.given(k + i) {
			*to = l.in[k+i].ptr
		}
	}
	if o := l.d.owes(l.c.In[1].Layout().Buffer); o.meets(ptr[1], uint64(l.in[1].len()*l.in[1].dt.Size())) {
		a.inv = uint64(o.mem.ptr)
		a.flags |= updateLeave
	}
	if due != nil {
		a.used = uint64(due.mem.ptr)
		a.flags |= updateLeave
	}
	b := &l.d.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting.Load() && !(b.op == l.c.Op && b.f == f && b.joins(a, &ptr)) {
		if l.err = b.launch(l.d); l.err != nil {
			return true
		}
	}
	if !b.waiting.Load() {
		b.op, b.f, b.update, b.blocks = l.c.Op, f, *a, 0
		b.waiting.Store(true)
	}
	u, n := &b.update, l.in[0].len()
	for i, p := range ptr {
		u.ptr[i][u.count] = p
	}
	u.n[u.count] = int64(n)
	u.block[u.count] = b.blocks
	u.count++
	b.blocks += int32(blocks(n, updateThreads*updateEach))
	if u.block[u.count] = b.blocks; u.count == updateTensors {
		l.err = b.launch(l.d)
	}
	return true
}

// joins says whether a call with these settings and tensors may run beside those that wait.
func (b *batch) joins(a *updateArgs, ptr *[2 + updateState]uint64) bool {
	u := &b.update
	if u.flags != a.flags || u.attr != a.attr || u.inv != a.inv || u.found != a.found || u.steps != a.steps || u.rate != a.rate || u.used != a.used {
		return false
	}
	for i, p := range ptr {
		for k := range u.count {
			if have := u.ptr[i][k]; have == p && p != 0 || (have == 0) != (p == 0) { // a tensor twice, or state that only some have
				return false
			}
		}
	}
	return true
}

// launchUnscale gathers a call of unscale_: grad, found_inf, first, inv_scale. The form that tells the host what it found runs there. A
// gradient that nobody is expected to read stays as it is and owes the product.
func launchUnscale(l *launcher) bool {
	if len(l.c.In) < 4 {
		return false
	}
	var due *factor
	g, own := l.c.In[0].Layout().Buffer.(*block)
	if own && l.c.Mode == amp.UnscaleLater && l.in[0].dt.Size() >= 4 { // halves would be rounded twice
		due = l.d.round(multiplier{inv: l.in[3].ptr})
	}
	ok := l.gatherUnscale(due)
	l.owes(ok, due, g, 0)
	return ok
}

func (l *launcher) gatherUnscale(due *factor) bool {
	f := l.kernel("unscale", l.in[0].dt, amp.NoDType)
	if f == 0 {
		return false
	}
	a := &l.unscaleArgs
	*a = unscaleArgs{found: l.in[1].ptr, first: l.in[2].ptr, inv: l.in[3].ptr}
	if l.in[0].ptr%16 == 0 {
		a.flags |= updateVector
	}
	if l.c.Keep || due != nil {
		a.flags |= unscaleKeep
	}
	if due != nil {
		a.used = uint64(due.mem.ptr)
	}
	b := &l.d.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	u := &b.unscale
	same := b.waiting.Load() && b.op == l.c.Op && b.f == f && u.flags == a.flags && u.found == a.found && u.first == a.first && u.inv == a.inv && u.used == a.used
	for k := range u.count {
		same = same && u.ptr[k] != l.in[0].ptr
	}
	if !same {
		if l.err = b.launch(l.d); l.err != nil {
			return true
		}
		b.op, b.f, *u, b.blocks = l.c.Op, f, *a, 0
		b.waiting.Store(true)
	}
	n := l.in[0].len()
	u.ptr[u.count], u.n[u.count], u.block[u.count], u.param[u.count] = l.in[0].ptr, int64(n), b.blocks, int32(l.c.Start)
	u.count++
	b.blocks += int32(max(1, blocks(n, updateThreads*unscaleEach)))
	if u.block[u.count] = b.blocks; u.count == updateTensors {
		l.err = b.launch(l.d)
	}
	return true
}
