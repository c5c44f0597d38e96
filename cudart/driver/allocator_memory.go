package driver

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// grow takes a segment from the driver. Without memory it gives up what is kept, in all allocators of the context, then asks the
// program to, and tries again each time.
func (a *Allocator) grow(bytes uint64, s Stream, what string) (*Block, error) {
	small, n := bytes <= smallRequest, roundUp(bytes, granule)
	switch {
	case small:
		n = smallSegment
	case bytes < ownSegment:
		n = largeSegment
	}
	if err := a.g.d.Bind(a.g.ctx); err != nil {
		return nil, err
	}
	defer a.g.d.Unbind()
	ptr, err := a.take(n)
	for round := 0; errors.Is(err, ErrMemory) && round < 2; round++ {
		switch {
		case round == 0:
			a.g.trim()
		case a.g.reclaim != nil:
			a.g.mu.Unlock() // it frees
			freed := a.g.reclaim()
			a.g.mu.Lock()
			if b := a.fit(bytes, s); b != nil {
				a.stats.Retries++
				return b, nil
			}
			if freed {
				a.g.trim()
			}
		}
		if n > roundUp(bytes, granule) && round > 0 {
			n = roundUp(bytes, granule) // a smaller segment than usual
		}
		if ptr, err = a.take(n); err == nil {
			a.stats.Retries++
		}
	}
	if errors.Is(err, ErrMemory) {
		a.stats.Failures++
		return nil, a.exhausted(bytes, what, err)
	}
	if err != nil {
		return nil, err
	}
	a.stats.Reserved += n
	a.stats.ReservedPeak = max(a.stats.ReservedPeak, a.stats.Reserved)
	a.stats.Segments++
	seg := &segment{ptr: ptr, bytes: n, small: small}
	b := a.block()
	*b = Block{Ptr: ptr, Bytes: n, Stream: s, seg: seg, owner: a}
	seg.first = b
	a.segs[ptr] = seg
	return b, nil
}

func (a *Allocator) take(n uint64) (DevicePtr, error) {
	if limit := a.g.limit; limit > 0 && a.g.reserved()+n > limit {
		return 0, fmt.Errorf("%w: the program's limit is %s", ErrMemory, Bytes(limit))
	}
	a.stats.DriverAllocs++
	return a.g.d.Alloc(n)
}

// ReservedInAll returns the bytes that all allocators of the context, those of captured graphs too, took from the driver.
func (a *Allocator) ReservedInAll() uint64 {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	return a.g.reserved()
}

func (g *allocators) reserved() (n uint64) {
	for _, a := range g.all {
		n += a.stats.Reserved
	}
	return n
}

// trim gives segments without a block in use back to the driver, which waits for the device. The context is bound.
func (g *allocators) trim() (bytes uint64) {
	for _, a := range g.all {
		if a.private && !a.closed {
			continue // a graph's memory stays where it is
		}
		for _, seg := range slices.SortedFunc(maps.Values(a.segs), func(x, y *segment) int { return cmp.Compare(x.ptr, y.ptr) }) {
			if seg.first.free && seg.first.next == nil && a.release(seg) == nil {
				bytes += seg.bytes
			}
		}
	}
	return bytes
}

func (a *Allocator) release(seg *segment) error {
	a.stats.DriverFrees++
	err := a.g.d.Free(seg.ptr)
	if err != nil && !errors.Is(err, ErrLost) {
		return err
	}
	a.unlist(seg.first)
	a.spare = append(a.spare, seg.first)
	delete(a.segs, seg.ptr)
	a.stats.Reserved -= seg.bytes
	a.stats.Segments--
	return err
}

// Trim returns the segments that no block is in to the driver, for other processes, and tells how many bytes they were. It waits
// for the device. Blocks that lie in a segment keep all of it.
func (a *Allocator) Trim() (bytes uint64, err error) {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	err = Do(a.g.d, a.g.ctx, func() error { bytes = a.g.trim(); return nil })
	return bytes, err
}

// Close returns all memory to the driver. Blocks that are still in use are an error that names them; their memory is kept.
func (a *Allocator) Close() error {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	if a.stats.Blocks > 0 {
		return fmt.Errorf("driver: %s is closed while blocks are in use: %s", a.name, holderList(a.holders(), 5))
	}
	a.closed = true
	err := Do(a.g.d, a.g.ctx, func() error { a.g.trim(); return nil })
	if len(a.segs) == 0 {
		a.g.all = slices.DeleteFunc(a.g.all, func(x *Allocator) bool { return x == a })
	}
	return err
}

