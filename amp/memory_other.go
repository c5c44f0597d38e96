//go:build !linux

package amp

// systemMemory returns the bytes of memory that this machine has; it is unknown here.
var systemMemory = func() uint64 { return 0 }
