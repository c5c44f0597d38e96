//go:build gorgonia_cu

package gorgoniacu

// #include <cuda.h>
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/halftone-ml/halftone/cudart/driver"
)

func (cuDriver) MemInfo() (free, total uint64, err error) {
	f, t, err := cu.MemInfo()
	return uint64(f), uint64(t), failure("cuMemGetInfo", "", err)
}

func (cuDriver) Alloc(n uint64) (driver.DevicePtr, error) {
	if n > math.MaxInt64 {
		return 0, refused("cuMemAlloc", fmt.Sprintf("%d bytes", n), 2)
	}
	p, err := cu.MemAlloc(int64(n))
	if err != nil {
		return 0, failure("cuMemAlloc", fmt.Sprintf("%d bytes", n), err)
	}
	return driver.DevicePtr(p), nil
}

func (cuDriver) Free(p driver.DevicePtr) error {
	return failure("cuMemFree", "", cu.MemFree(cu.DevicePtr(p)))
}

// HostAlloc calls libcuda itself: gorgonia.org/cu frees page-locked memory but does not allocate it.
func (cuDriver) HostAlloc(n int) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("gorgoniacu: %d bytes of page-locked memory were asked for; ask for one or more", n)
	}
	var p unsafe.Pointer
	if r := C.cuMemHostAlloc(&p, C.size_t(n), C.CU_MEMHOSTALLOC_PORTABLE); r != 0 {
		return nil, refused("cuMemHostAlloc", fmt.Sprintf("%d bytes", n), int(r))
	}
	return unsafe.Slice((*byte)(p), n), nil
}

func (cuDriver) HostFree(b []byte) error {
	return failure("cuMemFreeHost", "", cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(b))))
}

func (cuDriver) CopyHtoD(dst driver.DevicePtr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	return failure("cuMemcpyHtoD", "", cu.MemcpyHtoD(cu.DevicePtr(dst), unsafe.Pointer(&src[0]), int64(len(src))))
}

func (cuDriver) CopyDtoH(dst []byte, src driver.DevicePtr) error {
	if len(dst) == 0 {
		return nil
	}
	return failure("cuMemcpyDtoH", "", cu.MemcpyDtoH(unsafe.Pointer(&dst[0]), cu.DevicePtr(src), int64(len(dst))))
}

func (cuDriver) CopyHtoDAsync(dst driver.DevicePtr, src []byte, s driver.Stream) error {
	if len(src) == 0 {
		return nil
	}
	return failure("cuMemcpyHtoDAsync", "", cu.MemcpyHtoDAsync(cu.DevicePtr(dst), unsafe.Pointer(&src[0]), int64(len(src)), from[cu.Stream](s)))
}

func (cuDriver) CopyDtoHAsync(dst []byte, src driver.DevicePtr, s driver.Stream) error {
	if len(dst) == 0 {
		return nil
	}
	return failure("cuMemcpyDtoHAsync", "", cu.MemcpyDtoHAsync(unsafe.Pointer(&dst[0]), cu.DevicePtr(src), int64(len(dst)), from[cu.Stream](s)))
}

func (cuDriver) CopyDtoD(dst, src driver.DevicePtr, n uint64, s driver.Stream) error {
	if n == 0 {
		return nil
	}
	return failure("cuMemcpyDtoDAsync", "", cu.MemcpyDtoDAsync(cu.DevicePtr(dst), cu.DevicePtr(src), int64(n), from[cu.Stream](s)))
}

func (cuDriver) Memset8(dst driver.DevicePtr, v uint8, n uint64, s driver.Stream) error {
	if n == 0 {
		return nil
	}
	return failure("cuMemsetD8Async", "", cu.MemsetD8Async(cu.DevicePtr(dst), v, int64(n), from[cu.Stream](s)))
}

func (cuDriver) Memset16(dst driver.DevicePtr, v uint16, n uint64, s driver.Stream) error {
	if n == 0 {
		return nil
	}
	return failure("cuMemsetD16Async", "", cu.MemsetD16Async(cu.DevicePtr(dst), v, int64(n), from[cu.Stream](s)))
}

func (cuDriver) Memset32(dst driver.DevicePtr, v uint32, n uint64, s driver.Stream) error {
	if n == 0 {
		return nil
	}
	return failure("cuMemsetD32Async", "", cu.MemsetD32Async(cu.DevicePtr(dst), uint(v), int64(n), from[cu.Stream](s)))
}
