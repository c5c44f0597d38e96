package kernel

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"syscall"
)

// keepCache lets values that cells keep with gonb/cache outlive the kernel, as they do in stock GoNB. Its default storage is a
// folder of TMPDIR named by a hash of the working directory; a link in the kernel's own TMPDIR leads to where stock
// GoNB has it. The returned function removes the folder again if nothing was kept. Failing costs only that the values go
// with the kernel.
func keepCache(tmp, system, cwd string) (tidy func()) {
	h := fnv.New64a()
	h.Write([]byte(cwd))
	name := fmt.Sprintf("gonb_cache_%X", h.Sum64())
	kept := filepath.Join(system, name)
	use := useFolder(kept)
	if use == nil {
		return func() {}
	}
	_ = os.Symlink(kept, filepath.Join(tmp, name))
	return func() {
		_ = use.Close()
		removeUnused(kept)
	}
}

// tidyCache removes what the links of a killed kernel's TMPDIR lead to, if nothing was kept there.
func tidyCache(tmp string) {
	links, _ := filepath.Glob(filepath.Join(tmp, "gonb_cache_*"))
	for _, link := range links {
		if kept, err := os.Readlink(link); err == nil && filepath.Base(kept) == filepath.Base(link) {
			removeUnused(kept)
		}
	}
}

// useFolder makes a folder if there is none and locks it, together with others that use it. It returns nil for what is not our own: the
// name can be guessed, and the folder above may be everyone's.
func useFolder(path string) *os.File {
	for range 10 {
		_ = os.Mkdir(path, 0o700)
		info, err := os.Lstat(path)
		if os.IsNotExist(err) {
			continue // another kernel has just removed it
		}
		if err != nil || !info.IsDir() {
			return nil
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_SH) // where there are no locks, none is removed either
		if now, err := os.Lstat(path); err == nil && os.SameFile(now, info) {
			return f
		}
		_ = f.Close()
	}
	return nil
}

// removeUnused removes a folder that is empty and that no kernel uses: a link to it would lead nowhere, and gonb/cache ends a program then.
func removeUnused(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.Remove(path) // fails, as it should, if it holds anything
	}
}
