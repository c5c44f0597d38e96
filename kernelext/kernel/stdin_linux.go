package kernel

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// readCall is the number of the system call that reads.
const readCall = unix.SYS_READ

// nonBlocking opens a pipe without waiting, and so that writing to it has a deadline.
const nonBlocking = unix.O_NONBLOCK

// unreadBytes is how much a process has not read yet of the pipe that is its standard input; -1 where that cannot be known.
func unreadBytes(pid int) int {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/0", pid), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return -1
	}
	defer f.Close()
	n := -1
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) {
			if got, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ); err == nil {
				n = got
			}
		})
	}
	return n
}
