//go:build linux

package driver

import "unsafe"

// byValue lays out the arguments (out, handle, flags), the handle a struct of 64 bytes passed by value: AAPCS64 passes the
// address of a copy. The caller keeps h alive.
func byValue(out uintptr, h *IPCHandle, flags uintptr) []uintptr {
	return []uintptr{out, heap(unsafe.Pointer(h)), flags}
}
