package kernel

import (
	"os"
	"slices"
	"syscall"
)

// interrupt does what Ctrl-C does in a terminal: every process that works for the running cell gets one SIGINT, and GoNB
// does not go on with the rest of the cell.
//
// GoNB's own answer to an interrupt_request is less: only the program or shell that it waits for gets the signal, so that
// a shell's child goes on, a build cannot be interrupted, and the next line of the cell starts. On the signal GoNB passes
// it on to that process too, but remembers that the cell was interrupted.
func (k *kernel) interrupt() {
	r := k.current
	if k.state != ready || r == nil || r.m.kind != "execute_request" {
		return
	}
	gonb := k.child.cmd.Process.Pid
	if r.signaled == nil {
		r.signaled = map[int]bool{}
	}
	_ = syscall.Kill(gonb, syscall.SIGINT)
	all := cellProcesses(gonb)
	// A shell goes on with its next command when only its child was interrupted: it is told before the child.
	slices.SortStableFunc(all, func(a, b process) int { return depth(a, gonb) - depth(b, gonb) })
	for _, p := range all {
		// The program that GoNB waits for gets the signal from GoNB. A second Ctrl-C tells none twice.
		if (p.parent != gonb || isTool(p)) && !r.signaled[p.pid] {
			_ = syscall.Kill(p.pid, syscall.SIGINT)
		}
		r.signaled[p.pid] = true
	}
}

func depth(p process, gonb int) int {
	if p.parent == gonb {
		return 0
	}
	return 1
}

// keepInterrupting signals what an interrupted cell starts afterwards: between two tools there is a moment in which
// nothing runs that a signal could reach.
func (k *kernel) keepInterrupting() {
	r := k.current
	if k.state != ready || r == nil || r.signaled == nil {
		return
	}
	gonb := k.child.cmd.Process.Pid
	for _, p := range cellProcesses(gonb) {
		if p.parent == gonb && !r.signaled[p.pid] {
			r.signaled[p.pid] = true
			_ = syscall.Kill(p.pid, syscall.SIGINT)
		}
	}
}

// cellProcesses lists the processes of GoNB's process group without itself: gopls has a group of its own.
func cellProcesses(gonb int) []process {
	return slices.DeleteFunc(processes(), func(p process) bool {
		return p.group != gonb || p.pid == gonb || p.pid == os.Getpid()
	})
}

// isTool tells what GoNB runs besides a cell's program: what it builds with, to which it passes no signal, and the shell
// of a line that starts with !, which a second signal does not hurt.
func isTool(p process) bool {
	return p.name == "go" || p.name == "goimports" || p.name == "bash"
}
