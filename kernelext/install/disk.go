package install

import (
	"path/filepath"
	"syscall"
)

// freeBytes is the space that this user may fill where dir lies or would be made.
func freeBytes(dir string) (int64, error) {
	for {
		var st syscall.Statfs_t
		err := syscall.Statfs(dir, &st)
		if err == nil {
			return int64(st.Bavail) * int64(st.Bsize), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return 0, err
		}
		dir = up
	}
}
