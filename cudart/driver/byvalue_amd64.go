//go:build linux

package driver

import "encoding/binary"

// byValue lays out the arguments (out, handle, flags), the handle a struct of 64 bytes passed by value: the System V ABI puts it
// on the stack, after the six registers, which integers fill from the left.
func byValue(out uintptr, h *IPCHandle, flags uintptr) []uintptr {
	args := []uintptr{out, flags, 0, 0, 0, 0}
	for i := 0; i < len(h); i += 8 {
		args = append(args, uintptr(binary.LittleEndian.Uint64(h[i:])))
	}
	return args
}