// Stats returns the present counts.
func (a *Allocator) Stats() AllocatorStats {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	return a.stats
}

// ResetPeaks makes the present counts the peaks.
func (a *Allocator) ResetPeaks() {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	a.stats.InUsePeak, a.stats.ReservedPeak = a.stats.InUse, a.stats.Reserved
}

// A Holder is what blocks are for, and how much they are together.
type Holder struct {
	What   string
	Bytes  uint64
	Blocks int
}

// Holders returns what the memory in use is for, the most first.
func (a *Allocator) Holders() []Holder {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	return a.holders()
}

func (a *Allocator) holders() []Holder {
	sums := map[string]*Holder{}
	for _, seg := range a.segs {
		for b := seg.first; b != nil; b = b.next {
			if b.free {
				continue
			}
			h := sums[b.What]
			if h == nil {
				h = &Holder{What: b.What}
				sums[b.What] = h
			}
			h.Bytes += b.Bytes
			h.Blocks++
		}
	}
	out := make([]Holder, 0, len(sums))
	for _, h := range sums {
		out = append(out, *h)
	}
	slices.SortFunc(out, func(x, y Holder) int { return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.What, y.What)) })
	return out
}

// A MemoryError says what there is and who has it. It wraps ErrMemory.
type MemoryError struct {
	Device      string
	Want        uint64
	What        string // the request was for
	Total, Free uint64 // of the device; 0 if it does not say
	InUse       uint64 // of this process, in blocks
	Cached      uint64 // of this process, in no block
	LargestFree uint64 // the largest piece of what is cached
	Holders     []Holder
	Err         error
}

func (e *MemoryError) Unwrap() error { return e.Err }

func (e *MemoryError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: no %s for %s", e.Device, Bytes(e.Want), e.What)
	if e.Total > 0 {
		fmt.Fprintf(&b, ": %s of %s are free", Bytes(e.Free), Bytes(e.Total))
	}
	fmt.Fprintf(&b, "; in use here are %s", Bytes(e.InUse))
	if len(e.Holders) > 0 {
		fmt.Fprintf(&b, " (%s)", holderList(e.Holders, 5))
	}
	if e.Cached > 0 {
		fmt.Fprintf(&b, ", and %s lie free between them in pieces of at most %s", Bytes(e.Cached), Bytes(e.LargestFree))
	}
	if used := e.Total - e.Free; e.Total > 0 && used > e.InUse+e.Cached {
		fmt.Fprintf(&b, "; other processes and CUDA itself hold %s", Bytes(used-e.InUse-e.Cached))
	}
	fmt.Fprintf(&b, "; take a smaller batch, release tensors earlier, or compute in 16 bits: %v", e.Err)
	return b.String()
}

func holderList(list []Holder, most int) string {
	var parts []string
	for i, h := range list {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(list)-most))
			break
		}
		times := ""
		if h.Blocks > 1 {
			times = fmt.Sprintf(" in %d blocks", h.Blocks)
		}
		parts = append(parts, fmt.Sprintf("%s %s%s", h.What, Bytes(h.Bytes), times))
	}
	return strings.Join(parts, ", ")
}

// exhausted collects what all allocators of the context have. The context is bound.
func (a *Allocator) exhausted(bytes uint64, what string, err error) error {
	e := &MemoryError{Device: a.name, Want: bytes, What: what, Err: err}
	if free, total, err := a.g.d.MemInfo(); err == nil {
		e.Free, e.Total = free, total
	}
	for _, other := range a.g.all {
		e.InUse += other.stats.InUse
		e.Cached += other.stats.Reserved - other.stats.InUse
		for _, l := range other.lists {
			if len(l) > 0 {
				e.LargestFree = max(e.LargestFree, l[len(l)-1].Bytes)
			}
		}
		for _, h := range other.holders() {
			if other != a {
				h.What += " (" + other.name + ")"
			}
			e.Holders = append(e.Holders, h)
		}
	}
	slices.SortStableFunc(e.Holders, func(x, y Holder) int { return cmp.Compare(y.Bytes, x.Bytes) })
	return e
}

// Bytes writes a number of bytes as people do.
func Bytes(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
