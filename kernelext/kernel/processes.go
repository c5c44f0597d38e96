package kernel

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killSession ends every process of a session. GoNB gives gopls a process group of its own, and so does a shell with job
// control, but the session stays the one that GoNB was started with.
func killSession(session int) {
	if session <= 1 {
		return
	}
	_ = syscall.Kill(-session, syscall.SIGKILL)
	// A process may be forking while we look: look again until none is left.
	for range 50 {
		members := sessionMembers(session)
		if len(members) == 0 {
			return
		}
		for _, pid := range members {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// sessionMembers lists the living processes of a session.
func sessionMembers(session int) []int {
	var members []int
	for _, pid := range processes() {
		if sid, err := unix.Getsid(pid); err == nil && sid == session && pid != os.Getpid() && !isZombie(pid) {
			members = append(members, pid)
		}
	}
	return members
}

// processes lists the process ids of the system: from /proc, or where there is none (macOS) from ps.
func processes() []int {
	var names []string
	if entries, err := os.ReadDir("/proc"); err == nil && len(entries) > 0 {
		for _, e := range entries {
			names = append(names, e.Name())
		}
	} else if out, err := exec.Command("ps", "-A", "-o", "pid=").Output(); err == nil {
		names = strings.Fields(string(out))
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isZombie reports whether a process is dead and only waits for its parent; without /proc it is taken to live, which
// costs killSession its full, bounded patience.
func isZombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	// The name in parentheses may contain anything; the state follows the last one.
	s := string(b)
	rest := strings.TrimSpace(s[strings.LastIndexByte(s, ')')+1:])
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}
