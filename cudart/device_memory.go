package cudart

import (
	"sync"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A block is device memory that a tensor's buffer is made of.
type block struct {
	dev  *device
	ptr  driver.DevicePtr
	b    *driver.Block
	pool *driver.Allocator
}

func (b *block) Bytes() []byte { return nil }
func (b *block) Len() int      { return int(b.b.Bytes) }
func (b *block) Free()         { b.pool.Free(b.b) }

// A pool is where tensors' memory comes from. All work is on one stream, so a block is free for the next op as soon as the host lets go
// of it.
type pool struct {
	dev     *device
	once    sync.Once
	shared  *driver.Allocator
	private *driver.Allocator // of the graph that is being captured

	mu      sync.Mutex
	retired []*driver.Allocator // of graphs that are gone, with tensors in them
}

// Alloc returns memory of the device, that of a freed tensor where there is some.
func (d *device) Alloc(n int) (amp.Buffer, error) {
	b, err := d.pool.get(n)
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

func (p *pool) get(n int) (*block, error) {
	from := p.memory()
	if p.private != nil {
		from = p.private
	}
	b, err := from.Alloc(uint64(n), p.dev.stream, "tensors")
	if err != nil {
		return nil, err
	}
	return &block{dev: p.dev, ptr: b.Ptr, b: b, pool: from}, nil
}

// Reserved returns the segments that the pool took from the driver since the start, and their bytes now.
func (d *device) Reserved() (blocks, bytes int64) {
	st := d.pool.memory().Stats()
	return int64(st.DriverAllocs), int64(st.Reserved)
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
