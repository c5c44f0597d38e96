//go:build linux && (amd64 || arm64)

package driver

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"unsafe"
)

func (d *cuda) MemInfo() (free, total uint64, err error) {
	o := newFrame()
	defer o.put()
	err = d.call(&d.f.memInfo, "", o.o(0), o.o(1))
	return o.out[0], o.out[1], err
}

// size names a request in an error. It is made only when there is one.
func size(n uint64) string { return fmt.Sprintf("%d bytes", n) }

func (d *cuda) Alloc(n uint64) (DevicePtr, error) {
	// Plain allocation is refused while this thread captures, unless it says that it knows what it does.
	defer d.uncaptured()()
	o := newFrame()
	defer o.put()
	if r := d.f.memAlloc.invoke(o.o(0), uintptr(n)); r != 0 {
		return 0, d.failure(d.f.memAlloc.name, r, size(n))
	}
	return DevicePtr(o.out[0]), nil
}

func (d *cuda) Free(p DevicePtr) error {
	defer d.uncaptured()()
	return d.call(&d.f.memFree, "", uintptr(p))
}

// uncaptured allows calls that capture forbids, where this thread captures, until what it returns is called: for the driver's own, and for
// libraries that allocate and load code of their own when they begin.
func (d *cuda) uncaptured() func() {
	if d == nil || !d.captures.here() {
		return func() {}
	}
	const relaxed = 2
	o := newFrame()
	o.out[0] = relaxed
	_ = d.call(&d.f.captureMode, "", o.o(0))
	return func() {
		_ = d.call(&d.f.captureMode, "", o.o(0)) // exchanged: what it was before
		o.put()
	}
}

func (d *cuda) AllocAsync(n uint64, s Stream) (DevicePtr, error) {
	if d.f.memAllocAsync.addr == 0 {
		return 0, d.absence(&d.f.memAllocAsync, size(n))
	}
	o := newFrame()
	defer o.put()
	if r := d.f.memAllocAsync.invoke(o.o(0), uintptr(n), uintptr(s)); r != 0 {
		return 0, d.failure(d.f.memAllocAsync.name, r, size(n))
	}
	return DevicePtr(o.out[0]), nil
}

func (d *cuda) FreeAsync(p DevicePtr, s Stream) error {
	return d.call(&d.f.memFreeAsync, "", uintptr(p), uintptr(s))
}

func (d *cuda) AllocFromPool(n uint64, p MemPool, s Stream) (DevicePtr, error) {
	if d.f.poolAlloc.addr == 0 {
		return 0, d.absence(&d.f.poolAlloc, size(n))
	}
	o := newFrame()
	defer o.put()
	if r := d.f.poolAlloc.invoke(o.o(0), uintptr(n), uintptr(p), uintptr(s)); r != 0 {
		return 0, d.failure(d.f.poolAlloc.name, r, size(n))
	}
	return DevicePtr(o.out[0]), nil
}

func (d *cuda) DefaultPool(dev Device) (MemPool, error) {
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.poolDefault, "", o.o(0), uintptr(dev))
	return MemPool(o.out[0]), err
}

func (d *cuda) NewPool(dev Device) (MemPool, error) {
	props := make([]byte, 88) // CUmemPoolProps: type, handle types, location type and id; the rest is zero
	binary.NativeEndian.PutUint32(props[0:], memPinned)
	binary.NativeEndian.PutUint32(props[8:], memOnDevice)
	binary.NativeEndian.PutUint32(props[12:], uint32(dev))
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.poolCreate, "", o.o(0), address(props))
	runtime.KeepAlive(props)
	return MemPool(o.out[0]), err
}

func (d *cuda) DestroyPool(p MemPool) error { return d.call(&d.f.poolDestroy, "", uintptr(p)) }

// Attributes of CUmemPool_attribute.
const (
	poolThreshold = 4
	poolReserved  = 5 // and its high-water mark, used bytes and theirs at 6, 7 and 8
)

func (d *cuda) SetPoolThreshold(p MemPool, bytes uint64) error {
	o := newFrame()
	defer o.put()
	o.out[0] = bytes
	return d.call(&d.f.poolSet, "", uintptr(p), poolThreshold, o.o(0))
}

func (d *cuda) TrimPool(p MemPool, keep uint64) error {
	return d.call(&d.f.poolTrim, "", uintptr(p), uintptr(keep))
}

func (d *cuda) PoolStats(p MemPool) (PoolStats, error) {
	o := newFrame()
	defer o.put()
	for i := range 4 {
		if err := d.call(&d.f.poolGet, "", uintptr(p), uintptr(poolReserved+i), o.o(i)); err != nil {
			return PoolStats{}, err
		}
	}
	return PoolStats{Reserved: o.out[0], ReservedHigh: o.out[1], Used: o.out[2], UsedHigh: o.out[3]}, nil
}

