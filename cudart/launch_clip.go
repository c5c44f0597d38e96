package cudart

import (
	"math"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of the clipping of gradients (kernels/clip.cu); calls are gathered as those of optimizers are.

const (
	clipEach    = 8 // elements per thread
	clipLargest = 1
	clipAbs     = 2
	clipSquare  = 4
)

// clipArgs is struct Clip.
type clipArgs struct {
	ptr          [updateTensors]uint64
	n            [updateTensors]int64
	block        [updateTensors + 1]int32
	count, flags int32
	_            int32
	sum, partial uint64
	power, limit float64
}

func init() {
	for _, name := range []string{"norm_add_", "clip_norm_"} {
		register(launchClip, name)
		gathers[name] = true
	}
}

func launchClip(l *launcher) bool {
	g, sum, stem := &l.in[1], &l.in[0], "clip_sum"
	if l.c.Op.Name == "clip_norm_" {
		g, sum, stem = &l.in[0], &l.in[1], "clip_norm"
	}
	f := l.kernel(stem, g.dt, amp.NoDType)
	if f == 0 {
		return false
	}
	a := clipArgs{sum: sum.ptr, power: l.c.Scalar, limit: l.c.Pair[0]}
	switch p := l.c.Scalar; {
	case math.IsInf(p, 1):
		a.flags = clipLargest
	case p == 1:
		a.flags = clipAbs
	case p == 2:
		a.flags = clipSquare
	}
	b := &l.d.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	u := &b.clip
	same := b.waiting.Load() && b.op == l.c.Op && b.f == f && u.flags == a.flags && u.sum == a.sum && u.power == a.power && u.limit == a.limit
	for k := range u.count {
		same = same && (u.ptr[k] != g.ptr || stem == "clip_sum")
	}
	if !same {
		if l.err = b.launch(l.d); l.err != nil {
			return true
		}
		b.op, b.f, *u, b.blocks = l.c.Op, f, a, 0
		b.waiting.Store(true)
	}
	n := g.len()
	u.ptr[u.count], u.n[u.count], u.block[u.count] = g.ptr, int64(n), b.blocks
	u.count++
	b.blocks += int32(blocks(n, updateThreads*clipEach))
	if u.block[u.count] = b.blocks; u.count == updateTensors {
		l.err = b.launch(l.d)
	}
	return true
}

// launchSums queues the sums of a gathered norm_add_: those of the blocks, then their total. The batch is locked: memory is taken and given
// back without a look at what waits.
func (b *batch) launchSums(d *device) error {
	tmp, err := d.pool.take(8*int(b.blocks), b.op.Name)
	if err != nil {
		return err
	}
	defer tmp.release()
	total, err := d.function("clip_total")
	if err != nil {
		return err
	}
	b.clip.partial = uint64(tmp.ptr)
	args := func() *driver.Args {
		return driver.GetArgs(b.op.Name).Struct(unsafe.Pointer(&b.clip), unsafe.Sizeof(b.clip))
	}
	threads := [3]uint32{updateThreads, 1, 1}
	if err := d.queue(b.f, [3]uint32{uint32(b.blocks), 1, 1}, threads, 0, args()); err != nil {
		return err
	}
	return d.queue(total, [3]uint32{1, 1, 1}, threads, 0, args())
}
