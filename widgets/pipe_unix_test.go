//go:build unix

package widgets

import "syscall"

// makePipe makes a named pipe, as GoNB does.
func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }
