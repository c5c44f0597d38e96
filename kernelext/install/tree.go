package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A process is named by its id and start time, so that a reused id is not taken for it.
type process struct {
	pid, parent int
	start       string
}

// processes lists every process there is: from /proc where the system has it, else from ps.
func processes() []process {
	var all []process
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// The second field is the program's name in parentheses, which may itself hold spaces and parentheses.
		text := string(b)
		pid, _ := strconv.Atoi(text[:strings.IndexByte(text, ' ')])
		f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(f) < 20 || f[0] == "Z" {
			continue
		}
		parent, _ := strconv.Atoi(f[1])
		all = append(all, process{pid, parent, f[19]})
	}
	if len(stats) > 0 {
		return all
	}
	out, _ := exec.Command("ps", "-A", "-o", "pid=,ppid=,stat=,lstart=").Output()
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || strings.HasPrefix(f[2], "Z") {
			continue
		}
		pid, _ := strconv.Atoi(f[0])
		parent, _ := strconv.Atoi(f[1])
		all = append(all, process{pid, parent, strings.Join(f[3:], " ")})
	}
	return all
}

// descendants returns the processes that pid has started, and those that they have.
func descendants(pid int) []process {
	children := map[int][]process{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p)
	}
	var all []process
	for queue := children[pid]; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0])
		queue = append(queue, children[queue[0].pid]...)
	}
	return all
}

// alive returns which of the processes still run.
func alive(family []process) []process {
	running := map[process]bool{}
	for _, p := range processes() {
		running[process{pid: p.pid, start: p.start}] = true
	}
	var left []process
	for _, p := range family {
		if running[process{pid: p.pid, start: p.start}] {
			left = append(left, p)
		}
	}
	return left
}

// endAll waits a moment for processes that are ending, asks the rest to, and after grace kills what is left.
func endAll(family []process, grace time.Duration) error {
	for step, sig := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL} {
		left := alive(family)
		if len(left) == 0 {
			return nil
		}
		for _, p := range left {
			if sig != 0 {
				_ = syscall.Kill(p.pid, sig)
			}
		}
		deadline := time.Now().Add(grace)
		if step == 0 {
			deadline = time.Now().Add(grace / 2)
		}
		for len(left) > 0 && time.Now().Before(deadline) {
			time.Sleep(50 * time.Millisecond)
			left = alive(left)
		}
	}
	if left := alive(family); len(left) > 0 {
		return fmt.Errorf("process %d cannot be ended", left[0].pid)
	}
	return nil
}
