package cudart

import "syscall"

// thread is the number of the calling goroutine's thread.
func thread() int64 { return int64(syscall.Gettid()) }
