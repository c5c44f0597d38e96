package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A cell ends when its program has ended and its output is closed. A process that the program has started and left behind has that output,
// too, and while it lives the cell goes on, with nothing on the page that says why.

// holders lists the processes that hold the output of a cell's program that has ended; none where the system does not tell.
func holders(gonb int) []process {
	list := processes()
	if slices.ContainsFunc(list, func(p process) bool { return p.parent == gonb && !byGopls(list, p) }) {
		return nil // the cell still runs
	}
	pipes := map[string]bool{}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", gonb))
	for _, fd := range fds {
		if link, err := os.Readlink(fd); err == nil && strings.HasPrefix(link, "pipe:") {
			pipes[link] = true
		}
	}
	for fd := range 3 {
		delete(pipes, fdLink(gonb, fd)) // GoNB's own
	}
	return slices.DeleteFunc(list, func(p process) bool {
		return p.pid == gonb || p.pid == os.Getpid() || byGopls(list, p) || !pipes[fdLink(p.pid, 1)] && !pipes[fdLink(p.pid, 2)]
	})
}

func heldHint(held []process) string {
	more := ""
	if n := len(held) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("halftone: the cell's program has ended, but %s (process %d)%s, which it started, still holds its output, so the cell goes on until that ends. "+
		"Interrupt the cell to end it; give such a process an output of its own, or wait for it, to do without.\n", held[0].name, held[0].pid, more)
}

// endHolders ends what keeps a cell from ending. It was left in the background, where a shell has it ignore SIGINT.
func endHolders(gonb int) {
	held := holders(gonb)
	signalAll(held, syscall.SIGINT)
	signalAll(held, syscall.SIGTERM)
}
