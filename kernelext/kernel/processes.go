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

// A process is a living process as the system lists it.
type process struct {
	pid, parent, group int
	name               string
}

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
		for _, p := range members {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// sessionMembers lists the living processes of a session.
func sessionMembers(session int) []process {
	var members []process
	for _, p := range processes() {
		if sid, err := unix.Getsid(p.pid); err == nil && sid == session && p.pid != os.Getpid() {
			members = append(members, p)
		}
	}
	return members
}

// sessionMemory adds up what the processes of a session hold in memory, in bytes; 0 where that cannot be known.
func sessionMemory(session int) (bytes int64) {
	if session <= 1 {
		return 0
	}
	for _, p := range sessionMembers(session) {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/statm")
		if f := strings.Fields(string(b)); err == nil && len(f) > 1 {
			pages, _ := strconv.ParseInt(f[1], 10, 64)
			bytes += pages * int64(os.Getpagesize())
		}
	}
	return bytes
}

// processes lists the system's living processes: from /proc, or where there is none (macOS) from ps.
func processes() []process {
	entries, err := os.ReadDir("/proc")
	if err != nil || len(entries) == 0 {
		return fromPS()
	}
	var list []process
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid > 1 {
			b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
			if p, ok := parseStat(string(b)); err == nil && ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// parseStat reads a line of /proc/PID/stat: pid (name) state parent group …, where the name may contain anything. The dead
// that only wait for their parent are left out.
func parseStat(line string) (process, bool) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	f := strings.Fields(line[end+1:])
	if len(f) < 3 || f[0] == "Z" || f[0] == "X" {
		return process{}, false
	}
	p := process{name: line[open+1 : end]}
	var err [3]error
	p.pid, err[0] = strconv.Atoi(strings.TrimSpace(line[:open]))
	p.parent, err[1] = strconv.Atoi(f[1])
	p.group, err[2] = strconv.Atoi(f[2])
	return p, err == [3]error{}
}

func fromPS() []process {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,pgid=,stat=,comm=").Output()
	if err != nil {
		return nil
	}
	var list []process
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 5 || strings.HasPrefix(f[3], "Z") {
			continue
		}
		p := process{name: f[4]}
		if i := strings.LastIndexByte(p.name, '/'); i >= 0 {
			p.name = p.name[i+1:]
		}
		p.pid, _ = strconv.Atoi(f[0])
		p.parent, _ = strconv.Atoi(f[1])
		p.group, _ = strconv.Atoi(f[2])
		if p.pid > 1 {
			list = append(list, p)
		}
	}
	return list
}
