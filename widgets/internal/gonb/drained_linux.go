package gonb

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// drained waits until a pipe has been empty for some time, and says whether it has.
func drained(pipe *os.File, idle time.Duration, deadline time.Time) bool {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return false
	}
	var empty time.Time // since when it is
	for {
		var waiting int32
		var failed syscall.Errno
		if err := raw.Control(func(fd uintptr) {
			_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCINQ, uintptr(unsafe.Pointer(&waiting)))
		}); err != nil || failed != 0 {
			return false
		}
		now := time.Now()
		switch {
		case waiting > 0:
			empty = time.Time{}
		case empty.IsZero():
			empty = now
		case now.Sub(empty) >= idle:
			return true
		}
		if now.After(deadline) {
			return false
		}
		time.Sleep(300 * time.Microsecond)
	}
}

// fSetPipeSize is F_SETPIPE_SZ.
const fSetPipeSize = 1031

// enlarge gives a pipe room for any figure, and for several of gonbui's messages: one that finds room is written in one piece. It
// fails only where a user has too much in pipes already.
func enlarge(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		for size := uintptr(1 << 20); size >= 1<<18; size /= 2 { // the most that the system allows by default, and less
			if _, _, failed := syscall.Syscall(syscall.SYS_FCNTL, fd, fSetPipeSize, size); failed == 0 {
				return
			}
		}
	})
}
