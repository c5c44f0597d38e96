package emulator

import (
	"os"
	"path/filepath"
	"time"
)

// A library is compiled in a folder of its own. A build that is killed leaves that folder, some 100 MB; the next one removes it. Whether a
// folder is in use a lock in it tells, which ends with the process that holds it.

const (
	workPattern = "build-*"
	inUse       = "in-use.lock"
	makingTakes = time.Minute // from a folder to its lock, at most
)

// workFolder makes a folder to build in; done removes it.
func workFolder(cache string) (dir string, done func(), err error) {
	if dir, err = os.MkdirTemp(cache, workPattern); err != nil {
		return "", nil, err
	}
	unlock, err := lock(filepath.Join(dir, inUse))
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, func() { os.RemoveAll(dir); unlock() }, nil
}

// pruneBuilds removes the folders of builds that were killed.
func pruneBuilds(cache string) {
	found, _ := filepath.Glob(filepath.Join(cache, workPattern))
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		file := filepath.Join(dir, inUse)
		if _, err := os.Stat(file); err != nil {
			if time.Since(info.ModTime()) < makingTakes {
				continue // it is being made, or takes its name
			}
		} else if unlock, free := tryLock(file); !free {
			continue
		} else {
			unlock()
		}
		_ = os.RemoveAll(dir)
	}
}
