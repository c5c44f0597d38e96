package drivertest

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// allocator: blocks change hands in stream order, while work that uses them is still queued.
func allocator(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	step := s.kernel(t, "drivertest_step")
	a := driver.NewAllocator(s.d, s.ctx, "cuda:0")
	result := s.alloc(t, 4*200)
	r := rand.New(rand.NewPCG(1, 2))
	// A chain of products, each in a block that the last but one has just left.
	var last *driver.Block
	want := make([]uint32, 200)
	v := uint32(1)
	for i := range want {
		b, err := a.Alloc(uint64(4+r.IntN(3<<20)), st, "link")
		check(t, err)
		if last == nil {
			check(t, s.d.Memset32(b.Ptr, 1, 1, st))
		} else {
			check(t, s.d.CopyDtoD(b.Ptr, last.Ptr, 4, st))
			a.Free(last)
		}
		s.step(t, step, st, b.Ptr, 3, int32(i))
		v = v*3 + uint32(i)
		want[i] = v
		check(t, s.d.CopyDtoD(result+driver.DevicePtr(4*i), b.Ptr, 4, st))
		last = b
	}
	got := make([]uint32, len(want))
	check(t, s.d.SyncStream(st), s.d.CopyDtoH(raw(got), result))
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("link %d is %d, want %d", i, got[i], want[i])
		}
	}
	stats := a.Stats()
	if stats.DriverAllocs > 12 || stats.Allocs != 200 || stats.Blocks != 1 {
		t.Errorf("%+v", stats)
	}
	_, total, err := s.d.MemInfo()
	check(t, err)
	var m *driver.MemoryError
	if _, err := a.Alloc(total, st, "everything"); !errors.As(err, &m) || !errors.Is(err, driver.ErrMemory) || m.Total != total || len(m.Holders) != 1 || m.Holders[0].What != "link" {
		t.Errorf("%v", err)
	}
	a.Free(last)
	if _, err := a.Trim(); err != nil || a.Stats().Reserved != 0 {
		t.Errorf("after trimming: %+v, %v", a.Stats(), err)
	}
	check(t, a.Close())
}

// privateAllocator: a graph's memory is its own, between replays as well.
func privateAllocator(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	if !s.supported(t, "capture", s.d.BeginCapture(st)) {
		return
	}
	_, err := s.d.EndCapture(st)
	check(t, err)
	step := s.kernel(t, "drivertest_step")
	a := driver.NewAllocator(s.d, s.ctx, "cuda:0")
	p := a.Private("the graph")
	in, out := s.alloc(t, 4), s.alloc(t, 4)
	check(t, s.d.BeginCapture(st))
	x, err := p.Alloc(4, st, "x") // takes memory from the driver while this thread captures
	check(t, err, s.d.CopyDtoD(x.Ptr, in, 4, st))
	y, err := p.Alloc(4, st, "y")
	check(t, err)
	s.step(t, step, st, x.Ptr, 3, 1)
	check(t, s.d.CopyDtoD(y.Ptr, x.Ptr, 4, st))
	was := x.Ptr
	p.Free(x)
	z, err := p.Alloc(4, st, "z") // where x was
	check(t, err, s.d.CopyDtoD(z.Ptr, y.Ptr, 4, st))
	s.step(t, step, st, z.Ptr, 5, 2)
	check(t, s.d.CopyDtoD(out, z.Ptr, 4, st))
	if was != z.Ptr {
		t.Error("the freed block was not used again")
	}
	p.Free(y)
	p.Free(z)
	g, err := s.d.EndCapture(st)
	check(t, err)
	exec, err := s.d.Instantiate(g)
	check(t, err)
	for i := range uint32(20) {
		other, err := a.Alloc(4, st, "eager") // never the graph's
		check(t, err, s.d.Memset32(other.Ptr, 99, 1, st), s.d.Memset32(in, i, 1, st), s.d.LaunchGraph(exec, st))
		a.Free(other)
		check(t, s.d.SyncStream(st))
		if got, want := s.word(t, out), (i*3+1)*5+2; got != want {
			t.Errorf("replay %d: %d, want %d", i, got, want)
		}
	}
	check(t, s.d.SyncStream(st), s.d.DestroyGraphExec(exec), s.d.DestroyGraph(g), p.Close(), a.Close())
}