func (d *cuda) HostAlloc(n int) ([]byte, error) {
	if n <= 0 || n > math.MaxInt/2 {
		return nil, fmt.Errorf("driver: %d bytes of page-locked memory were asked for; ask for one or more", n)
	}
	defer d.uncaptured()()
	const portable = 1 // page-locked for every context
	o := newFrame()
	defer o.put()
	if err := d.call(&d.f.hostAlloc, size(uint64(n)), o.o(0), uintptr(n), portable); err != nil {
		return nil, err
	}
	p := uintptr(o.out[0])
	d.hosts.add(p, n)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n), nil
}

func (d *cuda) HostFree(b []byte) error {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	if !d.hosts.remove(p, len(b)) {
		return fmt.Errorf("driver: HostFree was given %d bytes that are not a whole block of HostAlloc's, or were freed before", len(b))
	}
	defer d.uncaptured()()
	return d.call(&d.f.hostFree, "", p)
}

func (d *cuda) CopyHtoD(dst DevicePtr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	if err := d.notCaptured(d.f.copyHtoD.name); err != nil {
		return err
	}
	err := d.call(&d.f.copyHtoD, "", uintptr(dst), address(src), uintptr(len(src)))
	if err == nil {
		// The driver returns when it has read src, which may be before the device has all of it; other streams do not wait for that.
		err = d.call(&d.f.streamSync, "", 0)
	}
	runtime.KeepAlive(src)
	return err
}

func (d *cuda) CopyDtoH(dst []byte, src DevicePtr) error {
	if len(dst) == 0 {
		return nil
	}
	if err := d.notCaptured(d.f.copyDtoH.name); err != nil {
		return err
	}
	err := d.call(&d.f.copyDtoH, "", address(dst), uintptr(src), uintptr(len(dst)))
	runtime.KeepAlive(dst)
	return err
}

// pageable refuses memory that is not page-locked where a stream is captured: the graph would read it again at each replay,
// when Go may have moved on.
func (d *cuda) pageable(call string, b []byte, s Stream) error {
	if d.captures.n.Load() == 0 || d.hosts.holds(address(b), len(b)) {
		return nil
	}
	if capturing, err := d.Capturing(s); err != nil || !capturing {
		return err
	}
	return &Error{Code: codeCapture, Name: "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", Call: call, Kind: ErrCapture,
		Text: "a captured copy needs the host memory of HostAlloc, which stays where it is"}
}

func (d *cuda) CopyHtoDAsync(dst DevicePtr, src []byte, s Stream) error {
	if len(src) == 0 {
		return nil
	}
	if err := d.pageable(d.f.copyHtoDAsync.name, src, s); err != nil {
		return err
	}
	err := d.call(&d.f.copyHtoDAsync, "", uintptr(dst), address(src), uintptr(len(src)), uintptr(s))
	runtime.KeepAlive(src)
	return err
}

func (d *cuda) CopyDtoHAsync(dst []byte, src DevicePtr, s Stream) error {
	if len(dst) == 0 {
		return nil
	}
	if err := d.pageable(d.f.copyDtoHAsync.name, dst, s); err != nil {
		return err
	}
	err := d.call(&d.f.copyDtoHAsync, "", address(dst), uintptr(src), uintptr(len(dst)), uintptr(s))
	runtime.KeepAlive(dst)
	return err
}

func (d *cuda) CopyDtoD(dst, src DevicePtr, n uint64, s Stream) error {
	if n == 0 {
		return nil
	}
	return d.call(&d.f.copyDtoDAsync, "", uintptr(dst), uintptr(src), uintptr(n), uintptr(s))
}

func (d *cuda) Memset8(dst DevicePtr, v uint8, n uint64, s Stream) error {
	return d.set(&d.f.set8, dst, uintptr(v), n, s)
}

func (d *cuda) Memset16(dst DevicePtr, v uint16, n uint64, s Stream) error {
	return d.set(&d.f.set16, dst, uintptr(v), n, s)
}

func (d *cuda) Memset32(dst DevicePtr, v uint32, n uint64, s Stream) error {
	return d.set(&d.f.set32, dst, uintptr(v), n, s)
}

func (d *cuda) set(f *symbol, dst DevicePtr, v uintptr, n uint64, s Stream) error {
	if n == 0 {
		return nil
	}
	return d.call(f, "", uintptr(dst), v, uintptr(n), uintptr(s))
}
