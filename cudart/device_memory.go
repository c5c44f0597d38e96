package cudart

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A block is device memory that a tensor's buffer is made of.
type block struct {
	dev   *device
	ptr   driver.DevicePtr
	bytes int
	class int
	whole bool // an allocation of its own, which can be returned to the driver
}

func (b *block) Bytes() []byte { return nil }
func (b *block) Len() int      { return b.bytes }
func (b *block) Free()         { b.dev.pool.put(b) }

// Blocks come in eight sizes per power of two, so that at most an eighth is wasted. Those below small are cut out of slabs.
const (
	smallest = 256
	small    = 1 << 20
	slab     = 4 << 20
)

// classOf returns the size class of n bytes, and its bytes.
func classOf(n int) (class, bytes int) {
	n = max(n, 1)
	shift := max(bits.Len(uint(n-1))-4, 8) // eighths of the power of two below, but multiples of smallest
	step := 1 << shift
	eighths := (n + step - 1) >> shift
	return shift*16 + eighths, eighths << shift
}

// A pool keeps what tensors give back. All work is on one stream, so a block is free for the next op as soon as the host lets go of it.
type pool struct {
	dev  *device
	mu   sync.Mutex
	free map[int][]*block

	rest      driver.DevicePtr // of the present slab
	restBytes int

	blocks, reserved, used int64
}

// Alloc returns memory of the device, that of a freed tensor where there is some of the size.
func (d *device) Alloc(n int) (amp.Buffer, error) {
	b, err := d.pool.get(n)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (p *pool) get(n int) (*block, error) {
	class, bytes := classOf(n)
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.free[class]; len(l) > 0 {
		b := l[len(l)-1]
		l[len(l)-1] = nil
		p.free[class] = l[:len(l)-1]
		p.used += int64(bytes)
		return b, nil
	}
	b := &block{dev: p.dev, bytes: bytes, class: class, whole: bytes > small}
	var err error
	if b.whole {
		b.ptr, err = p.take(bytes)
	} else {
		b.ptr, err = p.cut(bytes)
	}
	if err != nil {
		return nil, err
	}
	p.used += int64(bytes)
	return b, nil
}

// cut takes a small block from the present slab, or from a new one; what is left of the old one is lost.
func (p *pool) cut(bytes int) (driver.DevicePtr, error) {
	if p.restBytes < bytes {
		ptr, err := p.take(slab)
		if err != nil {
			return 0, err
		}
		p.rest, p.restBytes = ptr, slab
	}
	ptr := p.rest
	p.rest += driver.DevicePtr(bytes)
	p.restBytes -= bytes
	return ptr, nil
}

// take asks the driver for memory; without any left, cached blocks are returned to it first.
func (p *pool) take(bytes int) (driver.DevicePtr, error) {
	d := p.dev
	var ptr driver.DevicePtr
	err := d.do(func() (err error) {
		ptr, err = d.drv.Alloc(uint64(bytes))
		if errors.Is(err, driver.ErrMemory) && p.trim() > 0 {
			ptr, err = d.drv.Alloc(uint64(bytes))
		}
		return err
	})
	if err == nil {
		p.blocks++
		p.reserved += int64(bytes)
		return ptr, nil
	}
	if errors.Is(err, driver.ErrMemory) {
		return 0, p.exhausted(bytes, err)
	}
	return 0, err
}

// trim returns the cached blocks that are allocations of their own to the driver; the context is bound. It returns their bytes.
func (p *pool) trim() (bytes int64) {
	for class, l := range p.free {
		kept := l[:0]
		for _, b := range l {
			if !b.whole || p.dev.drv.Free(b.ptr) != nil {
				kept = append(kept, b)
				continue
			}
			p.blocks--
			p.reserved -= int64(b.bytes)
			bytes += int64(b.bytes)
		}
		p.free[class] = kept
	}
	return bytes
}

// exhausted says who holds the memory.
func (p *pool) exhausted(bytes int, err error) error {
	others := ""
	var free, total uint64
	if p.dev.do(func() (err error) { free, total, err = p.dev.drv.MemInfo(); return err }) == nil {
		others = fmt.Sprintf(", %s has %s of which %s are free, the rest is held by other processes and by CUDA", p.dev.props.Name, size(int64(total)), size(int64(free)))
	}
	return fmt.Errorf("%s more on %s: tensors of this process hold %s, its cache %s%s: %w", size(int64(bytes)), p.dev.name, size(p.used), size(p.reserved-p.used), others, err)
}

// size writes bytes as people do.
func size(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 10<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

func (p *pool) put(b *block) {
	p.mu.Lock()
	if p.free == nil {
		p.free = map[int][]*block{}
	}
	p.free[b.class] = append(p.free[b.class], b)
	p.used -= int64(b.bytes)
	p.mu.Unlock()
}

// Reserved returns the allocations that the pool took from the driver, and their bytes.
func (d *device) Reserved() (blocks, bytes int64) {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	return d.pool.blocks, d.pool.reserved
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
		d.pool.mu.Lock()
		err := d.do(func() error { d.pool.trim(); return nil })
		d.pool.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}
