package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrSpace is wrapped where there is no room for what is to be kept.
var ErrSpace = errors.New("no space in the session")

// ErrBusy is wrapped where another program holds the session.
var ErrBusy = errors.New("the session is in use")

var pageSize = int64(os.Getpagesize())

// A backing is the file that a session lies in: memory without a name that the kernel owns, or a file. Nothing of it is mapped that was
// not reserved before, so that a lack of space is an error of the reservation and never a signal on access.
type backing struct {
	f      *os.File
	path   string
	memory bool // its pages stay in memory: there is no disk behind them
}

// lockPatience is how long a cell waits for the program before it, which may have been killed and not have ended yet.
const lockPatience = 5 * time.Second

// openBacking opens the file and takes its lock, which the system gives back however this process ends.
func openBacking(path string, create bool, patience time.Duration) (*backing, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("session: the store can't be opened: %w", err)
	}
	b := &backing{f: f, path: path, memory: inMemory(f)}
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return b, nil
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			break // a file system without locks: GoNB runs one cell at a time
		}
		if time.Now().After(deadline) {
			_ = f.Close()
			return nil, fmt.Errorf("session: %w by another program of this notebook; wait until it ends, or stop it", ErrBusy)
		}
	}
	return b, nil
}

// close gives the lock back by itself: a mapping keeps the file open, and locked, after its descriptor is closed.
func (b *backing) close() error {
	_ = syscall.Flock(int(b.f.Fd()), syscall.LOCK_UN)
	return b.f.Close()
}

// reserve gives the bytes from off on storage of their own. What can end in a signal is looked at before.
func (b *backing) reserve(off, size int64) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("session: %w: %d bytes (%s) are wanted, copies included, and %s; free some with session.Drop or %%amp session drop, or make the model smaller",
			ErrSpace, size, Bytes(size), fmt.Sprintf(format, args...))
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit) == nil && uint64(off+size) > uint64(limit.Cur) {
		return fail("a file may have %s here (ulimit -f)", Bytes(int64(limit.Cur)))
	}
	if b.memory {
		if free, what := availableMemory(); free >= 0 && size > free {
			return fail("%s has %s left", what, Bytes(max(free, 0)))
		}
	}
	// A file system that lacks room gives all it has before it says so: others would find the disk full meanwhile.
	if free := availableSpace(b.f); free >= 0 && size > free {
		return fail("the file system has %s left", Bytes(free))
	}
	err := allocate(b.f, off, size)
	if err == nil {
		return nil
	}
	b.release(off, size)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EFBIG) {
		return fail("the system has no room (%v)", err)
	}
	return fmt.Errorf("session: reserving %d bytes: %w", size, err)
}

// release gives storage back; what is read there afterwards is zero.
func (b *backing) release(off, size int64) {
	if info, err := b.f.Stat(); err == nil && off+size >= info.Size() && off < info.Size() {
		_ = b.f.Truncate(off)
		return
	}
	_ = punch(b.f, off, size)
}

// mapped returns reserved bytes as memory that all who map them share.
func (b *backing) mapped(off, size int64) ([]byte, error) {
	mem, err := syscall.Mmap(int(b.f.Fd()), off, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("session: %w: mapping %s: %w; raise the limit on address space (ulimit -v)", ErrSpace, Bytes(size), err)
	}
	return mem, nil
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// Bytes writes a size for people.
func Bytes(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}
