package cudart

import (
	"encoding/binary"
	"sync"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Copies go through page-locked memory, so that those to the device need not wait for it: a ring of segments, each free again when
// the event behind its last copy has passed.
const (
	segmentBytes = 1 << 20
	segments     = 8
)

// staging is the ring, made at the first copy.
type staging struct {
	dev  *device
	mu   sync.Mutex
	ring []segment
	at   int // segment being filled
	fill int // bytes of it in use
}

type segment struct {
	mem   []byte
	done  driver.Event
	armed bool // done was recorded and not waited for
}

// begin makes the ring; the context is bound and the lock held.
func (g *staging) begin() error {
	if g.ring != nil {
		return nil
	}
	mem, err := g.dev.drv.HostAlloc(segments * segmentBytes)
	if err != nil {
		return err
	}
	ring := make([]segment, segments)
	for i := range ring {
		if ring[i].done, err = g.dev.drv.NewEvent(false); err != nil {
			for _, s := range ring[:i] {
				_ = g.dev.drv.DestroyEvent(s.done)
			}
			_ = g.dev.drv.HostFree(mem)
			return err
		}
		ring[i].mem = mem[i*segmentBytes:][:segmentBytes:segmentBytes]
	}
	g.ring = ring
	return nil
}

// room returns up to n bytes of the ring that the device does not read any more.
func (g *staging) room(n int) ([]byte, error) {
	if g.fill == segmentBytes || n <= segmentBytes && g.fill+n > segmentBytes {
		if err := g.next(); err != nil {
			return nil, err
		}
	}
	mem := g.ring[g.at].mem[g.fill:]
	mem = mem[:min(n, len(mem))]
	g.fill = min(segmentBytes, (g.fill+len(mem)+63)&^63)
	return mem, nil
}

// next closes the present segment and waits for the oldest one if the device is that far behind.
func (g *staging) next() error {
	cur := &g.ring[g.at]
	if err := g.dev.drv.RecordEvent(cur.done, g.dev.stream); err != nil {
		return err
	}
	cur.armed = true
	following := (g.at + 1) % segments
	if s := &g.ring[following]; s.armed {
		if err := g.dev.drv.SyncEvent(s.done); err != nil { // the next copy tries again
			return err
		}
		s.armed = false
	}
	g.at, g.fill = following, 0
	return nil
}

// CopyIn queues a copy to the device. It waits only when eight megabytes are under way.
func (d *device) CopyIn(dst amp.Buffer, at int, src []byte) error {
	if err := d.admit(); err != nil {
		return err
	}
	defer d.finish()
	if err := d.refuse("values from the host would be the same in every replay", "make the tensor before Capture, and change it in place between replays"); err != nil {
		return err
	}
	d.count.uploads.Add(1)
	return d.upload(dst, at, src)
}

func (d *device) upload(dst amp.Buffer, at int, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	if err := d.ready(dst); err != nil {
		return err
	}
	to := blockOf(dst).ptr + driver.DevicePtr(at)
	g := &d.stage
	g.mu.Lock()
	defer g.mu.Unlock()
	return d.do(func() error {
		if err := g.begin(); err != nil {
			return err
		}
		for len(src) > 0 {
			mem, err := g.room(len(src))
			if err != nil {
				return err
			}
			n := copy(mem, src)
			if err := d.drv.CopyHtoDAsync(to, mem[:n], d.stream); err != nil {
				return err
			}
			src, to = src[n:], to+driver.DevicePtr(n)
		}
		return nil
	})
}

// CopyOut waits for all that was queued and copies to the host. It returns an index out of range that a kernel found by then as an error.
func (d *device) CopyOut(dst []byte, src amp.Buffer, at int) error {
	if err := d.admit(); err != nil {
		return err
	}
	defer d.finish()
	if err := d.refuse("values can't be read while a step is captured: nothing has been computed", "read them after Replay"); err != nil {
		return err
	}
	d.count.downloads.Add(1)
	d.count.syncs.Add(1)
	return d.download(dst, src, at)
}

func (d *device) download(dst []byte, src amp.Buffer, at int) error {
	if len(dst) == 0 {
		return nil
	}
	if err := d.ready(src); err != nil {
		return err
	}
	from := blockOf(src).ptr + driver.DevicePtr(at)
	return d.do(func() error {
		if err := d.drv.CopyDtoHAsync(dst, from, d.stream); err != nil {
			return err
		}
		return d.settle()
	})
}

// Copy queues a copy within the device.
func (d *device) Copy(dst amp.Buffer, to int, src amp.Buffer, from, n int) error {
	if err := d.admit(); err != nil {
		return err
	}
	defer d.finish()
	d.count.copies.Add(1)
	if err := d.ready(dst, src); err != nil {
		return err
	}
	return d.do(func() error {
		return d.drv.CopyDtoD(blockOf(dst).ptr+driver.DevicePtr(to), blockOf(src).ptr+driver.DevicePtr(from), uint64(n), d.stream)
	})
}

// Fill queues the writing of n equal elements.
func (d *device) Fill(dst amp.Buffer, at int, pattern []byte, n int) error {
	if n == 0 {
		return nil
	}
	if err := d.admit(); err != nil {
		return err
	}
	defer d.finish()
	d.count.fills.Add(1)
	if err := d.ready(dst); err != nil {
		return err
	}
	p, m := blockOf(dst).ptr+driver.DevicePtr(at), uint64(n)
	return d.do(func() error {
		switch len(pattern) {
		case 1:
			return d.drv.Memset8(p, pattern[0], m, d.stream)
		case 2:
			return d.drv.Memset16(p, binary.NativeEndian.Uint16(pattern), m, d.stream)
		case 4:
			return d.drv.Memset32(p, binary.NativeEndian.Uint32(pattern), m, d.stream)
		}
		return d.fill64(p, binary.NativeEndian.Uint32(pattern), binary.NativeEndian.Uint32(pattern[4:]), m)
	})
}

// fill64 writes one element by its halves and doubles what is there.
func (d *device) fill64(p driver.DevicePtr, lo, hi uint32, n uint64) error {
	if lo == hi {
		return d.drv.Memset32(p, lo, 2*n, d.stream)
	}
	if err := d.drv.Memset32(p, lo, 1, d.stream); err != nil {
		return err
	}
	if err := d.drv.Memset32(p+4, hi, 1, d.stream); err != nil {
		return err
	}
	for have := uint64(1); have < n; have *= 2 {
		if err := d.drv.CopyDtoD(p+driver.DevicePtr(8*have), p, 8*min(have, n-have), d.stream); err != nil {
			return err
		}
	}
	return nil
}
