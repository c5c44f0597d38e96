package cpu

import "syscall"

// allowTiles asks the kernel for the state of the tile registers, 8 KiB per thread, which is off until a process wants it. The request
// holds for all threads; it fails where the kernel or the processor lacks them.
func allowTiles() bool {
	const (
		archReqXcompPerm = 0x1023
		xfeatureTileData = 18
	)
	_, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, archReqXcompPerm, xfeatureTileData, 0)
	return errno == 0
}
