package cudart

import (
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A block is device memory that a tensor's buffer is made of.
type block struct {
	dev  *device
	ptr  driver.DevicePtr
	b    *driver.Block
	pool *driver.Allocator
	n    int // bytes that were asked for, where the memory behind them is fenced
	debt debt
	gone bool // it was given back; both under the lock of the debts

	verdict atomic.Pointer[verdict]
}

func (b *block) Bytes() []byte { return nil }
func (b *block) Len() int      { return int(b.b.Bytes) }

// Free gives the memory back to its pool, once what was gathered is launched: that may read it.
func (b *block) Free() {
	b.dev.forgo(b)
	b.dev.doubt(b)
	if !b.dev.batch.keeps(b) {
		b.release()
	}
}

func (b *block) release() {
	if b.n > 0 {
		b.dev.pool.fence(b.dev.stream, b.ptr, uint64(b.n), b.b.Bytes, true)
	}
	b.pool.Free(b.b)
}

// redZone is how much of the emulated device's memory lies between two tensors, at least: whoever writes there is found out.
const redZone = 64

// A pool is where tensors' memory comes from. All work is on one stream, so a block is free for the next op as soon as the host lets go
// of it.
type pool struct {
	dev     *device
	once    sync.Once
	shared  *driver.Allocator
	private *driver.Allocator // of the graph that is being captured
	fence   Fence             // on the emulator

	mu      sync.Mutex
	retired []*driver.Allocator // of graphs that are gone, with tensors in them
}

// Alloc returns memory of the device, that of a freed tensor where there is some.
func (d *device) Alloc(n int) (amp.Buffer, error) { return d.AllocFor(n, "tensors") }

// AllocFor is Alloc for what an error of having no memory left then names.
func (d *device) AllocFor(n int, what string) (amp.Buffer, error) {
	if err := d.admit(); err != nil {
		return nil, err
	}
	defer d.finish()
	b, err := d.pool.get(n, what)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// memory returns the allocator of the process.
func (p *pool) memory() *driver.Allocator {
	p.once.Do(func() { p.shared = driver.NewAllocator(p.dev.drv, p.dev.ctx, p.dev.name) })
	return p.shared
}

// get launches what was gathered first if memory was let go of since, so that it is there.
func (p *pool) get(n int, what string) (*block, error) {
	if p.dev.batch.keepsSome() {
		if err := p.dev.flush(); err != nil {
			return nil, err
		}
	}
	b, err := p.take(n, what)
	if err != nil && p.dev.batch.waiting.Load() { // what waits may keep some
		if err := p.dev.flush(); err != nil {
			return nil, err
		}
		return p.take(n, what)
	}
	return b, err
}

// take is get as things are.
func (p *pool) take(n int, what string) (*block, error) {
	from := p.memory()
	if p.private != nil {
		from = p.private
	}
	want := uint64(n)
	fenced := p.fence != nil && p.private == nil
	if fenced {
		want += redZone
	}
	b, err := from.Alloc(want, p.dev.stream, what)
	if err != nil {
		return nil, err
	}
	out := &block{dev: p.dev, ptr: b.Ptr, b: b, pool: from}
	if fenced && n > 0 {
		out.n = n
		p.fence(p.dev.stream, b.Ptr, want-redZone, b.Bytes, false)
	}
	return out, nil
}

// Reserved returns the segments that the pool took from the driver since the start, and the bytes that it and those of captured steps hold
// now.
func (d *device) Reserved() (blocks, bytes int64) {
	m := d.pool.memory()
	return int64(m.Stats().DriverAllocs), int64(m.ReservedInAll())
}

// EmptyCache returns the memory that no tensor uses to the driver, for other processes (torch.cuda.empty_cache). It waits for the
// devices.
func EmptyCache() error {
	opened.Lock()
	defer opened.Unlock()
	for _, d := range opened.devices {
		if err := d.Sync(); err != nil {
			return err
		}
		if _, err := d.pool.memory().Trim(); err != nil {
			return err
		}
	}
	return nil
}
