//go:build linux && (amd64 || arm64)

package driver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// A region is a driver of which only what an Allocator calls is there: addresses without memory, up to a number of bytes.
type region struct {
	Driver
	mu          sync.Mutex
	total, used uint64
	next        DevicePtr
	blocks      map[DevicePtr]uint64
	waits       []string
}

func newRegion(total uint64) *region {
	return &region{total: total, next: 1 << 30, blocks: map[DevicePtr]uint64{}}
}

func (h *region) Bind(Context) error { return nil }
func (h *region) Unbind()            {}
func (h *region) Alloc(n uint64) (DevicePtr, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.used+n > h.total {
		return 0, &Error{Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Call: "cuMemAlloc_v2", Kind: ErrMemory}
	}
	p := h.next
	h.next += DevicePtr(n + 1<<20)
	h.used += n
	h.blocks[p] = n
	return p, nil
}
func (h *region) Free(p DevicePtr) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, ok := h.blocks[p]
	if !ok {
		return errors.New("freed what was not allocated")
	}
	delete(h.blocks, p)
	h.used -= n
	return nil
}
func (h *region) MemInfo() (uint64, uint64, error) { return h.total - h.used, h.total + 1<<20, nil }
func (h *region) NewEvent(bool) (Event, error)     { return 5, nil }
func (h *region) DestroyEvent(Event) error         { return nil }
func (h *region) RecordEvent(_ Event, s Stream) error {
	h.waits = append(h.waits, fmt.Sprint("record ", s))
	return nil
}
func (h *region) StreamWait(s Stream, _ Event) error {
	h.waits = append(h.waits, fmt.Sprint("wait ", s))
	return nil
}

// verify checks that an allocator's blocks tile its segments, that free neighbors are joined and that the counts are right.
func (a *Allocator) verify(t *testing.T) {
	t.Helper()
	var inUse, reserved uint64
	blocks, listed := 0, 0
	for _, seg := range a.segs {
		at := seg.ptr
		for b := seg.first; b != nil; b = b.next {
			if b.Ptr != at || b.Bytes == 0 || b.Bytes%quantum != 0 || b.owner != a || b.seg != seg || b.next != nil && b.next.prev != b {
				t.Fatalf("block %+v at %#x of segment %+v", b, at, seg)
			}
			if b.free && b.next != nil && b.next.free && b.next.Stream == b.Stream {
				t.Fatal("free neighbors are apart")
			}
			if b.free {
				listed++
			} else {
				inUse += b.Bytes
				blocks++
			}
			at += DevicePtr(b.Bytes)
		}
		if at != seg.ptr+DevicePtr(seg.bytes) {
			t.Fatalf("blocks of a segment of %d bytes end at %d", seg.bytes, at-seg.ptr)
		}
		reserved += seg.bytes
	}
	for _, l := range a.lists {
		listed -= len(l)
	}
	if listed != 0 || a.stats.InUse != inUse || a.stats.Reserved != reserved || a.stats.Blocks != blocks || a.stats.Segments != len(a.segs) {
		t.Fatalf("%d unlisted, %d in use, %d reserved, %d blocks: %+v", listed, inUse, reserved, blocks, a.stats)
	}
}

func TestAllocatorServesFromWhatItKeeps(t *testing.T) {
	h := newRegion(1 << 30)
	a := NewAllocator(h, 1, "cuda:0")
	step := func() {
		var blocks []*Block
		for i, n := range []uint64{0, 1, 513, 64 << 10, 1 << 20, 3 << 20, 12 << 20} {
			b, err := a.Alloc(n, 7, "activation")
			if err != nil {
				t.Fatal(err)
			}
			if b.Bytes < n || b.Ptr%512 != 0 {
				t.Errorf("%d bytes: %+v", n, b)
			}
			if blocks = append(blocks, b); i%3 == 2 {
				a.Free(blocks[i-1])
				blocks[i-1] = blocks[0]
			}
		}
		seen := map[*Block]bool{}
		for _, b := range blocks {
			if !seen[b] {
				a.Free(b)
			}
			seen[b] = true
		}
	}
	step()
	first := a.Stats()
	for range 50 {
		step()
	}
	a.verify(t)
	if s := a.Stats(); s.DriverAllocs != first.DriverAllocs || s.InUse != 0 || s.Allocs != 51*first.Allocs || s.InUsePeak != first.InUsePeak {
		t.Errorf("after one step %+v, after 51 %+v", first, s)
	}
	if n := testing.AllocsPerRun(50, step); n > 12 { // the test's own slice and map
		t.Errorf("a step takes %g allocations", n)
	}
	if bytes, err := a.Trim(); err != nil || bytes != first.Reserved || h.used != 0 {
		t.Errorf("trimmed %d of %d, %v", bytes, first.Reserved, err)
	}
	a.verify(t)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := a.Alloc(1, 7, "late"); err == nil || !strings.Contains(err.Error(), "Close") {
		t.Error(err)
	}
}

