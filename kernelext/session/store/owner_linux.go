package store

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ownMemory makes memory that the size of /dev/shm does not bound. Other processes reach it through this one's descriptor, which the
// system lets only the same user open.
func ownMemory() (*Owner, error) {
	fd, err := unix.MemfdCreate("halftone-session", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	path := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
	f := os.NewFile(uintptr(fd), path)
	// Where /proc is hidden, or not there, a file does it.
	again, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	_ = again.Close()
	return &Owner{f: f, path: path}, nil
}
