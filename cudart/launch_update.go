package cudart

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of optimizer steps and of the unscaling (kernels/update.cu, update_more.cu). The kernels take lists of tensors: calls of one row
// with the same settings that follow each other, as those for all parameters of a step do, are gathered and launched together. What is
// gathered is launched before anything else is queued on the device.

const (
	updateState = 3
	updateTold  = 4  // inputs of an optimizer's row behind its state: inv_scale, found_inf, steps, rate
	updateEach  = 16 // elements per thread
	unscaleEach = 16

	updateMaximize  = 1
	updateNesterov  = 2
	updateFirst     = 4
	updateDecoupled = 8
	unscaleKeep     = 32
	updateLeave     = 64
)

// updateArgs is struct Update.
type updateArgs struct {
	ptr [2 + updateState][listTensors]uint64
	list
	updateSettings
}

// updateSettings are what calls that are launched together have in common.
type updateSettings struct {
	inv, found  uint64
	steps, rate uint64
	used        uint64
	attr        [10]float64
	flags       int32
	_           int32
}

// unscaleArgs is struct Unscale.
type unscaleArgs struct {
	ptr  [listTensors]uint64
	told [listTensors]uint64 // words that say whether all of a tensor is finite, or 0
	list
	param [listTensors]int32
	unscaleSettings
}

type unscaleSettings struct {
	inv          uint64
	found, first uint64
	used         uint64
	flags        int32
	_            int32
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
	for _, name := range []string{"sgd_", "adam_", "rmsprop_", "adagrad_", "adamax_", "nadam_", "radam_", "adadelta_", "rprop_", "asgd_"} {
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
	b.blank()
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
	err := d.queue(b.f, [3]uint32{uint32(b.blocks), 1, 1}, [3]uint32{listThreads, 1, 1}, 0, a)
	if err != nil {
		d.doubtAll() // a cast may not have come to its word
	}
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
	case "adamax", "nadam", "radam":
		attr[2], attr[3], attr[4], attr[5], attr[6] = u.Beta1, u.Beta2, u.Eps, u.WeightDecay, u.MomentumDecay
	case "adadelta":
		attr[2], attr[4], attr[5] = u.Alpha, u.Eps, u.WeightDecay
	case "rprop":
		attr[2], attr[3], attr[4], attr[5] = u.EtaMinus, u.EtaPlus, u.StepMin, u.StepMax
	case "asgd":
		attr[2], attr[3], attr[4], attr[5] = u.Lambda, u.Alpha, u.T0, u.WeightDecay
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
	a := updateSettings{flags: updateFlags(l.c.Update), attr: updateNumbers(stem, l.c.Update)}
	var ptr [2 + updateState]uint64
	for i := range k {
		ptr[i] = l.in[i].ptr
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
	u := &b.update
	if b.waiting.Load() && !(b.op == l.c.Op && b.f == f && u.updateSettings == a && u.joins(&ptr)) {
		if l.err = b.launch(l.d); l.err != nil {
			return true
		}
	}
	if !b.waiting.Load() {
		b.op, b.f, b.blocks = l.c.Op, f, 0
		u.updateSettings, u.count = a, 0
		b.waiting.Store(true)
	}
	n := l.in[0].len()
	for i, p := range ptr {
		u.ptr[i][u.count] = p
	}
	b.blocks = u.lay(n, b.blocks, int32(blocks(n, listThreads*updateEach)))
	if u.full() {
		l.err = b.launch(l.d)
	}
	return true
}

// joins says whether a call with these tensors may run beside those that wait.
func (u *updateArgs) joins(ptr *[2 + updateState]uint64) bool {
	for i, p := range ptr {
		for _, have := range u.ptr[i][:u.count] {
			if have == p && p != 0 || (have == 0) != (p == 0) { // a tensor twice, or state that only some have
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
	told := uint64(0)
	if own && (due != nil || l.c.Keep) { // who multiplies must read it anyway
		told = l.d.verdictOn(g, &l.in[0])
	}
	ok := l.gatherUnscale(due, told)
	l.owes(ok, due, g, 0)
	if own {
		l.d.doubt(g) // the word is cleared, or the gradient multiplied
	}
	return ok
}

func (l *launcher) gatherUnscale(due *factor, told uint64) bool {
	f := l.kernel("unscale", l.in[0].dt, amp.NoDType)
	if f == 0 {
		return false
	}
	a := unscaleSettings{found: l.in[1].ptr, first: l.in[2].ptr, inv: l.in[3].ptr}
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
	if !(b.waiting.Load() && b.op == l.c.Op && b.f == f && u.unscaleSettings == a) || slices.Contains(u.ptr[:u.count], l.in[0].ptr) {
		if l.err = b.launch(l.d); l.err != nil {
			return true
		}
		b.op, b.f, b.blocks = l.c.Op, f, 0
		u.unscaleSettings, u.count = a, 0
		b.waiting.Store(true)
	}
	n := l.in[0].len()
	u.ptr[u.count], u.told[u.count], u.param[u.count] = l.in[0].ptr, told, int32(l.c.Start)
	own := int32(max(1, blocks(n, listThreads*unscaleEach)))
	if told != 0 {
		own = 1 // which goes through all of it where it must
	}
	b.blocks = u.lay(n, b.blocks, own)
	if u.full() {
		l.err = b.launch(l.d)
	}
	return true
}
