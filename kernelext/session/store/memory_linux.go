package store

import (
	"bufio"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// reservedMemory is memory that a session leaves to everything else.
const reservedMemory = 64 << 20

// availableMemory returns how much memory can be taken before the system ends a process for want of it, and whose limit that is; -1 if it
// is unknown. A container's limit is that of its memory cgroup.
func availableMemory() (free int64, what string) { return memoryLeft(os.DirFS("/")) }

func memoryLeft(root fs.FS) (free int64, what string) {
	free, what = -1, ""
	note := func(n int64, of string) {
		if n = max(n-reservedMemory, 0); free < 0 || n < free {
			free, what = n, of
		}
	}
	if info := fields(root, "proc/meminfo"); info["MemAvailable"] > 0 {
		note(info["MemAvailable"]+info["SwapFree"], "the machine")
	}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return free, what
	}
	for line := range strings.Lines(string(groups)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		switch {
		case part[0] == "0" && part[1] == "": // version 2
			groupLeft(root, "sys/fs/cgroup", part[2], "memory.max", "memory.current", "inactive_file", note)
		case part[1] == "memory":
			groupLeft(root, "sys/fs/cgroup/memory", part[2], "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", note)
		}
	}
	return free, what
}

// groupLeft looks at a cgroup and all above it. Within a container the path may be that of the host, of which only the root is there.
func groupLeft(root fs.FS, mount, group, limit, usage, cache string, note func(int64, string)) {
	for dir := path.Join(mount, group); strings.HasPrefix(dir, mount); dir = path.Dir(dir) {
		l, u := number(root, path.Join(dir, limit)), number(root, path.Join(dir, usage))
		// No limit is written as the largest multiple of a page.
		if l > 0 && u >= 0 && l < math.MaxInt64/2 {
			note(l-u+fields(root, path.Join(dir, "memory.stat"))[cache], "the memory cgroup of this process")
		}
	}
}

func number(root fs.FS, name string) int64 {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return -1
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// fields reads lines of a name and a number, in bytes or kB.
func fields(root fs.FS, name string) map[string]int64 {
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	out := map[string]int64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w := strings.Fields(lines.Text())
		if len(w) < 2 {
			continue
		}
		n, err := strconv.ParseInt(w[1], 10, 64)
		if err != nil {
			continue
		}
		if len(w) == 3 && w[2] == "kB" {
			n <<= 10
		}
		out[strings.TrimSuffix(w[0], ":")] = n
	}
	return out
}
