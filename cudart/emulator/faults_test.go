//go:build linux && (amd64 || arm64)

package emulator

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// A bench is a context with a stream and the kernels of testdata, for one test.
type bench struct {
	t      *testing.T
	d      driver.Driver
	dev    driver.Device
	stream driver.Stream
	module driver.Module
}

// newBench opens a context. Faults end it, so each test has its own: the emulator can bring a lost device back.
func newBench(t *testing.T, d driver.Driver, settings string) *bench {
	t.Helper()
	b := &bench{t: t, d: d}
	b.check(Reset(d, 0), Control(d, "order=forward,seed=0,threads=0,quiet=1,inject=,"+settings))
	dev, err := d.Device(0)
	b.check(err)
	b.dev = dev
	ctx, err := d.RetainContext(dev)
	b.check(err)
	b.check(d.Bind(ctx))
	b.stream, err = d.NewStream()
	b.check(err)
	b.module, _, err = d.LoadModule(imageOf(t, d), driver.JIT{})
	b.check(err)
	if _, err := Report(d); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.check(Reset(d, int(dev)))
		d.Unbind()
		b.check(Control(d, "inject=,seed=0,order=forward"))
	})
	return b
}

// imageOf is PTX that has the library's kernels by name; the emulator does not look at more.
func imageOf(t *testing.T, d driver.Driver) []byte {
	t.Helper()
	names, err := Kernels(d)
	if err != nil {
		t.Fatal(err)
	}
	var ptx strings.Builder
	ptx.WriteString(".version 7.0\n.target sm_70\n.address_size 64\n")
	for _, n := range names {
		fmt.Fprintf(&ptx, ".visible .entry %s()\n{\n}\n", n)
	}
	return append([]byte(ptx.String()), 0)
}

func (b *bench) check(errs ...error) {
	b.t.Helper()
	if err := errors.Join(errs...); err != nil {
		report, _ := Report(b.d)
		b.t.Fatalf("%v: %q", err, report)
	}
}

// launch queues a kernel.
func (b *bench) launch(name string, grid, block uint32, shared uint32, a *driver.Args) {
	b.t.Helper()
	f, err := b.d.Function(b.module, name)
	b.check(err)
	b.check(b.d.Launch(f, [3]uint32{grid, 1, 1}, [3]uint32{block, 1, 1}, shared, b.stream, a))
}

// upload returns device memory with the values.
func upload[T any](b *bench, v []T) driver.DevicePtr {
	b.t.Helper()
	p, err := b.d.Alloc(uint64(len(v)) * uint64(unsafe.Sizeof(v[0])))
	b.check(err)
	b.check(b.d.CopyHtoD(p, bytesOf(v)))
	return p
}

// download waits for the stream and reads values back.
func download[T any](b *bench, p driver.DevicePtr, n int) []T {
	b.t.Helper()
	v := make([]T, n)
	b.check(b.d.SyncStream(b.stream), b.d.CopyDtoH(bytesOf(v), p))
	return v
}

func bytesOf[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

func iota32(n int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(i)
	}
	return v
}

// fails says that the stream's work is to fail, and that the device says why in these words.
func (b *bench) fails(words ...string) {
	b.t.Helper()
	err := b.d.SyncStream(b.stream)
	report, _ := Report(b.d)
	said := strings.Join(report, "\n")
	if !errors.Is(err, driver.ErrLost) {
		b.t.Errorf("the launch ended with %v, the device said %q", err, said)
	}
	for _, w := range words {
		if !strings.Contains(said, w) {
			b.t.Errorf("the device said %q, without %q", said, w)
		}
	}
}

// TestMissingBarrierShows: without a barrier the results are wrong in some order of threads.
func TestMissingBarrierShows(t *testing.T) {
	d := opened(t)
	wrong := 0
	for _, order := range []string{"forward", "reversed", "shuffled"} {
		b := newBench(t, d, "order="+order)
		p := upload(b, iota32(64))
		b.launch("no_barrier", 1, 64, 0, driver.GetArgs("").Ptr(p))
		for i, v := range download[int32](b, p, 64) {
			if v != int32(63-i) {
				wrong++
			}
		}
	}
	if wrong < 32 {
		t.Errorf("%d results of 192 are wrong: the missing barrier does not show", wrong)
	}
}

