package driver

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// An Allocator hands out parts of device memory that it keeps, in the order of streams: a block that is freed is there for the next
// request on the same stream at once, while the device may still be at work in it, since later work on that stream comes later.
// The driver's own Alloc and Free wait for the device and cost a hundred microseconds; a request that is served from what is kept
// costs a fraction of one. It is safe for concurrent use and needs no bound context.
//
// Memory comes from the driver in segments: 2 MB for requests up to 1 MB, 20 MB for those under 10 MB, their own size above. The
// smallest free part that a request fits in is taken, and split; free neighbors are joined again.
type Allocator struct {
	g       *allocators
	name    string
	private bool
	closed  bool
	lists   map[listKey][]*Block // of free blocks, by size and address
	segs    map[DevicePtr]*segment
	spare   []*Block // structs to use again
	stats   AllocatorStats
}

// allocators are those of one context: they share a lock, and what one keeps is given up before another fails.
type allocators struct {
	mu      sync.Mutex
	d       Driver
	ctx     Context
	all     []*Allocator
	limit   uint64
	reclaim func() bool
}

// A Block is memory that was handed out. Its fields are not to be changed.
type Block struct {
	Ptr    DevicePtr
	Bytes  uint64 // at least what was asked for
	What   string // it is for
	Stream Stream // it is free for later work of, once freed

	free       bool
	seg        *segment
	prev, next *Block // neighbors in the segment
	owner      *Allocator
}

type segment struct {
	ptr   DevicePtr
	bytes uint64
	small bool
	first *Block
}

type listKey struct {
	stream Stream
	small  bool
}

// AllocatorStats count an Allocator's memory in bytes and its calls.
type AllocatorStats struct {
	InUse, InUsePeak       uint64 // handed out
	Reserved, ReservedPeak uint64 // taken from the driver
	Blocks, Segments       int
	Allocs, Frees          uint64 // requests
	DriverAllocs           uint64 // calls of the driver's Alloc
	DriverFrees            uint64
	Retries                uint64 // requests that were served after memory had been given up
	Failures               uint64
}

const (
	quantum      = 512
	smallRequest = 1 << 20
	smallSegment = 2 << 20
	largeSegment = 20 << 20
	ownSegment   = 10 << 20 // from here on, a segment of its own
	granule      = 2 << 20
)

// NewAllocator returns an allocator of a context's memory; name is the device's, for errors.
func NewAllocator(d Driver, ctx Context, name string) *Allocator {
	return (&allocators{d: d, ctx: ctx}).add(name, false)
}

func (g *allocators) add(name string, private bool) *Allocator {
	a := &Allocator{g: g, name: name, private: private, lists: map[listKey][]*Block{}, segs: map[DevicePtr]*segment{}}
	g.all = append(g.all, a)
	return a
}

// Private returns an allocator with memory of its own on the same context, for a captured graph: what it hands out during the
// capture stays at its place until Close, and nobody else gets it, however often the graph is replayed.
func (a *Allocator) Private(name string) *Allocator {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	return a.g.add(name, true)
}

// SetLimit sets how many bytes may be taken from the driver for this context; 0 is no limit.
func (a *Allocator) SetLimit(bytes uint64) {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	a.g.limit = bytes
}

