package cudart

import (
	"encoding/binary"
	"math"
	"sync"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// What tensors hold, for traces at level Health (kernels/health.cu): one launch a tensor, which counts into device memory. That memory is
// a ring of segments; a full one is copied to page-locked memory, and what it says is read when the segment is needed again or
// somebody asks. A step waits only where the device is the whole ring behind.

const (
	healthSegment  = 256 << 10
	healthSegments = 8
	healthThreads  = 256
	healthEach     = 32   // elements of a thread, about
	healthBlocks   = 1024 // at most
	healthSample   = 16   // elements of a sample
	healthHead     = 96   // bytes of struct Counts before its bins
)

// healthArgs is struct Health.
type healthArgs struct {
	x, to        uint64
	n            int64
	rank, vector int32
	shape        [maxRank]int32
	stride       [maxRank]int64
	normal       float64
}

// healthRing holds the counts, made at the first one.
type healthRing struct {
	dev  *device
	mu   sync.Mutex
	ring []healthPart
	at   int // segment being filled
	fill int // bytes of it in use
	args healthArgs
}

// A healthPart is one segment.
type healthPart struct {
	mem   *driver.Block
	host  []byte
	done  driver.Event
	full  bool // it is on its way to host
	zeros bool // it was set to 0
	asked []*counting
}

// A counting is one tensor's.
type counting struct {
	ring  *healthRing
	part  int
	at    int // bytes
	low   int // exponent of the first bin
	bins  int
	n     int
	done  bool
	found *amp.Exponents // nil if the device failed
}

// Count queues the counting of a tensor; nil while a step is captured and for what the kernel does not take.
func (d *device) Count(t *amp.Tensor) amp.Counting {
	if d.admit() != nil {
		return nil
	}
	defer d.finish()
	if d.capture.on.Load() || hostOnly.Load() || t.Len() >= 1<<32 || len(t.Layout().Shape) > maxRank || !d.readies(t.Layout().Buffer) {
		return nil
	}
	h := &d.health
	h.mu.Lock()
	defer h.mu.Unlock()
	var c *counting
	err := d.do(func() (err error) {
		c, err = h.count(t)
		return err
	})
	if err != nil || c == nil {
		return nil
	}
	return c
}

// count queues a launch; the context is bound and the lock held. nil without a kernel.
func (h *healthRing) count(t *amp.Tensor) (*counting, error) {
	f, err := h.dev.function("health_" + dtypeNames[t.DType()])
	if err != nil || f == 0 {
		return nil, err
	}
	if err := h.begin(); err != nil {
		return nil, err
	}
	c := &counting{ring: h, low: -149, bins: 277, n: t.Len()}
	if t.DType().Size() == 8 || t.DType() == amp.Bool {
		c.low, c.bins = -1074, 2098
	}
	if err := h.room(c); err != nil {
		return nil, err
	}
	part := &h.ring[c.part]
	if c.n > 0 {
		grid := h.lay(t, uint64(part.mem.Ptr)+uint64(c.at))
		args := driver.GetArgs("trace").Struct(unsafe.Pointer(&h.args), unsafe.Sizeof(h.args))
		h.dev.count.launches.Add(1)
		err = h.dev.drv.Launch(f, [3]uint32{grid, 1, 1}, [3]uint32{healthThreads, 1, 1}, 0, h.dev.stream, args)
		args.Put()
	}
	if err == nil {
		part.asked = append(part.asked, c)
	}
	return c, err
}

// lay writes the kernel's parameters and returns the number of blocks.
func (h *healthRing) lay(t *amp.Tensor, to uint64) uint32 {
	at, a, v := t.Layout(), &h.args, min(16/t.DType().Size(), 8)
	*a = healthArgs{x: uint64(address(t)), to: to, n: int64(t.Len()), rank: int32(len(at.Shape)), normal: t.DType().MinNormal()}
	for d, n := range at.Shape {
		a.shape[d], a.stride[d] = int32(n), int64(at.Strides[d])
	}
	if t.IsContiguous() && a.x%uint64(v*t.DType().Size()) == 0 {
		a.vector = 1
	}
	return min(blocks(t.Len(), healthThreads*healthEach), healthBlocks)
}

// begin makes the ring.
func (h *healthRing) begin() error {
	if h.ring != nil {
		return nil
	}
	host, err := h.dev.drv.HostAlloc(healthSegments * healthSegment)
	if err != nil {
		return err
	}
	ring := make([]healthPart, healthSegments)
	for i := range ring {
		p := &ring[i]
		p.host = host[i*healthSegment:][:healthSegment:healthSegment]
		if p.mem, err = h.dev.pool.memory().Alloc(healthSegment, h.dev.stream, "counts of traces"); err == nil {
			p.done, err = h.dev.drv.NewEvent(false)
		}
		if err != nil { // the next count tries again
			h.drop(ring[:i+1])
			_ = h.dev.drv.HostFree(host)
			return err
		}
	}
	h.ring = ring
	return nil
}

// drop gives a ring back that could not be made whole.
func (h *healthRing) drop(ring []healthPart) {
	for i := range ring {
		if p := &ring[i]; p.mem != nil {
			h.dev.pool.memory().Free(p.mem)
			if p.done != 0 {
				_ = h.dev.drv.DestroyEvent(p.done)
			}
		}
	}
}

// room gives a counting its place, set to 0.
func (h *healthRing) room(c *counting) error {
	bytes := (healthHead + 4*c.bins + 15) &^ 15
	if h.fill+bytes > healthSegment {
		if err := h.close(); err != nil {
			return err
		}
	}
	p := &h.ring[h.at]
	if p.full { // the oldest one
		if err := h.read(p); err != nil {
			return err
		}
	}
	if !p.zeros {
		if err := h.dev.drv.Memset32(p.mem.Ptr, 0, healthSegment/4, h.dev.stream); err != nil {
			return err
		}
		p.zeros = true
	}
	c.part, c.at = h.at, h.fill
	h.fill += bytes
	return nil
}

// close sends the present segment to the host and begins the next one.
func (h *healthRing) close() error {
	p := &h.ring[h.at]
	if h.fill == 0 {
		return nil
	}
	if err := h.dev.drv.CopyDtoHAsync(p.host[:h.fill], p.mem.Ptr, h.dev.stream); err != nil {
		return err
	}
	if err := h.dev.drv.RecordEvent(p.done, h.dev.stream); err != nil {
		return err
	}
	p.full, p.zeros = true, false
	h.at, h.fill = (h.at+1)%healthSegments, 0
	return nil
}

// read waits for a segment and tells its countings what it says.
func (h *healthRing) read(p *healthPart) error {
	err := h.dev.drv.SyncEvent(p.done)
	for i, c := range p.asked {
		if c.done = true; err == nil {
			c.found = c.decode(p.host[c.at:])
		}
		p.asked[i] = nil
	}
	p.full, p.asked = false, p.asked[:0]
	return err
}

// decode reads struct Counts.
func (c *counting) decode(b []byte) *amp.Exponents {
	word := func(i int) int { return int(binary.NativeEndian.Uint32(b[4*i:])) }
	e := &amp.Exponents{N: c.n, Zeros: word(0), Subnormals: word(1), Infs: word(2), NaNs: word(3)}
	if most := binary.NativeEndian.Uint64(b[16:]); most != 0 {
		e.Amax, e.Amin = math.Float64frombits(most), math.Float64frombits(^binary.NativeEndian.Uint64(b[24:]))
	}
	for i := range min(c.n, healthSample) {
		e.Sample = append(e.Sample, math.Float32frombits(uint32(word(8+i))))
	}
	first, last := c.bins, -1
	for i := range c.bins {
		if word(healthHead/4+i) > 0 {
			first, last = min(first, i), i
		}
	}
	if last >= 0 {
		e.Low, e.Counts = c.low+first, make([]int, last-first+1)
		for i := range e.Counts {
			e.Counts[i] = word(healthHead/4 + first + i)
		}
	}
	return e
}

// Exponents waits for the counts; nil while a step is captured, of which the copy would become a part.
func (c *counting) Exponents() *amp.Exponents {
	h := c.ring
	h.mu.Lock()
	defer h.mu.Unlock()
	if !c.done {
		if h.dev.capture.on.Load() {
			return nil
		}
		h.dev.count.syncs.Add(1)
		err := h.dev.do(func() error {
			if p := &h.ring[c.part]; !p.full {
				if err := h.close(); err != nil {
					return err
				}
			}
			return h.read(&h.ring[c.part])
		})
		c.done = c.done || err != nil
	}
	return c.found
}