func TestBarrierFaults(t *testing.T) {
	d := opened(t)
	for kernel, words := range map[string][]string{
		"half_barrier": {"half_barrier", "different barriers"},
		"wrong_mask":   {"wrong_mask", "does not name the calling lane"},
	} {
		t.Run(kernel, func(t *testing.T) {
			b := newBench(t, d, "")
			b.launch(kernel, 1, 64, 0, driver.GetArgs("").Ptr(upload(b, iota32(64))))
			b.fails(words...)
		})
	}
}

// TestSignals: what faults in the CPU is the kernel's failure.
func TestSignals(t *testing.T) {
	d := opened(t)
	b := newBench(t, d, "")
	b.launch("far_away", 1, 1, 0, driver.GetArgs("").Ptr(upload(b, iota32(1))))
	b.fails("far_away", "block (0,0,0), thread (0,0,0)", "a forbidden address was touched")
	b = newBench(t, d, "")
	b.launch("divide", 1, 1, 0, driver.GetArgs("").Ptr(upload(b, iota32(1))).Int32(0))
	b.fails("divide", "divided by zero")
	// The program's own faults are its own.
	if !panics(func() { var p *int; *p = 1 }) {
		t.Error("a nil pointer of Go's was dereferenced without a panic")
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// TestHostCannotReadTheDevice: device memory is out of reach but while kernels run.
func TestHostCannotReadTheDevice(t *testing.T) {
	d := opened(t)
	b := newBench(t, d, "")
	p := upload(b, iota32(16))
	if !faults(func() { _ = *(*int32)(*(*unsafe.Pointer)(unsafe.Pointer(&p))) }) {
		t.Error("the host read device memory")
	}
}

func TestHostPointers(t *testing.T) {
	d := opened(t)
	b := newBench(t, d, "")
	host := make([]int32, 64)
	b.launch("add_one", 1, 1, 0, driver.GetArgs("").Uint64(uint64(uintptr(unsafe.Pointer(&host[0])))))
	b.fails("add_one", "an address of the host's memory")
	b = newBench(t, d, "")
	if err := b.d.CopyDtoD(upload(b, host), driver.DevicePtr(uintptr(unsafe.Pointer(&host[0]))), 4, b.stream); err == nil {
		t.Error("host memory was copied as the device's")
	}
	if report, _ := Report(d); !strings.Contains(strings.Join(report, " "), "is not device memory") {
		t.Errorf("the device said %q", report)
	}
}

// TestIntegersAreNoAddresses: two integers beside each other in a structure are not taken for an address of the host, even where something of
// the host's lies there.
func TestIntegersAreNoAddresses(t *testing.T) {
	d := opened(t)
	const at, noReplace = 5376<<32 | 4096, 0x100000
	if got, _, errno := syscall.Syscall6(syscall.SYS_MMAP, at, 4096, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON|noReplace, ^uintptr(0), 0); errno != 0 || got != at {
		t.Skipf("no memory at %#x: %v", at, errno)
	}
	defer syscall.Syscall(syscall.SYS_MUNMAP, at, 4096, 0)
	b := newBench(t, d, "")
	p := struct {
		x, y    driver.DevicePtr
		columns int32
		scale   float32
	}{upload(b, make([]uint16, 4096)), upload(b, make([]float32, 1)), 4096, math.Float32frombits(5376)}
	b.launch("row_sum_f16", 1, 256, 0, structArgs(&p))
	b.check(d.SyncStream(b.stream))
	b.launch("add_one", 1, 1, 0, driver.GetArgs("").Uint64(at)) // alone it is an address
	b.fails("add_one", "an address of the host's memory")
}

// TestDynamicMemoryEnds: what a kernel touches behind its dynamic shared memory is an error of the launch, and no one else's memory.
func TestDynamicMemoryEnds(t *testing.T) {
	d := opened(t)
	for _, c := range []struct {
		threads, shared uint32
		first           string
	}{
		{1, 0, "thread (0,0,0)"},     // it was not given any
		{32, 128, "thread (31,0,0)"}, // the last one writes the word behind
		{1024, 16, "thread (3,0,0)"},
		{31, 124, "a thread"}, // what is written there touches no page that is guarded
	} {
		b := newBench(t, d, "")
		b.launch("past_shared", 1, c.threads, c.shared, driver.GetArgs("").Ptr(upload(b, iota32(1024))))
		b.fails("past_shared", c.first, fmt.Sprintf("behind the %d bytes of dynamic shared memory", c.shared))
	}
}

func TestOverrunsAndLeaks(t *testing.T) {
	d := opened(t)
	b := newBench(t, d, "")
	p := upload(b, iota32(100))
	b.launch("off_by_one", 1, 128, 0, driver.GetArgs("").Ptr(p).Int32(100))
	b.check(d.SyncStream(b.stream))
	if err := d.Free(p); !errors.Is(err, driver.ErrLost) {
		t.Errorf("memory was overrun, and freeing it gave %v", err)
	}
	if report, _ := Report(d); !strings.Contains(strings.Join(report, " "), "4 bytes past the end of the 400 bytes") {
		t.Errorf("the device said %q", report)
	}

	b = newBench(t, d, "")
	p = upload(b, iota32(10))
	b.check(d.Free(p))
	if err := d.Free(p); err == nil {
		t.Error("memory was freed twice")
	}
	if err := d.CopyDtoH(make([]byte, 40), p); err == nil {
		t.Error("freed memory was read")
	}
	upload(b, iota32(7))
	b.check(Reset(d, int(b.dev)))
	report, _ := Report(d)
	if said := strings.Join(report, "\n"); !strings.Contains(said, "freed") || !strings.Contains(said, "leak: 28 bytes") {
		t.Errorf("the device said %q", said)
	}
}

// TestMissingDependencyShows: two streams that share memory without an event give two results, by the seed.
func TestMissingDependencyShows(t *testing.T) {
	d := opened(t)
	results := map[int32]int{}
	for seed := range 20 {
		b := newBench(t, d, fmt.Sprintf("seed=%d", seed))
		other, err := d.NewStream()
		b.check(err)
		p, q := upload(b, []int32{1}), upload(b, []int32{0})
		b.launch("add_one", 1, 1, 0, driver.GetArgs("").Ptr(p))
		b.check(d.CopyDtoD(q, p, 4, other), d.Sync())
		results[download[int32](b, q, 1)[0]]++
	}
	if results[1] == 0 || results[2] == 0 || len(results) != 2 {
		t.Errorf("20 seeds gave %v, want both 1 and 2", results)
	}
}

func TestInjection(t *testing.T) {
	d := opened(t)
	b := newBench(t, d, "")
	b.check(Control(d, "inject=alloc@2"))
	_, err := d.Alloc(64)
	b.check(err)
	if _, err := d.Alloc(64); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("the second allocation gave %v", err)
	}
	_, err = d.Alloc(64)
	b.check(err)

	b.check(Control(d, "inject=kernel@1"))
	b.launch("add_one", 1, 1, 0, driver.GetArgs("").Ptr(upload(b, []int32{1})))
	b.fails("injected: kernel add_one fails")

	b = newBench(t, d, "inject=sync@1")
	if err := d.SyncStream(b.stream); !errors.Is(err, driver.ErrLost) {
		t.Errorf("the device was lost, and waiting gave %v", err)
	}
	if _, err := d.Alloc(64); !errors.Is(err, driver.ErrLost) {
		t.Errorf("the device is lost, and allocation gave %v", err)
	}
	for _, wrong := range []string{"inject=oops@1", "inject=alloc@x", "order=random", "size=3", "memory=much"} {
		if err := Control(d, wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}

// faults tells whether f touches memory that it may not.
func faults(f func()) (yes bool) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		yes = recover() != nil
	}()
	f()
	return false
}

// structArgs are the parameters of a kernel that takes one struct.
func structArgs[T any](p *T) *driver.Args {
	return driver.GetArgs("").Struct(unsafe.Pointer(p), unsafe.Sizeof(*p))
}