// TestAllocatorNeverOverlaps allocates and frees at random on several streams.
func TestAllocatorNeverOverlaps(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 4))
		h := newRegion(200 << 20)
		a := NewAllocator(h, 1, "cuda:0")
		var live []*Block
		failures := 0
		for step := range 3000 {
			if len(live) > 0 && (r.IntN(2) == 0 || len(live) > 200) {
				i := r.IntN(len(live))
				a.Free(live[i])
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
				continue
			}
			n := uint64(r.IntN(1<<r.IntN(25)) + 1)
			b, err := a.Alloc(n, Stream(r.IntN(3)), fmt.Sprint("tensor ", n%7))
			if errors.Is(err, ErrMemory) {
				failures++
				for len(live) > 50 {
					a.Free(live[len(live)-1])
					live = live[:len(live)-1]
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range live {
				if b.Ptr < o.Ptr+DevicePtr(o.Bytes) && o.Ptr < b.Ptr+DevicePtr(b.Bytes) {
					t.Fatalf("seed %d, step %d: %+v and %+v overlap", seed, step, b, o)
				}
			}
			live = append(live, b)
			if step%100 == 0 {
				a.verify(t)
			}
		}
		for _, b := range live {
			a.Free(b)
		}
		a.verify(t)
		if _, err := a.Trim(); err != nil || h.used != 0 {
			t.Errorf("seed %d: %d bytes are left, %v (%d failures)", seed, h.used, err, failures)
		}
	}
}

func TestAllocatorStreamsAreApart(t *testing.T) {
	h := newRegion(1 << 30)
	a := NewAllocator(h, 1, "cuda:0")
	x, err := a.Alloc(5<<20, 1, "x")
	if err != nil {
		t.Fatal(err)
	}
	a.Free(x)
	y, _ := a.Alloc(5<<20, 2, "y")
	if y.seg == x.seg && y.Ptr == x.Ptr {
		t.Error("a stream got memory that another may still be at work in")
	}
	z, _ := a.Alloc(5<<20, 1, "z")
	if z.Ptr != x.Ptr {
		t.Error("the stream did not get its own memory back")
	}
	if err := a.FreeAfter(z, 2); err != nil || fmt.Sprint(h.waits) != "[record 2 wait 1]" {
		t.Errorf("%v, %v", h.waits, err)
	}
	func() {
		defer func() {
			if r := fmt.Sprint(recover()); !strings.Contains(r, "freed twice") {
				t.Error(r)
			}
		}()
		a.Free(z)
	}()
}

func TestAllocatorWithoutMemory(t *testing.T) {
	h := newRegion(64 << 20)
	a := NewAllocator(h, 1, "cuda:0")
	weight, err := a.Alloc(24<<20, 1, "fc1.weight")
	if err != nil {
		t.Fatal(err)
	}
	// What is kept for one stream is given up for another.
	kept, _ := a.Alloc(30<<20, 1, "activation")
	a.Free(kept)
	other, err := a.Alloc(34<<20, 2, "batch")
	if err != nil || a.Stats().Retries != 1 {
		t.Fatalf("%v, %+v", err, a.Stats())
	}
	// Then there is none.
	_, err = a.Alloc(16<<20, 1, "softmax")
	var m *MemoryError
	if !errors.Is(err, ErrMemory) || !errors.As(err, &m) || m.Want != 16<<20 || m.InUse != 58<<20 || len(m.Holders) != 2 || m.Holders[0].What != "batch" {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"cuda:0: no 16.0 MiB for softmax", "6.0 MiB of 65.0 MiB are free", "batch 34.0 MiB, fc1.weight 24.0 MiB", "other processes and CUDA itself hold 1.0 MiB"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	// The program can help.
	a.SetReclaim(func() bool { a.Free(other); return true })
	if _, err := a.Alloc(16<<20, 1, "softmax"); err != nil {
		t.Error(err)
	}
	if err := a.Close(); err == nil || !strings.Contains(err.Error(), "fc1.weight") {
		t.Error(err)
	}
	a.Free(weight)
	a.verify(t)
	// A limit of its own.
	b := NewAllocator(newRegion(1<<30), 1, "cuda:0")
	b.SetLimit(8 << 20)
	if _, err := b.Alloc(9<<20, 1, "big"); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "limit is 8.0 MiB") {
		t.Error(err)
	}
	if _, err := b.Alloc(3<<20, 1, "fits in a smaller segment than usual"); err != nil {
		t.Error(err)
	}
}

func TestPrivateAllocator(t *testing.T) {
	h := newRegion(64 << 20)
	a := NewAllocator(h, 1, "cuda:0")
	g := a.Private("graph")
	b, err := g.Alloc(40<<20, 1, "captured")
	if err != nil {
		t.Fatal(err)
	}
	g.Free(b) // during the capture: the graph may use it again, and nobody else
	if _, err := a.Alloc(40<<20, 1, "eager"); !errors.Is(err, ErrMemory) {
		t.Errorf("the graph's memory was handed out: %v", err)
	}
	again, err := g.Alloc(40<<20, 1, "captured too")
	if err != nil || again.Ptr != b.Ptr {
		t.Errorf("%+v, %v", again, err)
	}
	g.Free(again)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Alloc(40<<20, 1, "eager"); err != nil {
		t.Error(err)
	}
}

func BenchmarkAllocator(b *testing.B) {
	a := NewAllocator(newRegion(1<<40), 1, "cuda:0")
	var live [64]*Block
	for i := range live {
		live[i], _ = a.Alloc(uint64(i+1)<<16, 1, "x")
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k := i * 37 % 64
		a.Free(live[k])
		live[k], _ = a.Alloc(uint64(k+1)<<16, 1, "x")
	}
}
