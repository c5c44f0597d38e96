package amp

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// theCPU is the device that is always there.
var theCPU = &cpuDevice{name: "cpu"}

// A cpuDevice serves buffers from size-classed free lists: a training step asks for the same sizes again and again, and a
// page touched for the first time costs more than most kernels.
type cpuDevice struct {
	name string
	mu   sync.Mutex
	free [64][]*hostBuffer

	large atomic.Uint64 // large blocks so far
}

// A hostBuffer is a block of Go memory that starts at a cache line.
type hostBuffer struct {
	dev   *cpuDevice
	class int
	mem   []byte
}

func (b *hostBuffer) Bytes() []byte { return b.mem }
func (b *hostBuffer) Len() int      { return len(b.mem) }
func (b *hostBuffer) Free() {
	cpu.Poison(b.mem)
	b.dev.mu.Lock()
	b.dev.free[b.class] = append(b.dev.free[b.class], b)
	b.dev.mu.Unlock()
}

func (d *cpuDevice) Name() string { return d.name }
func (d *cpuDevice) Sync() error  { return nil }
func (d *cpuDevice) Run(c *Call) error {
	c.Op.CPU(c)
	return nil
}

func (d *cpuDevice) CopyIn(dst Buffer, at int, src []byte) error {
	copy(dst.Bytes()[at:][:len(src)], src)
	return nil
}

func (d *cpuDevice) CopyOut(dst []byte, src Buffer, at int) error {
	copy(dst, src.Bytes()[at:][:len(dst)])
	return nil
}

func (d *cpuDevice) Copy(dst Buffer, to int, src Buffer, from, n int) error {
	copy(dst.Bytes()[to:][:n], src.Bytes()[from:][:n])
	return nil
}

// Large blocks start at another cache line of a page each: a kernel that reads one while it writes another, both from the start of a page,
// would have its loads wait for stores to the same place in a page. And they ask for large pages, where fetching ahead stops less often.
const (
	largeMemory = 1 << 20
	page        = 4096
)

// Alloc rounds up to a power of two, at least a cache line.
func (d *cpuDevice) Alloc(n int) (Buffer, error) {
	class := bits.Len(uint(max(n, 64) - 1))
	d.mu.Lock()
	if l := d.free[class]; len(l) > 0 {
		b := l[len(l)-1]
		l[len(l)-1] = nil
		d.free[class] = l[:len(l)-1]
		d.mu.Unlock()
		cpu.Poison(b.mem)
		return b, nil
	}
	d.mu.Unlock()
	size := 1 << class
	if limit := systemMemory(); limit > 0 && uint64(size) > limit {
		return nil, fmt.Errorf("a block of %.1f GB, the machine has %.1f", float64(size)/1e9, float64(limit)/1e9)
	}
	room := size + 64
	if size >= largeMemory {
		room += page
	}
	raw := make([]byte, room)
	skip := int(-uintptr(unsafe.Pointer(&raw[0])) & 63)
	if size >= largeMemory {
		skip += int(d.large.Add(1)*17%(page/64)) * 64
		cpu.HugePages(raw)
	}
	ledgerOf(d).newBuffer(size)
	b := &hostBuffer{d, class, raw[skip : skip+size : skip+size]}
	cpu.Poison(b.mem)
	return b, nil
}
