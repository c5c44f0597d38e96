package cudart_test

import (
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// A failing driver counts the calls that it passes on, has one of them fail, and knows what is held of the driver.
type failing struct {
	driver.Driver
	mu      sync.Mutex
	n       int // calls
	at      int // the one that fails, 0 for none
	code    int32
	sticky  bool // and all behind it, as of a device that is lost
	over    bool // no further call fails
	failed  string
	names   []string
	kernels map[string]bool              // that were found
	held    map[string]map[uint64]func() // by kind and handle: how to give it back
}

func newFailing(d driver.Driver) *failing {
	return &failing{Driver: d, kernels: map[string]bool{}, held: map[string]map[uint64]func(){}}
}

var codeNames = map[int32]string{1: "CUDA_ERROR_INVALID_VALUE", 2: "CUDA_ERROR_OUT_OF_MEMORY", 700: "CUDA_ERROR_ILLEGAL_ADDRESS"}

// hit counts a call, and returns its error if it is to fail.
func (f *failing) hit(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	f.names = append(f.names, call)
	if f.at == 0 || f.over || f.n != f.at && !(f.sticky && f.n > f.at) {
		return nil
	}
	if f.n == f.at {
		f.failed = call
	}
	return driver.NewError(call, "", int(f.code), codeNames[f.code], "made to fail", &driver.History{})
}

// rest has no further call fail.
func (f *failing) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
}

// keep notes what is held; drop that it is not.
func (f *failing) keep(kind string, handle uint64, free func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held[kind] == nil {
		f.held[kind] = map[uint64]func(){}
	}
	f.held[kind][handle] = free
}

func (f *failing) drop(kind string, handle uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held[kind], handle)
}

// found returns the number of kernels, each of a module of its own.
func (f *failing) found() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.kernels)
}

// holds counts what is held by kind.
func (f *failing) holds() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]int{}
	for kind, list := range f.held {
		if len(list) > 0 {
			out[kind] = len(list)
		}
	}
	return out
}

// end gives all of it back.
func (f *failing) end() {
	for _, kind := range []string{"exec", "graph", "event", "stream", "memory", "host", "shared", "module"} {
		for _, free := range f.held[kind] {
			free()
		}
	}
}

// made is what a call that makes something returns.
func made[T ~uint64 | ~uintptr](f *failing, call, kind string, make func() (T, error), free func(T) error) (T, error) {
	if err := f.hit(call); err != nil {
		return 0, err
	}
	h, err := make()
	if err == nil {
		f.keep(kind, uint64(h), func() { _ = free(h) })
	}
	return h, err
}

// unmade is that of one that gives it back. One that fails has given nothing back.
func unmade[T ~uint64 | ~uintptr](f *failing, call, kind string, h T, free func(T) error) error {
	if err := f.hit(call); err != nil {
		return err
	}
	f.drop(kind, uint64(h))
	return free(h)
}

// done is that of others.
func (f *failing) done(call string, do func() error) error {
	if err := f.hit(call); err != nil {
		return err
	}
	return do()
}

func (f *failing) Alloc(n uint64) (driver.DevicePtr, error) {
	return made(f, "cuMemAlloc_v2", "memory", func() (driver.DevicePtr, error) { return f.Driver.Alloc(n) }, f.Driver.Free)
}
func (f *failing) Free(p driver.DevicePtr) error {
	return unmade(f, "cuMemFree_v2", "memory", p, f.Driver.Free)
}
func (f *failing) NewStream() (driver.Stream, error) {
	return made(f, "cuStreamCreate", "stream", f.Driver.NewStream, f.Driver.DestroyStream)
}
func (f *failing) NewEvent(timing bool) (driver.Event, error) {
	return made(f, "cuEventCreate", "event", func() (driver.Event, error) { return f.Driver.NewEvent(timing) }, f.Driver.DestroyEvent)
}
func (f *failing) DestroyEvent(e driver.Event) error {
	return unmade(f, "cuEventDestroy_v2", "event", e, f.Driver.DestroyEvent)
}
func (f *failing) HostAlloc(n int) ([]byte, error) {
	if err := f.hit("cuMemHostAlloc"); err != nil {
		return nil, err
	}
	b, err := f.Driver.HostAlloc(n)
	if err == nil {
		f.keep("host", hostKey(b), func() { _ = f.Driver.HostFree(b) })
	}
	return b, err
}

