package drivertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

func random(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(uint64(n), 1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func allocation(t *testing.T, s *suite) {
	s.bind(t)
	free, total, err := s.d.MemInfo()
	if check(t, err); free == 0 || free > total {
		t.Errorf("%d bytes of %d are free", free, total)
	}
	for _, n := range []int{1, 3, 512, 1 << 20, 5<<20 + 1} {
		if p := s.alloc(t, n); p%256 != 0 {
			t.Errorf("%d bytes are at %#x", n, p)
		}
	}
	var e *driver.Error
	if _, err := s.d.Alloc(total + 1<<30); !errors.Is(err, driver.ErrMemory) || !errors.As(err, &e) || e.Name != "CUDA_ERROR_OUT_OF_MEMORY" || e.Op == "" {
		t.Errorf("more than there is: %v", err)
	}
	// It is no lasting error.
	p, err := s.d.Alloc(64)
	check(t, err, s.d.Free(p))
	if _, err := s.d.Alloc(0); err == nil {
		t.Error("nothing was allocated without an error")
	}
}

func copies(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	for _, n := range []int{1, 4093, 1<<20 + 7} {
		in, out := random(n), make([]byte, n)
		a, b := s.alloc(t, n), s.alloc(t, n)
		check(t, s.d.CopyHtoD(a, in), s.d.CopyDtoD(b, a, uint64(n), st), s.d.SyncStream(st), s.d.CopyDtoH(out, b))
		if !bytes.Equal(in, out) {
			t.Errorf("%d bytes came back changed", n)
		}
		// Parts of it.
		if n > 100 {
			check(t, s.d.CopyHtoD(b+17, in[:50]), s.d.CopyDtoH(out[:60], b+10))
			if !bytes.Equal(out[7:57], in[:50]) || !bytes.Equal(out[:7], in[10:17]) {
				t.Error("a part went to the wrong place")
			}
		}
	}
	// A copy is over when it returns: no other stream overtakes it.
	for round := range 40 {
		n := 64<<10 + round*50_000
		in, out := random(n), make([]byte, n)
		a, b := s.alloc(t, n), s.alloc(t, n)
		check(t, s.d.CopyHtoD(a, in), s.d.CopyDtoD(b, a, uint64(n), st), s.d.SyncStream(st), s.d.CopyDtoH(out, b))
		if !bytes.Equal(in, out) {
			t.Fatalf("round %d: %d bytes were copied on before they had arrived", round, n)
		}
	}
	check(t, s.d.CopyHtoD(0, nil), s.d.CopyDtoH(nil, 0), s.d.CopyDtoD(0, 0, 0, st))
}

func memsets(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	p := s.alloc(t, 64)
	out := make([]byte, 64)
	check(t, s.d.Memset8(p, 0xee, 64, st), s.d.Memset8(p, 0x5a, 3, st), s.d.Memset16(p+4, 0x1234, 5, st), s.d.Memset32(p+16, 0xdeadbeef, 2, st),
		s.d.Memset32(p, 0, 0, st), s.d.SyncStream(st), s.d.CopyDtoH(out, p))
	want := bytes.Repeat([]byte{0xee}, 64)
	copy(want, []byte{0x5a, 0x5a, 0x5a})
	for i := range 5 {
		binary.NativeEndian.PutUint16(want[4+2*i:], 0x1234)
	}
	for i := range 2 {
		binary.NativeEndian.PutUint32(want[16+4*i:], 0xdeadbeef)
	}
	if !bytes.Equal(out, want) {
		t.Errorf("% x", out)
	}
	if err := s.d.Memset16(p+1, 1, 2, st); err == nil {
		t.Error("16-bit values were written to an odd address")
	}
}

func pinned(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	const n = 1 << 20
	in, err := s.d.HostAlloc(n)
	check(t, err)
	out, err := s.d.HostAlloc(n)
	check(t, err)
	p := s.alloc(t, n)
	copy(in, random(n))
	check(t, s.d.CopyHtoDAsync(p, in, st), s.d.CopyDtoHAsync(out[:n/2], p, st), s.d.CopyDtoHAsync(out[n/2:], p+n/2, st), s.d.SyncStream(st))
	if !bytes.Equal(in, out) {
		t.Error("bytes came back changed")
	}
	if err := s.d.HostFree(in[1:]); err == nil {
		t.Error("a part of a block was freed")
	}
	check(t, s.d.HostFree(in), s.d.HostFree(out))
	if err := s.d.HostFree(out); err == nil {
		t.Error("a block was freed twice")
	}
	if _, err := s.d.HostAlloc(0); err == nil {
		t.Error("no bytes were allocated without an error")
	}
}

// pageable copies are done with Go's memory when they return.
func pageable(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	spin := s.kernel(t, "drivertest_spin")
	for _, n := range []int{100, 70 << 10, 3 << 20} {
		in, out := random(n), make([]byte, n)
		want := bytes.Clone(in)
		p, word := s.alloc(t, n), s.alloc(t, 4)
		a := driver.GetArgs("spin").Ptr(word).Int64(1 << 16).Int32(1)
		check(t, s.d.Launch(spin, one, one, 0, st, a))
		a.Put()
		check(t, s.d.CopyHtoDAsync(p, in, st))
		clear(in)
		check(t, s.d.CopyDtoHAsync(out, p, st))
		if !bytes.Equal(out, want) {
			t.Errorf("%d bytes came back changed", n)
		}
		check(t, s.d.SyncStream(st))
	}
}

func asyncAllocation(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	first, err := s.d.AllocAsync(1000, st)
	if !s.supported(t, "async", err) {
		return
	}
	step := s.kernel(t, "drivertest_step")
	check(t, s.d.Memset32(first, 5, 1, st))
	s.step(t, step, st, first, 3, 1)
	second, err := s.d.AllocAsync(4, st)
	check(t, err, s.d.CopyDtoD(second, first, 4, st), s.d.FreeAsync(first, st), s.d.SyncStream(st))
	if got := s.word(t, second); got != 16 {
		t.Errorf("%d, want 16", got)
	}
	check(t, s.d.FreeAsync(second, st), s.d.SyncStream(st))
	_, total, err := s.d.MemInfo()
	check(t, err)
	if _, err := s.d.AllocAsync(total+1<<30, st); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("more than there is: %v", err)
	}
}

func pools(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	p, err := s.d.DefaultPool(s.dev)
	if !s.supported(t, "pools", err) {
		return
	}
	check(t, s.d.SetPoolThreshold(p, 1<<40))
	own, err := s.d.NewPool(s.dev)
	check(t, err, s.d.SetPoolThreshold(own, 1<<40))
	a, err := s.d.AllocFromPool(8<<20, own, st)
	check(t, err)
	st1, err := s.d.PoolStats(own)
	if check(t, err); st1.Used < 8<<20 || st1.Reserved < st1.Used || st1.UsedHigh < st1.Used || st1.ReservedHigh < st1.Reserved {
		t.Errorf("with 8 MB in use: %+v", st1)
	}
	check(t, s.d.FreeAsync(a, st), s.d.SyncStream(st))
	st2, err := s.d.PoolStats(own)
	if check(t, err); st2.Used != st1.Used-8<<20 || st2.UsedHigh < st1.Used {
		t.Errorf("in use %d, then %d", st1.Used, st2.Used)
	}
	check(t, s.d.TrimPool(own, 0))
	if st3, err := s.d.PoolStats(own); err != nil || st3.Reserved > st2.Reserved {
		t.Errorf("after trimming %+v, before %+v: %v", st3, st2, err)
	}
	check(t, s.d.DestroyPool(own))
}
