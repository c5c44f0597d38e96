package store

import (
	"os"
	"syscall"
)

const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
	keepSize   = 1 // FALLOC_FL_KEEP_SIZE
	punchHole  = 2 // FALLOC_FL_PUNCH_HOLE
)

// inMemory says whether the file lies in memory, as that of memfd_create and all of /dev/shm do.
func inMemory(f *os.File) bool {
	var st syscall.Statfs_t
	if syscall.Fstatfs(int(f.Fd()), &st) != nil {
		return false
	}
	return uint32(st.Type) == tmpfsMagic || uint32(st.Type) == ramfsMagic
}

// availableSpace returns the bytes that this user may still have of a file's file system, -1 where that has no bound of its own.
func availableSpace(f *os.File) int64 {
	var st syscall.Statfs_t
	if syscall.Fstatfs(int(f.Fd()), &st) != nil || st.Blocks == 0 { // as of memory without a name
		return -1
	}
	return int64(st.Bavail) * st.Bsize
}

func allocate(f *os.File, off, size int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), 0, off, size)
		switch err {
		case syscall.EINTR:
			continue
		case syscall.EOPNOTSUPP, syscall.ENOSYS:
			return writeZeros(f, off, size)
		}
		return err
	}
}

func punch(f *os.File, off, size int64) error {
	return syscall.Fallocate(int(f.Fd()), keepSize|punchHole, off, size)
}
