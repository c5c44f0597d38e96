package kernel

import (
	"context"
	"os"
	"strconv"
	"syscall"
	"time"
)

// parentEnv names the process that started the kernel; Jupyter sets it.
const parentEnv = "JPY_PARENT_PID"

// watchParent closes the channel when the Jupyter that started this kernel is gone without having shut it down.
func watchParent(ctx context.Context) <-chan struct{} {
	gone := make(chan struct{})
	parent, err := strconv.Atoi(os.Getenv(parentEnv))
	if err != nil || parent <= 1 {
		return gone
	}
	// Started through a wrapper, the parent is not ours; from another process namespace it cannot be seen at all.
	direct := os.Getppid() == parent
	if !direct && syscall.Kill(parent, 0) == syscall.ESRCH {
		return gone
	}
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if direct && os.Getppid() != parent || !direct && syscall.Kill(parent, 0) == syscall.ESRCH {
					close(gone)
					return
				}
			}
		}
	}()
	return gone
}
