package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// guard keeps a second installation into the same home from running at the same time. The kernel frees the lock when its
// holder dies, so a stale one cannot exist.
func guard(ctx context.Context, home string, rep *Reporter) (release func(), err error) {
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, explain("making "+home, home, err, "")
	}
	path := filepath.Join(home, "install.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, explain("opening "+path, home, err, "")
	}
	told := false
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, explain("locking "+path, home, err, "")
		}
		if !told {
			holder, _ := os.ReadFile(path)
			rep.Say("Another installation is running (%s); waiting for it.", strings.TrimSpace(string(holder)))
			told = true
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
	_ = f.Truncate(0)
	_, _ = f.WriteAt(fmt.Appendf(nil, "process %d\n", os.Getpid()), 0)
	return func() { f.Close() }, nil
}
