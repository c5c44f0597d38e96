//go:build linux && (amd64 || arm64)

package driver

import (
	"encoding/binary"
	"runtime"
	"unsafe"
)

// Values of CUmemAllocationType, CUmemLocationType, CUmemAllocationHandleType and CUmemAccess_flags.
const (
	memPinned    = 1
	memOnDevice  = 1
	memByFD      = 1
	memReadWrite = 3
)

// allocationProp is a CUmemAllocationProp of memory that file descriptors name.
func allocationProp(dev Device) []byte {
	p := make([]byte, 32) // type, handle types, location type and id; metadata and flags are zero
	binary.NativeEndian.PutUint32(p[0:], memPinned)
	binary.NativeEndian.PutUint32(p[4:], memByFD)
	binary.NativeEndian.PutUint32(p[8:], memOnDevice)
	binary.NativeEndian.PutUint32(p[12:], uint32(dev))
	return p
}

func (d *cuda) Export(dev Device, n uint64) (Shared, error) {
	prop := allocationProp(dev)
	defer runtime.KeepAlive(prop)
	o := newFrame()
	defer o.put()
	if err := d.call(&d.f.granularity, size(n), o.o(0), address(prop), 0); err != nil {
		return Shared{}, err
	}
	g := o.out[0]
	n = (n + g - 1) / g * g
	if err := d.call(&d.f.vmmCreate, size(n), o.o(1), uintptr(n), address(prop), 0); err != nil {
		return Shared{}, err
	}
	return d.mapShared(dev, o.out[1], n)
}

// mapShared gives memory an address that the device may read and write. On an error the memory is released.
func (d *cuda) mapShared(dev Device, handle, n uint64) (Shared, error) {
	o := newFrame()
	defer o.put()
	if err := d.call(&d.f.vmmReserve, size(n), o.o(0), uintptr(n), 0, 0, 0); err != nil {
		_ = d.call(&d.f.vmmRelease, "", uintptr(handle))
		return Shared{}, err
	}
	p := o.out[0]
	err := d.call(&d.f.vmmMap, size(n), uintptr(p), uintptr(n), 0, uintptr(handle), 0)
	if err == nil {
		access := make([]byte, 12) // CUmemAccessDesc: location type and id, flags
		binary.NativeEndian.PutUint32(access[0:], memOnDevice)
		binary.NativeEndian.PutUint32(access[4:], uint32(dev))
		binary.NativeEndian.PutUint32(access[8:], memReadWrite)
		if err = d.call(&d.f.vmmAccess, size(n), uintptr(p), uintptr(n), address(access), 1); err != nil {
			_ = d.call(&d.f.vmmUnmap, "", uintptr(p), uintptr(n))
		}
		runtime.KeepAlive(access)
	}
	if err != nil {
		_ = d.call(&d.f.vmmFree, "", uintptr(p), uintptr(n))
		_ = d.call(&d.f.vmmRelease, "", uintptr(handle))
		return Shared{}, err
	}
	return Shared{Ptr: DevicePtr(p), Bytes: n, Handle: handle}, nil
}

func (d *cuda) ExportFD(sh Shared) (int, error) {
	o := newFrame()
	defer o.put()
	if err := d.call(&d.f.vmmExport, "", o.o(0), uintptr(sh.Handle), memByFD, 0); err != nil {
		return -1, err
	}
	return int(int32(o.out[0])), nil
}

func (d *cuda) Import(dev Device, fd int, n uint64) (Shared, error) {
	o := newFrame()
	defer o.put()
	if err := d.call(&d.f.vmmImport, size(n), o.o(0), uintptr(fd), memByFD); err != nil {
		return Shared{}, err
	}
	return d.mapShared(dev, o.out[0], n)
}

func (d *cuda) ReleaseShared(sh Shared) error {
	err := d.call(&d.f.vmmUnmap, "", uintptr(sh.Ptr), uintptr(sh.Bytes))
	for _, e := range []error{
		d.call(&d.f.vmmFree, "", uintptr(sh.Ptr), uintptr(sh.Bytes)),
		d.call(&d.f.vmmRelease, "", uintptr(sh.Handle)),
	} {
		if err == nil {
			err = e
		}
	}
	return err
}

func (d *cuda) IPCHandle(p DevicePtr) (IPCHandle, error) {
	h := new(IPCHandle)
	err := d.call(&d.f.ipcGet, "", heap(unsafe.Pointer(h)), uintptr(p))
	return *h, err
}

func (d *cuda) OpenIPC(h IPCHandle) (DevicePtr, error) {
	const lazyPeer = 1
	o := newFrame()
	defer o.put()
	err := d.call(&d.f.ipcOpen, "", byValue(o.o(0), &h, lazyPeer)...)
	runtime.KeepAlive(&h)
	return DevicePtr(o.out[0]), err
}

func (d *cuda) CloseIPC(p DevicePtr) error { return d.call(&d.f.ipcClose, "", uintptr(p)) }
