package kernel

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A program that reads standard input before it has asked by gonbui.RequestInput waits for ever, and nothing on the page says so: front ends
// show a box only for a question. So a cell is looked at while it runs, and told what to do.
const (
	stdinLook     = time.Second // between two looks
	stdinPatience = 3           // looks in a row that find it reading
)

const stdinHint = "The cell's program reads from standard input, and has not asked for any: it waits for ever. " +
	"Call gonbui.RequestInput(\"what? \", false), of github.com/janpfeifer/gonb/gonbui, before it reads, and there is a box to type in. Interrupt the cell to end it.\n"

// watchStdin looks at a running cell until it is over or was told. Only the user's own question makes it stop waiting, so none may be out.
func (k *kernel) watchStdin(r *request, seen int) {
	k.later(r, stdinLook, func() {
		session, quiet := k.child.cmd.Process.Pid, r.input.asked == nil && !r.input.gap && len(r.input.waiting) == 0 && time.Since(r.input.heard) > stdinLook
		go func() { // what the system lists is read outside the loop
			reads := quiet && readsStdin(session)
			k.do(func() {
				switch {
				case k.current != r || k.state != ready:
				case reads && seen+1 >= stdinPatience:
					k.stream("stderr", stdinHint, r.m.header)
				case reads:
					k.watchStdin(r, seen+1)
				default:
					k.watchStdin(r, 0)
				}
			})
		}()
	})
}

// readsStdin says whether a process of a session other than its leader waits in a read of standard input, where the system tells: Linux does.
func readsStdin(session int) bool {
	for _, p := range sessionMembers(session) {
		if p.pid == session || p.name == "gopls" {
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

// isStdinRead reads a line of /proc/PID/task/TID/syscall: the number of the call that a thread waits in, and its arguments.
func isStdinRead(line string) bool {
	f := strings.Fields(line)
	return len(f) > 1 && f[0] == strconv.Itoa(readCall) && f[1] == "0x0"
}
