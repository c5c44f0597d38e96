// Package drivertest checks that a driver.Driver does what its interface says: one suite for the real driver, for emulators and
// for other bindings. A test package calls Main in TestMain and Run in a test.
package drivertest

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"testing"
	"unsafe"

	"github.com/halftone-ml/halftone/cudart/driver"
)

//go:generate clang-19 -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 --cuda-feature=+ptx70 -O3 -S -o kernels.ptx kernels.cu

// PTX is the suite's kernels (kernels.cu) for compute capability 7.0 and later.
//
//go:embed kernels.ptx
var PTX []byte

// A Config says what is tested, and what it need not do.
type Config struct {
	// Driver is under test; its device 0 is used.
	Driver driver.Driver
	// Unsupported names parts that may answer driver.ErrUnsupported: "async", "pools", "capture", "export", "ipc", "globals".
	// A part that is named but works fails the suite, so that the list stays true.
	Unsupported []string
	// Immediate says that work is done when the call returns, so that nothing can be seen to be under way.
	Immediate bool
}

// Run runs the suite.
func Run(t *testing.T, c Config) {
	s := &suite{Config: c, d: c.Driver}
	var err error
	if s.dev, err = s.d.Device(0); err != nil {
		t.Fatal(err)
	}
	if s.ctx, err = s.d.RetainContext(s.dev); err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"devices", devices}, {"contexts", contexts}, {"binding", binding},
		{"allocation", allocation}, {"copies", copies}, {"memsets", memsets}, {"pinned", pinned}, {"pageable", pageable},
		{"async allocation", asyncAllocation}, {"pools", pools},
		{"streams", streams}, {"dependencies", dependencies}, {"events", events},
		{"modules", modules}, {"launches", launches}, {"shared memory", sharedMemory}, {"launch errors", launchErrors}, {"concurrency", concurrency},
		{"allocations in Go", goAllocations},
		{"graphs", graphs}, {"captured copies", capturedCopies}, {"refused in capture", refusedInCapture},
		{"allocator", allocator}, {"private allocator", privateAllocator},
		{"exported memory", exported}, {"ipc", ipc}, {"a lost context", lost},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, s) })
	}
}

type suite struct {
	Config
	d   driver.Driver
	dev driver.Device
	ctx driver.Context
}

// bind makes the context current for the rest of the test's goroutine.
func (s *suite) bind(t *testing.T) {
	t.Helper()
	if err := s.d.Bind(s.ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.d.Unbind)
}

// supported deals with a part's first answer: it tells whether to go on.
func (s *suite) supported(t *testing.T, part string, err error) bool {
	t.Helper()
	allowed := slices.Contains(s.Unsupported, part)
	switch {
	case err == nil && allowed:
		t.Errorf("%s is listed as unsupported, but works", part)
	case errors.Is(err, driver.ErrUnsupported) && allowed:
		return false
	case err != nil:
		t.Fatal(err)
	}
	return true
}

// check fails the test at the first error.
func check(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// alloc returns device memory for the length of the test.
func (s *suite) alloc(t *testing.T, n int) driver.DevicePtr {
	t.Helper()
	p, err := s.d.Alloc(uint64(n))
	check(t, err)
	t.Cleanup(func() {
		if err := s.d.Free(p); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (s *suite) stream(t *testing.T) driver.Stream {
	t.Helper()
	st, err := s.d.NewStream()
	check(t, err)
	t.Cleanup(func() {
		if err := s.d.DestroyStream(st); err != nil {
			t.Error(err)
		}
	})
	return st
}

// kernel loads the suite's kernels and returns one.
func (s *suite) kernel(t *testing.T, name string) driver.Function {
	t.Helper()
	m, _, err := s.d.LoadModule(PTX, driver.JIT{})
	check(t, err)
	t.Cleanup(func() {
		if err := s.d.UnloadModule(m); err != nil {
			t.Error(err)
		}
	})
	f, err := s.d.Function(m, name)
	check(t, err)
	return f
}

// step queues out = out*factor + term, which tells in what order launches ran.
func (s *suite) step(t *testing.T, f driver.Function, st driver.Stream, out driver.DevicePtr, factor, term int32) {
	t.Helper()
	a := driver.GetArgs("step").Ptr(out).Int32(factor).Int32(term)
	defer a.Put()
	check(t, s.d.Launch(f, one, one, 0, st, a))
}

var one = [3]uint32{1, 1, 1}

// raw returns v's memory as bytes.
func raw[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

func (s *suite) word(t *testing.T, p driver.DevicePtr) uint32 {
	t.Helper()
	b := make([]byte, 4)
	check(t, s.d.CopyDtoH(b, p))
	return binary.NativeEndian.Uint32(b)
}

// floats returns n values that float32 holds exactly.
func floats(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i%1000) - 500
	}
	return v
}

func near(a, b, relative float64) bool { return math.Abs(a-b) <= relative*math.Abs(b) }

const (
	childEnv   = "HALFTONE_DRIVERTEST_CHILD"
	argsEnv    = "HALFTONE_DRIVERTEST_ARGS"
	libraryEnv = "HALFTONE_DRIVERTEST_LIBRARY"
)

// Main is what TestMain exits with: it runs the tests or, in the processes that the suite starts, their part, with the driver that
// open returns.
func Main(m *testing.M, open func() (driver.Driver, error)) int {
	if part := os.Getenv(childEnv); part != "" {
		return child(part, open)
	}
	return m.Run()
}

// Library returns, in a process that the suite started, the library of the driver under test.
func Library() string { return os.Getenv(libraryEnv) }
