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
	_ = os.Mkdir(kept, 0o700)
	info, err := os.Lstat(kept)
	if err != nil || !info.IsDir() {
		return func() {}
	}
	// The name can be guessed, and the folder above may be everyone's.
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
		return func() {}
	}
	_ = os.Symlink(kept, filepath.Join(tmp, name))
	return func() { _ = os.Remove(kept) } // fails, as it should, if it holds anything
}
