package kernel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A program that reads standard input before it has asked by gonbui.RequestInput would wait for ever: GoNB writes to it what the answers to
// questions say, and nothing else. So a cell is looked at while it runs, and where its program waits in a read the kernel asks the user itself,
// and writes the answer to where the program reads. Where nobody can be asked the cell is told why it waits.
const (
	stdinPrompt = "standard input:"
	stdinHint   = "The cell's program reads from standard input, and who runs it does not allow questions (allow_stdin is false): it waits for ever. " +
		"Run it where there is a box to type in, as in JupyterLab, or give it what it reads: strings.NewReader(\"…\") instead of os.Stdin.\n"
)

// A stdinReader is a process that waits in a read of its standard input; the zero value is none.
type stdinReader struct {
	pid  int
	pipe string // what it reads, as the system names it
}

// findStdinReader finds a process that GoNB has started, or one that has its standard input from that, which waits in a read of it, where the
// system tells: Linux does. In a pipeline each reads from the one before, which is not for ever.
func findStdinReader(gonb int) stdinReader {
	members := sessionMembers(gonb)
	given := map[string]bool{}
	for _, p := range members {
		if link := fdLink(p.pid, 0); p.parent == gonb && p.name != "gopls" && strings.HasPrefix(link, "pipe:") {
			given[link] = true
		}
	}
	for _, p := range members {
		r := stdinReader{p.pid, fdLink(p.pid, 0)}
		if p.pid != gonb && p.name != "gopls" && given[r.pipe] && r.waits() {
			return r
		}
	}
	return stdinReader{}
}

// waits says whether one of its threads waits in the read, and nothing is there that it could read.
func (r stdinReader) waits() bool {
	threads, _ := filepath.Glob("/proc/" + strconv.Itoa(r.pid) + "/task/*/syscall")
	for _, t := range threads {
		if b, err := os.ReadFile(t); err == nil && isStdinRead(string(b)) {
			return unreadBytes(r.pid) == 0
		}
	}
	return false
}

// typeLine writes a line to the process as if it had been typed to it. Where the system tells who reads it also lets the pipe be opened at its
// other end.
func (r stdinReader) typeLine(text string) error {
	if r.pipe == "" || fdLink(r.pid, 0) != r.pipe {
		return errors.New("the program has ended")
	}
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/0", r.pid), os.O_WRONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_ = f.SetWriteDeadline(time.Now().Add(typePatience)) // of a program that has stopped to read a long line
	_, err = f.WriteString(text + "\n")
	return err
}

// typePatience is how long a line that is longer than a pipe holds waits for who reads it.
const typePatience = 10 * time.Second

// askForReader asks the user for what a program reads that has not asked itself.
func (k *kernel) askForReader(r *request, reader stdinReader) {
	m := k.author.compose("input_request", r.m, map[string]any{"prompt": stdinPrompt, "password": false})
	m.ids = r.m.ids
	r.input.reader = reader
	k.ask(r, m)
}

// typed gives the answer to such a question to the program.
func (k *kernel) typed(r *request, text string) {
	reader := r.input.reader
	r.input.reader = stdinReader{}
	go func() { // who reads nothing more lets a long line wait
		err := reader.typeLine(text)
		k.do(func() {
			if err != nil {
				k.logf("what was typed reached nobody: %v", err)
			}
			if k.current == r {
				k.askNext(r)
			}
		})
	}()
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