// SetReclaim sets what is called when there is no memory left, before a request fails: it frees blocks, and tells whether it could.
func (a *Allocator) SetReclaim(f func() bool) {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	a.g.reclaim = f
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// Alloc returns at least n bytes at a multiple of 512 for work on s; what says what they are for, in statistics and errors. The
// content is arbitrary. An error is a *MemoryError if there is no memory.
func (a *Allocator) Alloc(n uint64, s Stream, what string) (*Block, error) {
	bytes := roundUp(max(n, 1), quantum)
	if bytes < n {
		return nil, fmt.Errorf("driver: %d bytes for %s are more than an address can count", n, what)
	}
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	if a.closed {
		return nil, fmt.Errorf("driver: %s was asked for %d bytes for %s after Close", a.name, n, what)
	}
	b := a.fit(bytes, s)
	if b == nil {
		var err error
		if b, err = a.grow(bytes, s, what); err != nil {
			return nil, err
		}
	}
	a.split(b, bytes)
	b.free, b.What = false, what
	a.stats.Allocs++
	a.stats.Blocks++
	a.stats.InUse += b.Bytes
	a.stats.InUsePeak = max(a.stats.InUsePeak, a.stats.InUse)
	return b, nil
}

// Free returns a block; the work on its stream that is queued by now may still use it.
func (a *Allocator) Free(b *Block) {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	a.put(b)
}

// FreeAfter returns a block that work on another stream uses: its own stream waits for what is queued there by now.
func (a *Allocator) FreeAfter(b *Block, s Stream) error {
	if s != b.Stream {
		err := Do(a.g.d, a.g.ctx, func() error {
			e, err := a.g.d.NewEvent(false)
			if err != nil {
				return err
			}
			if err := a.g.d.RecordEvent(e, s); err != nil {
				return err
			}
			if err := a.g.d.StreamWait(b.Stream, e); err != nil {
				return err
			}
			return a.g.d.DestroyEvent(e)
		})
		if err != nil {
			return err
		}
	}
	a.Free(b)
	return nil
}

func (a *Allocator) put(b *Block) {
	if b.owner != a || b.free {
		panic(fmt.Sprintf("driver: %d bytes for %s were freed twice, or by an allocator that they are not from", b.Bytes, b.What))
	}
	a.stats.Frees++
	a.stats.Blocks--
	a.stats.InUse -= b.Bytes
	b.free = true
	for _, n := range []*Block{b.next, b.prev} {
		if n != nil && n.free && n.Stream == b.Stream {
			a.unlist(n)
			b = a.join(n, b)
		}
	}
	a.list(b)
}

// join makes one block of two free neighbors and returns it.
func (a *Allocator) join(x, y *Block) *Block {
	if x.Ptr > y.Ptr {
		x, y = y, x
	}
	x.Bytes += y.Bytes
	x.next = y.next
	if y.next != nil {
		y.next.prev = x
	}
	*y = Block{}
	a.spare = append(a.spare, y)
	return x
}

// split cuts off what is left of b behind its first bytes, if that is worth a block.
func (a *Allocator) split(b *Block, bytes uint64) {
	rest := b.Bytes - bytes
	if rest < quantum || !b.seg.small && rest <= smallRequest {
		return
	}
	r := a.block()
	*r = Block{Ptr: b.Ptr + DevicePtr(bytes), Bytes: rest, Stream: b.Stream, free: true, seg: b.seg, prev: b, next: b.next, owner: a}
	if b.next != nil {
		b.next.prev = r
	}
	b.next, b.Bytes = r, bytes
	a.list(r)
}

func (a *Allocator) block() *Block {
	if n := len(a.spare); n > 0 {
		b := a.spare[n-1]
		a.spare = a.spare[:n-1]
		return b
	}
	return new(Block)
}

func bySize(x, y *Block) int {
	return cmp.Or(cmp.Compare(x.Bytes, y.Bytes), cmp.Compare(x.Ptr, y.Ptr))
}

func (b *Block) key() listKey { return listKey{b.Stream, b.seg.small} }

func (a *Allocator) list(b *Block) {
	l := a.lists[b.key()]
	i, _ := slices.BinarySearchFunc(l, b, bySize)
	a.lists[b.key()] = slices.Insert(l, i, b)
}

func (a *Allocator) unlist(b *Block) {
	l := a.lists[b.key()]
	i, ok := slices.BinarySearchFunc(l, b, bySize)
	if !ok {
		panic("driver: a free block is in no list")
	}
	a.lists[b.key()] = slices.Delete(l, i, i+1)
}

// fit takes the smallest free block of a stream that holds bytes out of its list.
func (a *Allocator) fit(bytes uint64, s Stream) *Block {
	k := listKey{s, bytes <= smallRequest}
	l := a.lists[k]
	i, _ := slices.BinarySearchFunc(l, bytes, func(b *Block, n uint64) int {
		if b.Bytes < n {
			return -1
		}
		return 1
	})
	if i == len(l) {
		return nil
	}
	b := l[i]
	a.lists[k] = slices.Delete(l, i, i+1)
	return b
}
