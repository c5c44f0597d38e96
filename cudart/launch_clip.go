package cudart

import (
	"math"
	"slices"
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
	ptr [listTensors]uint64
	list
	clipSettings
}

type clipSettings struct {
	sum, partial uint64
	power, limit float64
	flags        int32
	_            int32
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
	a := clipSettings{sum: sum.ptr, power: l.c.Scalar, limit: l.c.Pair[0]}
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
	twice := stem != "clip_sum" && slices.Contains(u.ptr[:u.count], g.ptr)
	if !(b.waiting.Load() && b.op == l.c.Op && b.f == f && u.clipSettings == a) || twice {
		if l.err = b.launch(l.d); l.err != nil {
			return true
		}
		b.op, b.f, b.blocks = l.c.Op, f, 0
		u.clipSettings, u.count = a, 0
		b.waiting.Store(true)
	}
	n := g.len()
	u.ptr[u.count] = g.ptr
	b.blocks = u.lay(n, b.blocks, int32(blocks(n, listThreads*clipEach)))
	if u.full() {
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
	threads := [3]uint32{listThreads, 1, 1}
	if err := d.queue(b.f, [3]uint32{uint32(b.blocks), 1, 1}, threads, 0, args()); err != nil {
		return err
	}
	return d.queue(total, [3]uint32{1, 1, 1}, threads, 0, args())
}