// Bind fails once the device is lost.
func (f *failing) Bind(c driver.Context) error {
	f.mu.Lock()
	lost := f.sticky && f.at > 0 && f.n >= f.at
	f.mu.Unlock()
	if lost {
		return driver.NewError("cuCtxSetCurrent", "", int(f.code), codeNames[f.code], "made to fail", &driver.History{})
	}
	return f.Driver.Bind(c)
}

func hostKey(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func (f *failing) HostFree(b []byte) error {
	return f.done("cuMemFreeHost", func() error { f.drop("host", hostKey(b)); return f.Driver.HostFree(b) })
}
func (f *failing) LoadModule(image []byte, o driver.JIT) (driver.Module, string, error) {
	var log string
	m, err := made(f, "cuModuleLoadDataEx", "module", func() (m driver.Module, err error) { m, log, err = f.Driver.LoadModule(image, o); return m, err }, f.Driver.UnloadModule)
	return m, log, err
}
func (f *failing) UnloadModule(m driver.Module) error {
	return unmade(f, "cuModuleUnload", "module", m, f.Driver.UnloadModule)
}
func (f *failing) Function(m driver.Module, name string) (fn driver.Function, err error) {
	err = f.done("cuModuleGetFunction", func() error { fn, err = f.Driver.Function(m, name); return err })
	if err == nil {
		f.mu.Lock()
		f.kernels[name] = true
		f.mu.Unlock()
	}
	return fn, err
}
func (f *failing) FunctionAttribute(fn driver.Function, a driver.FunctionAttribute) (v int, err error) {
	err = f.done("cuFuncGetAttribute", func() error { v, err = f.Driver.FunctionAttribute(fn, a); return err })
	return v, err
}
func (f *failing) SetFunctionAttribute(fn driver.Function, a driver.FunctionAttribute, v int) error {
	return f.done("cuFuncSetAttribute", func() error { return f.Driver.SetFunctionAttribute(fn, a, v) })
}
func (f *failing) ActiveBlocks(fn driver.Function, size, shared int) (n int, err error) {
	err = f.done("cuOccupancyMaxActiveBlocksPerMultiprocessor", func() error { n, err = f.Driver.ActiveBlocks(fn, size, shared); return err })
	return n, err
}
func (f *failing) Launch(fn driver.Function, grid, block [3]uint32, shared uint32, s driver.Stream, a *driver.Args) error {
	return f.done("cuLaunchKernel", func() error { return f.Driver.Launch(fn, grid, block, shared, s, a) })
}
func (f *failing) MemInfo() (free, total uint64, err error) {
	err = f.done("cuMemGetInfo_v2", func() error { free, total, err = f.Driver.MemInfo(); return err })
	return free, total, err
}
func (f *failing) CopyHtoDAsync(dst driver.DevicePtr, src []byte, s driver.Stream) error {
	return f.done("cuMemcpyHtoDAsync_v2", func() error { return f.Driver.CopyHtoDAsync(dst, src, s) })
}
func (f *failing) CopyDtoHAsync(dst []byte, src driver.DevicePtr, s driver.Stream) error {
	return f.done("cuMemcpyDtoHAsync_v2", func() error { return f.Driver.CopyDtoHAsync(dst, src, s) })
}
func (f *failing) CopyDtoD(dst, src driver.DevicePtr, n uint64, s driver.Stream) error {
	return f.done("cuMemcpyDtoDAsync_v2", func() error { return f.Driver.CopyDtoD(dst, src, n, s) })
}
func (f *failing) Memset8(dst driver.DevicePtr, v uint8, n uint64, s driver.Stream) error {
	return f.done("cuMemsetD8Async", func() error { return f.Driver.Memset8(dst, v, n, s) })
}
func (f *failing) Memset16(dst driver.DevicePtr, v uint16, n uint64, s driver.Stream) error {
	return f.done("cuMemsetD16Async", func() error { return f.Driver.Memset16(dst, v, n, s) })
}
func (f *failing) Memset32(dst driver.DevicePtr, v uint32, n uint64, s driver.Stream) error {
	return f.done("cuMemsetD32Async", func() error { return f.Driver.Memset32(dst, v, n, s) })
}
func (f *failing) SyncStream(s driver.Stream) error {
	return f.done("cuStreamSynchronize", func() error { return f.Driver.SyncStream(s) })
}
func (f *failing) RecordEvent(e driver.Event, s driver.Stream) error {
	return f.done("cuEventRecord", func() error { return f.Driver.RecordEvent(e, s) })
}
func (f *failing) SyncEvent(e driver.Event) error {
	return f.done("cuEventSynchronize", func() error { return f.Driver.SyncEvent(e) })
}
func (f *failing) EventDone(e driver.Event) (ok bool, err error) {
	err = f.done("cuEventQuery", func() error { ok, err = f.Driver.EventDone(e); return err })
	return ok, err
}
func (f *failing) Elapsed(from, to driver.Event) (took time.Duration, err error) {
	err = f.done("cuEventElapsedTime", func() error { took, err = f.Driver.Elapsed(from, to); return err })
	return took, err
}
func (f *failing) BeginCapture(s driver.Stream) error {
	return f.done("cuStreamBeginCapture_v2", func() error { return f.Driver.BeginCapture(s) })
}

// EndCapture ends it when it fails, too, as the driver does.
func (f *failing) EndCapture(s driver.Stream) (driver.Graph, error) {
	failed := f.hit("cuStreamEndCapture")
	g, err := f.Driver.EndCapture(s)
	if failed != nil {
		if err == nil {
			_ = f.Driver.DestroyGraph(g)
		}
		return 0, failed
	}
	if err == nil {
		f.keep("graph", uint64(g), func() { _ = f.Driver.DestroyGraph(g) })
	}
	return g, err
}
func (f *failing) GraphNodes(g driver.Graph) (n int, err error) {
	err = f.done("cuGraphGetNodes", func() error { n, err = f.Driver.GraphNodes(g); return err })
	return n, err
}
func (f *failing) Instantiate(g driver.Graph) (driver.GraphExec, error) {
	return made(f, "cuGraphInstantiateWithFlags", "exec", func() (driver.GraphExec, error) { return f.Driver.Instantiate(g) }, f.Driver.DestroyGraphExec)
}
func (f *failing) LaunchGraph(x driver.GraphExec, s driver.Stream) error {
	return f.done("cuGraphLaunch", func() error { return f.Driver.LaunchGraph(x, s) })
}
func (f *failing) DestroyGraph(g driver.Graph) error {
	return unmade(f, "cuGraphDestroy", "graph", g, f.Driver.DestroyGraph)
}
func (f *failing) DestroyGraphExec(x driver.GraphExec) error {
	return unmade(f, "cuGraphExecDestroy", "exec", x, f.Driver.DestroyGraphExec)
}
func (f *failing) shared(call string, get func() (driver.Shared, error)) (sh driver.Shared, err error) {
	if err := f.hit(call); err != nil {
		return sh, err
	}
	if sh, err = get(); err == nil {
		f.keep("shared", uint64(sh.Ptr), func() { _ = f.Driver.ReleaseShared(sh) })
	}
	return sh, err
}
func (f *failing) Export(d driver.Device, n uint64) (driver.Shared, error) {
	return f.shared("cuMemCreate", func() (driver.Shared, error) { return f.Driver.Export(d, n) })
}
func (f *failing) Import(d driver.Device, fd int, n uint64) (driver.Shared, error) {
	return f.shared("cuMemImportFromShareableHandle", func() (driver.Shared, error) { return f.Driver.Import(d, fd, n) })
}
func (f *failing) ExportFD(sh driver.Shared) (fd int, err error) {
	err = f.done("cuMemExportToShareableHandle", func() error { fd, err = f.Driver.ExportFD(sh); return err })
	return fd, err
}
func (f *failing) ReleaseShared(sh driver.Shared) error {
	return f.done("cuMemUnmap", func() error { f.drop("shared", uint64(sh.Ptr)); return f.Driver.ReleaseShared(sh) })
}

// String tells where the call that failed was.
func (f *failing) String() string {
	return fmt.Sprintf("call %d, %s, %s", f.at, f.failed, codeNames[f.code])
}
