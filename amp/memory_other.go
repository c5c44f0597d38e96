//go:build !linux

package amp

// systemMemory returns the bytes of memory that this machine has; it is unknown here.
func systemMemory() uint64 { return 0 }
