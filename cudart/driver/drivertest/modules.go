package drivertest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/halftone-ml/halftone/cudart/driver"
)

func modules(t *testing.T, s *suite) {
	s.bind(t)
	if _, _, err := s.d.LoadModule(nil, driver.JIT{}); err == nil {
		t.Error("an empty image was loaded")
	}
	var e *driver.Error
	if _, log, err := s.d.LoadModule([]byte("this is no code"), driver.JIT{}); !errors.Is(err, driver.ErrImage) || !errors.As(err, &e) {
		t.Errorf("what is no code was loaded: %q, %v", log, err)
	}
	broken := bytes.Replace(PTX, []byte("mad.lo"), []byte("mad.oops"), 1)
	broken = bytes.Replace(broken, []byte(".entry"), []byte(".entrance"), -1)
	if _, log, err := s.d.LoadModule(broken, driver.JIT{}); !errors.Is(err, driver.ErrImage) || !strings.Contains(log, "line") || !strings.Contains(err.Error(), log) {
		t.Errorf("broken PTX: log %q, error %v", log, err)
	}
	m, _, err := s.d.LoadModule(PTX, driver.JIT{LineInfo: true, MaxRegisters: 32})
	check(t, err)
	if _, err := s.d.Function(m, "drivertest_absent"); !errors.Is(err, driver.ErrNotFound) || !strings.Contains(err.Error(), "drivertest_absent") {
		t.Errorf("a kernel that is not there: %v", err)
	}
	f, err := s.d.Function(m, "drivertest_saxpy")
	check(t, err)
	for a, limit := range map[driver.FunctionAttribute]int{driver.FuncMaxThreads: 1024, driver.FuncRegisters: 32, driver.FuncLocalBytes: 1 << 16} {
		if v, err := s.d.FunctionAttribute(f, a); err != nil || v < 0 || v > limit {
			t.Errorf("attribute %d is %d, %v", a, v, err)
		}
	}
	if p, ok := s.d.(driver.ParamSizer); ok {
		g, err := s.d.Function(m, "drivertest_struct")
		check(t, err)
		for of, want := range map[driver.Function][]int{f: {8, 8, 4, 8}, g: {4, 56, 4}} {
			if sizes, err := p.ParamSizes(of); !slices.Equal(sizes, want) && !errors.Is(err, driver.ErrUnsupported) {
				t.Errorf("parameters of %v bytes, want %v: %v", sizes, want, err)
			}
		}
	}
	if n, err := s.d.ActiveBlocks(f, 256, 0); err != nil || n < 1 || n > 64 {
		t.Errorf("%d blocks of 256 threads on a multiprocessor, %v", n, err)
	}
	if _, _, err := s.d.Global(m, "drivertest_absent"); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("a variable that is not there: %v", err)
	}
	check(t, s.d.UnloadModule(m))
}

func launches(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	const n = 1000
	x, y := s.alloc(t, 4*n), s.alloc(t, 4*n)
	in, out := floats(n), make([]float32, n)
	check(t, s.d.CopyHtoD(x, raw(in)), s.d.CopyHtoD(y, raw(in)))
	a := driver.GetArgs("saxpy").Ptr(y).Ptr(x).Float32(2).Int64(n - 1)
	if a.Len() != 4 {
		t.Errorf("%d parameters", a.Len())
	}
	check(t, s.d.Launch(s.kernel(t, "drivertest_saxpy"), [3]uint32{4, 1, 1}, [3]uint32{256, 1, 1}, 0, st, a), s.d.SyncStream(st), s.d.CopyDtoH(raw(out), y))
	for i, v := range out {
		want := 3 * in[i]
		if i == n-1 {
			want = in[i]
		}
		if v != want {
			t.Fatalf("saxpy: element %d is %g, want %g", i, v, want)
		}
	}

	type byValue struct { // C's layout of kernels.cu's struct is Go's
		out   driver.DevicePtr
		tag   int8
		scale [3]float64
		step  int16
		n     int64
	}
	d := s.alloc(t, 8*n)
	v := byValue{d, -3, [3]float64{1, 2, 4}, 5, n}
	a.Reset().Int32(100).Struct(unsafe.Pointer(&v), unsafe.Sizeof(v)).Int32(-50)
	check(t, s.d.Launch(s.kernel(t, "drivertest_struct"), [3]uint32{8, 1, 1}, [3]uint32{128, 1, 1}, 0, st, a), s.d.SyncStream(st))
	wide := make([]float64, n)
	check(t, s.d.CopyDtoH(raw(wide), d))
	for i, got := range wide {
		if want := 47 + v.scale[i%3]*5*float64(i); got != want {
			t.Fatalf("struct: element %d is %g, want %g", i, got, want)
		}
	}

	grid, block := [3]uint32{2, 3, 4}, [3]uint32{4, 3, 2}
	idx := make([]uint32, 24*24)
	q := s.alloc(t, 4*len(idx))
	a.Reset().Ptr(q)
	check(t, s.d.Launch(s.kernel(t, "drivertest_index"), grid, block, 0, st, a), s.d.SyncStream(st), s.d.CopyDtoH(raw(idx), q))
	a.Put()
	for i, got := range idx {
		if want := uint32(i/24*1000 + i%24); got != want {
			t.Fatalf("index: thread %d of block %d wrote %d", i%24, i/24, got)
		}
	}
	check(t, s.d.Launch(s.kernel(t, "drivertest_empty"), one, one, 0, st, nil), s.d.SyncStream(st))
}

