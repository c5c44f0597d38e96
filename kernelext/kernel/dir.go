package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// makeDir makes the private folder of a kernel under parent, and removes those of kernels that are dead. The name holds
// the process id, which is how the next kernel knows.
func makeDir(parent string) (string, error) {
	// gopls and we listen on sockets in it, and a socket's path is short. The system's temporary folder is the way out.
	if len(parent) > maxDirParent {
		parent = "/tmp"
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("kernel: no folder for temporary files: %w; set HALFTONE_HOME to a folder you can write", err)
	}
	sweep(parent)
	dir, err := os.MkdirTemp(parent, fmt.Sprintf("%s%d-", dirPrefix, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("kernel: no folder for temporary files: %w; set HALFTONE_HOME to a folder you can write", err)
	}
	return dir, nil
}

const (
	dirPrefix = "ht"
	// Under the private folder the longest socket is gopls's: about 50 bytes more.
	maxDirParent = maxSocketPath - 55
)

// sweep removes the folders of dead kernels: a power cut kills kernel and guard together.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), dirPrefix)
		if !ok || !e.IsDir() {
			continue
		}
		owner, _, ok := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(owner)
		if !ok || err != nil || pid <= 1 || syscall.Kill(pid, 0) != syscall.ESRCH {
			continue
		}
		_ = os.RemoveAll(filepath.Join(parent, e.Name()))
	}
}
