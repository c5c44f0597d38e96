//go:build !amd64

package cpu

import "runtime"

// pause lets other goroutines run.
func pause(int) { runtime.Gosched() }
