package cudart

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A fake is a driver whose device is a map of Go memory, for what is tested without kernels: order, waits and memory. What is queued
// runs when the stream or an event is waited for and not before, so that a copy whose host memory was reused too early shows.
type fake struct {
	driver.Driver // what is not below is not called
	mu            sync.Mutex
	mem           map[driver.DevicePtr][]byte
	next          driver.DevicePtr
	total, used   uint64
	queue         []func()
	marks         map[driver.Event]int // length of the queue that the event stands for
	done          int                  // functions of the queue that ran, all together
	calls         map[string]int
	pinned        [][]byte
}

func newFake(memory uint64) *fake {
	return &fake{mem: map[driver.DevicePtr][]byte{}, next: 1 << 20, total: memory, marks: map[driver.Event]int{}, calls: map[string]int{}}
}

func (f *fake) Bind(driver.Context) error                             { return nil }
func (f *fake) Unbind()                                               {}
func (f *fake) DeviceCount() (int, error)                             { return 2, nil }
func (f *fake) Device(i int) (driver.Device, error)                   { return driver.Device(i), nil }
func (f *fake) RetainContext(d driver.Device) (driver.Context, error) { return 1, nil }
func (f *fake) NewStream() (driver.Stream, error)                     { return 7, nil }
func (f *fake) Properties(driver.Device) (driver.Properties, error) {
	return driver.Properties{Name: "Fake", Major: 8, Memory: f.total}, nil
}

func (f *fake) MemInfo() (free, total uint64, err error) { return f.total - f.used, f.total, nil }

func (f *fake) lock(call string) func() {
	f.mu.Lock()
	f.calls[call]++
	return f.mu.Unlock
}

func (f *fake) Alloc(n uint64) (driver.DevicePtr, error) {
	defer f.lock("Alloc")()
	if f.used+n > f.total {
		return 0, &driver.Error{Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Call: "cuMemAlloc_v2", Kind: driver.ErrMemory}
	}
	p := f.next
	f.next += driver.DevicePtr(n+4095) &^ 4095
	f.mem[p], f.used = bytes.Repeat([]byte{0xA5}, int(n)), f.used+n
	return p, nil
}

func (f *fake) Free(p driver.DevicePtr) error {
	defer f.lock("Free")()
	f.run(len(f.queue))
	if f.mem[p] == nil {
		return fmt.Errorf("%x is no allocation", p)
	}
	f.used -= uint64(len(f.mem[p]))
	delete(f.mem, p)
	return nil
}

// at returns n bytes of the device.
func (f *fake) at(p driver.DevicePtr, n int) []byte {
	for base, mem := range f.mem {
		if p >= base && p+driver.DevicePtr(n) <= base+driver.DevicePtr(len(mem)) {
			return mem[p-base:][:n]
		}
	}
	panic(fmt.Sprintf("fake: %d bytes at %x are no memory of the device", n, p))
}

func (f *fake) run(n int) {
	for _, step := range f.queue[:n] {
		step()
	}
	f.queue = f.queue[n:]
	f.done += n
}

func (f *fake) HostAlloc(n int) ([]byte, error) {
	defer f.lock("HostAlloc")()
	b := make([]byte, n)
	f.pinned = append(f.pinned, b)
	return b, nil
}

func (f *fake) isPinned(b []byte) bool {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return slices.ContainsFunc(f.pinned, func(h []byte) bool {
		base := uintptr(unsafe.Pointer(unsafe.SliceData(h)))
		return p >= base && p < base+uintptr(len(h))
	})
}

func (f *fake) CopyHtoDAsync(dst driver.DevicePtr, src []byte, s driver.Stream) error {
	defer f.lock("CopyHtoDAsync")()
	if !f.isPinned(src) {
		src = bytes.Clone(src)
	}
	f.queue = append(f.queue, func() { copy(f.at(dst, len(src)), src) })
	return nil
}

func (f *fake) CopyDtoHAsync(dst []byte, src driver.DevicePtr, s driver.Stream) error {
	defer f.lock("CopyDtoHAsync")()
	f.queue = append(f.queue, func() { copy(dst, f.at(src, len(dst))) })
	return nil
}

func (f *fake) CopyDtoD(dst, src driver.DevicePtr, n uint64, s driver.Stream) error {
	defer f.lock("CopyDtoD")()
	f.queue = append(f.queue, func() { copy(f.at(dst, int(n)), f.at(src, int(n))) })
	return nil
}

func (f *fake) set(call string, dst driver.DevicePtr, pattern []byte, n uint64) error {
	defer f.lock(call)()
	f.queue = append(f.queue, func() { copy(f.at(dst, int(n)*len(pattern)), bytes.Repeat(pattern, int(n))) })
	return nil
}

func (f *fake) Memset8(dst driver.DevicePtr, v uint8, n uint64, s driver.Stream) error {
	return f.set("Memset8", dst, []byte{v}, n)
}

func (f *fake) Memset16(dst driver.DevicePtr, v uint16, n uint64, s driver.Stream) error {
	return f.set("Memset16", dst, []byte{byte(v), byte(v >> 8)}, n)
}

func (f *fake) Memset32(dst driver.DevicePtr, v uint32, n uint64, s driver.Stream) error {
	return f.set("Memset32", dst, []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}, n)
}

func (f *fake) SyncStream(s driver.Stream) error {
	defer f.lock("SyncStream")()
	f.run(len(f.queue))
	return nil
}

func (f *fake) NewEvent(bool) (driver.Event, error) {
	defer f.lock("NewEvent")()
	e := driver.Event(len(f.marks) + 1)
	f.marks[e] = 0
	return e, nil
}

func (f *fake) RecordEvent(e driver.Event, s driver.Stream) error {
	defer f.lock("RecordEvent")()
	f.marks[e] = f.done + len(f.queue)
	return nil
}

func (f *fake) SyncEvent(e driver.Event) error {
	defer f.lock("SyncEvent")()
	f.run(max(0, f.marks[e]-f.done))
	return nil
}

var fakes int

// onFake opens a device over a fake driver of its own.
func onFake(t *testing.T, memory uint64) (*fake, *device, *amp.Scope) {
	t.Helper()
	f, kind := newFake(memory), fmt.Sprintf("fake%d", fakes)
	fakes++
	var dev *device
	amp.RegisterDevice(kind, func(index int) (amp.Device, error) {
		d, err := newDevice(f, false, index)
		if err == nil {
			dev = d.(*device)
			dev.name = kind + ":0"
		}
		return d, err
	})
	s := amp.NewScope(amp.On(kind))
	t.Cleanup(s.Close)
	return f, dev, s
}
