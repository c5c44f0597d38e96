//go:build linux && (amd64 || arm64)

package emulator

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// handle reaches the functions of the library that CUDA does not have (csrc/control.cpp).
type handle struct{ fnControl, fnReport, fnKernels, fnReset, fnFence uintptr }

func open(d driver.Driver) (handle, error) {
	var h handle
	lib, err := purego.Dlopen(d.Path(), purego.RTLD_NOW|purego.RTLD_GLOBAL) // the library that is loaded already
	if err != nil {
		return h, err
	}
	for name, to := range map[string]*uintptr{
		"halftoneEmulatorControl": &h.fnControl, "halftoneEmulatorReport": &h.fnReport, "halftoneEmulatorKernels": &h.fnKernels,
		"cuDevicePrimaryCtxReset_v2": &h.fnReset, "halftoneEmulatorFence": &h.fnFence,
	} {
		if *to, err = purego.Dlsym(lib, name); err != nil {
			return h, fmt.Errorf("emulator: %s is not the emulator's library: %w", d.Path(), err)
		}
	}
	return h, nil
}

// passed is the memory that C was given last.
var passed atomic.Pointer[byte]

// bytesAt returns the address of b's memory, for C to write to: seeing it stored, the compiler puts it into the heap. The caller keeps b
// alive over the call.
func bytesAt(b []byte) uintptr {
	p := unsafe.SliceData(b)
	passed.Store(p)
	return uintptr(unsafe.Pointer(p))
}

func (h handle) control(settings string) string {
	text, message := append([]byte(settings), 0), make([]byte, 400)
	purego.SyscallN(h.fnControl, bytesAt(text), bytesAt(message), uintptr(len(message)))
	runtime.KeepAlive(text)
	return cString(message)
}

func (h handle) reset(device int) int {
	r, _, _ := purego.SyscallN(h.fnReset, uintptr(device))
	return int(int32(r))
}

func (h handle) report() string {
	for n := 4096; ; n *= 2 {
		b := make([]byte, n)
		if need, _, _ := purego.SyscallN(h.fnReport, bytesAt(b), uintptr(n)); int(need) < n {
			return cString(b)
		}
	}
}

func (h handle) kernels() []string {
	var names []string
	for i := 0; ; i++ {
		p := make([]byte, 8)
		n, _, _ := purego.SyscallN(h.fnKernels, uintptr(i), bytesAt(p))
		if i >= int(n) {
			return names
		}
		names = append(names, goString(*(*uintptr)(unsafe.Pointer(&p[0]))))
	}
}

func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

func goString(p uintptr) string {
	c := *(**byte)(unsafe.Pointer(&p))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(c), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(c, n))
}

// fence returns the function that tells the library of memory that is handed out and taken back (cudart.UseEmulator).
func fence(d driver.Driver) (cudart.Fence, error) {
	h, err := open(d)
	if err != nil {
		return nil, err
	}
	return func(s driver.Stream, p driver.DevicePtr, bytes, total uint64, done bool) {
		end := uintptr(0)
		if done {
			end = 1
		}
		purego.SyscallN(h.fnFence, uintptr(s), uintptr(p), uintptr(bytes), uintptr(total), end)
	}, nil
}
