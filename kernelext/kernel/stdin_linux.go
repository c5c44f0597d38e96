package kernel

import "golang.org/x/sys/unix"

// readCall is the number of the system call that reads.
const readCall = unix.SYS_READ
