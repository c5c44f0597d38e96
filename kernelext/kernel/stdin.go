package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A program that reads standard input before it has asked by gonbui.RequestInput waits for ever, and nothing on the page says so: front ends
// show a box only for a question. So a cell is looked at while it runs, and told what to do.
const stdinHint = "The cell's program reads from standard input, and has not asked for any: it waits for ever. " +
	"Call gonbui.RequestInput(\"what? \", false), of github.com/janpfeifer/gonb/gonbui, before it reads, and there is a box to type in. Interrupt the cell to end it.\n"

// readsStdin says whether a process that GoNB has started, or one that has its standard input from that, waits in a read of it, where the
// system tells: Linux does. In a pipeline each reads from the one before, which is not for ever.
func readsStdin(gonb int) bool {
	members := sessionMembers(gonb)
	given := map[string]bool{}
	for _, p := range members {
		if link := fdLink(p.pid, 0); p.parent == gonb && p.name != "gopls" && strings.HasPrefix(link, "pipe:") {
			given[link] = true
		}
	}
	for _, p := range members {
		if p.pid == gonb || p.name == "gopls" || !given[fdLink(p.pid, 0)] {
			continue
		}
		threads, _ := filepath.Glob("/proc/" + strconv.Itoa(p.pid) + "/task/*/syscall")
		for _, t := range threads {
			if b, err := os.ReadFile(t); err == nil && isStdinRead(string(b)) {
				return true
			}
		}
	}
	return false
}

// fdLink says what a process has open under a number, as the system names it; "" where it does not tell.
func fdLink(pid, fd int) string {
	link, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	return link
}

// isStdinRead reads a line of /proc/PID/task/TID/syscall: the number of the call that a thread waits in, and its arguments.
func isStdinRead(line string) bool {
	f := strings.Fields(line)
	return len(f) > 1 && f[0] == strconv.Itoa(readCall) && f[1] == "0x0"
}