func sharedMemory(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	const blocks, threads = 5, 512
	in, out := floats(blocks*threads), make([]float32, blocks)
	p, q := s.alloc(t, 4*len(in)), s.alloc(t, 4*len(out))
	f := s.kernel(t, "drivertest_block_sum")
	prop, err := s.d.Properties(s.dev)
	check(t, err, s.d.CopyHtoD(p, raw(in)), s.d.SetFunctionAttribute(f, driver.FuncDynamicShared, prop.SharedPerBlockOptin))
	a := driver.GetArgs("sum").Ptr(q).Ptr(p)
	defer a.Put()
	for _, bytes := range []uint32{4 * threads, uint32(prop.SharedPerBlockOptin)} {
		check(t, s.d.Launch(f, [3]uint32{blocks, 1, 1}, [3]uint32{threads, 1, 1}, bytes, st, a), s.d.SyncStream(st), s.d.CopyDtoH(raw(out), q))
		for b, got := range out {
			var want float32
			for _, v := range in[b*threads : (b+1)*threads] {
				want += v
			}
			if got != want {
				t.Errorf("with %d bytes, block %d sums to %g, want %g", bytes, b, got, want)
			}
		}
	}
	if err := s.d.Launch(f, one, [3]uint32{threads, 1, 1}, uint32(prop.SharedPerBlockOptin)+1024, st, a); err == nil {
		t.Error("more shared memory than there is was launched with")
	}
	check(t, s.d.SyncStream(st))
}

func launchErrors(t *testing.T, s *suite) {
	s.bind(t)
	st := s.stream(t)
	f := s.kernel(t, "drivertest_empty")
	a := driver.GetArgs("softmax")
	defer a.Put()
	err := s.d.Launch(f, one, [3]uint32{2048, 1, 1}, 0, st, a)
	var e *driver.Error
	if !errors.As(err, &e) || e.Op != "softmax" || e.Call != "cuLaunchKernel" || e.Name == "" || len(e.Last) == 0 || e.Last[len(e.Last)-1] != "softmax: drivertest_empty" {
		t.Errorf("a block of 2048 threads: %v", err)
	}
	check(t, s.d.Launch(f, one, one, 0, st, a), s.d.SyncStream(st)) // no lasting error
}

// concurrency: goroutines on threads of their own, each with its stream and memory.
func concurrency(t *testing.T, s *suite) {
	s.bind(t)
	f := s.kernel(t, "drivertest_step")
	var wg sync.WaitGroup
	for g := range uint32(8) {
		wg.Go(func() {
			err := driver.Do(s.d, s.ctx, func() error {
				st, err := s.d.NewStream()
				if err != nil {
					return err
				}
				p, err := s.d.Alloc(4)
				if err != nil {
					return err
				}
				if err := s.d.Memset32(p, g, 1, st); err != nil {
					return err
				}
				want := g
				for i := range int32(200) {
					a := driver.GetArgs("step").Ptr(p).Int32(i).Int32(int32(g))
					err := s.d.Launch(f, one, one, 0, st, a)
					a.Put()
					if err != nil {
						return err
					}
					want = want*uint32(i) + g
				}
				var got [1]uint32
				if err := errors.Join(s.d.SyncStream(st), s.d.CopyDtoH(raw(got[:]), p)); err != nil {
					return err
				}
				if got[0] != want {
					t.Errorf("goroutine %d: %d, want %d", g, got[0], want)
				}
				return errors.Join(s.d.Free(p), s.d.DestroyStream(st))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// goAllocations: what a training step calls all the time takes none of Go's memory.
func goAllocations(t *testing.T, s *suite) {
	if raceDetector {
		t.Skip("sync.Pool keeps less under the race detector")
	}
	s.bind(t)
	st := s.stream(t)
	f := s.kernel(t, "drivertest_step")
	p := s.alloc(t, 64)
	e, err := s.d.NewEvent(false)
	check(t, err)
	host, err := s.d.HostAlloc(64)
	check(t, err)
	for name, call := range map[string]func() error{
		"launch": func() error {
			a := driver.GetArgs("step").Ptr(p).Int32(1).Int32(1)
			defer a.Put()
			return s.d.Launch(f, one, one, 0, st, a)
		},
		"bind":   func() error { defer s.d.Unbind(); return s.d.Bind(s.ctx) },
		"copy":   func() error { return s.d.CopyHtoDAsync(p, host, st) },
		"memset": func() error { return s.d.Memset32(p, 0, 16, st) },
		"event":  func() error { return errors.Join(s.d.RecordEvent(e, st), s.d.StreamWait(st, e)) },
	} {
		var failed error
		if n := testing.AllocsPerRun(200, func() {
			if err := call(); err != nil {
				failed = err
			}
		}); n >= 0.5 || failed != nil { // a garbage collection empties the pools once
			t.Errorf("%s: %g allocations, %v", name, n, failed)
		}
	}
	check(t, s.d.SyncStream(st), s.d.HostFree(host), s.d.DestroyEvent(e))
}
