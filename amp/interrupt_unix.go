//go:build unix

package amp

import (
	"os"
	"syscall"
)

// interruptSelf sends an interrupt that came while nobody looked to the program itself.
func interruptSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) }
