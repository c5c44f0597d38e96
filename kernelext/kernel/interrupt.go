package kernel

import (
	"os"
	"slices"
	"syscall"
	"time"
)

// interrupt does what Ctrl-C does in a terminal: every process that works for the running cell gets one SIGINT, and GoNB
// does not go on with the rest of the cell. A second interrupt kills what has not ended by then.
//
// GoNB's own answer to an interrupt_request is less: only the program or shell that it waits for gets the signal, so that
// a shell's child goes on, a build cannot be interrupted, and the next line of the cell starts. On the signal GoNB passes
// it on to that process too, but remembers that the cell was interrupted. It also kills that process after five seconds. A
// program is what a cell ends with, so GoNB need not know, and the program has the time it takes to save and show what it has.
func (k *kernel) interrupt() {
	r := k.current
	if r == nil {
		k.interruptWaiting()
		return
	}
	if r.stop != nil {
		r.stop()
		return
	}
	if k.state != ready || r.m.kind != "execute_request" || k.askedJustNow(r) {
		return
	}
	gonb := k.child.cmd.Process.Pid
	all := cellProcesses(gonb)
	if r.signaled != nil {
		if time.Since(r.interrupted) > doubleClick {
			signalAll(all, syscall.SIGINT)
			r.killed = time.Now()
		}
		return
	}
	r.signaled, r.interrupted = map[int]bool{}, time.Now()
	endHolders(gonb)
	k.output.output.condense(floodLast, k.author, " when the cell was interrupted")
	program := slices.ContainsFunc(all, func(p process) bool { return p.parent == gonb && !isTool(p) })
	if !program {
		_ = syscall.Kill(gonb, syscall.SIGINT)
		r.skips = true
	}
	// A shell goes on with its next command when only its child was interrupted: it is told before the child.
	slices.SortStableFunc(all, func(a, b process) int { return depth(a, gonb) - depth(b, gonb) })
	signalAll(all, syscall.SIGINT)
	for _, p := range all {
		r.signaled[p.pid] = true
	}
}

const (
	doubleClick = 400 * time.Millisecond // two interrupts within are one
	lastChance  = 300 * time.Millisecond // from the signal of the second interrupt to the one that nobody can ignore
	gonbChance  = 3 * time.Second        // from the second interrupt to the end of a GoNB that does not see that its cell has ended
	stillRuns   = 5 * time.Second        // after which the user is told how to end a cell that goes on
)

func signalAll(list []process, sig syscall.Signal) {
	for _, p := range list {
		_ = syscall.Kill(p.pid, sig)
	}
}

// interruptWaiting gives up the cell that waits for GoNB to start, and with it, as after any error, those behind.
func (k *kernel) interruptWaiting() {
	for i, m := range k.queue {
		if m.kind == "execute_request" {
			k.queue = slices.Delete(k.queue, i, i+1)
			k.refuse(m, "Interrupted", "the cell was stopped before it began", "")
			return
		}
	}
}

func depth(p process, gonb int) int {
	if p.parent == gonb {
		return 0
	}
	return 1
}

// keepInterrupting signals what an interrupted cell starts afterwards, since between two tools there is a moment in which
// nothing runs that a signal could reach, and ends what a second interrupt has not ended.
func (k *kernel) keepInterrupting() {
	r := k.current
	if k.state != ready || r == nil || r.signaled == nil {
		return
	}
	gonb := k.child.cmd.Process.Pid
	all := cellProcesses(gonb)
	for _, p := range all {
		if p.parent == gonb && !r.signaled[p.pid] {
			r.signaled[p.pid] = true
			_ = syscall.Kill(p.pid, syscall.SIGINT)
			r.skips = r.skips && isTool(p) // a program says itself how it has ended
		}
	}
	switch {
	case !r.killed.IsZero() && time.Since(r.killed) > gonbChance && r.replied.IsZero() && !r.ended:
		r.ended = true // it is GoNB itself that works: on some texts it does so for hours
		c := k.child
		c.ended = "the cell was interrupted a second time, and it did not stop"
		go c.kill() // onExit follows
	case !r.killed.IsZero() && time.Since(r.killed) > lastChance:
		signalAll(all, syscall.SIGKILL)
		signalAll(holders(gonb), syscall.SIGKILL)
	case !r.told && time.Since(r.interrupted) > stillRuns:
		r.told = true
		k.stream("stderr", "halftone: the cell was interrupted and still runs. Interrupt again to end it at once.\n", r.m.header)
	}
}

// cellProcesses lists the processes of GoNB's process group without itself: gopls has a group of its own.
func cellProcesses(gonb int) []process {
	return slices.DeleteFunc(processes(), func(p process) bool {
		return p.group != gonb || p.pid == gonb || p.pid == os.Getpid()
	})
}

// isTool tells what GoNB runs besides a cell's program: what it builds with, and the shell of a line that starts with !. One that
// still has GoNB's own name is about to become any of these.
func isTool(p process) bool {
	return p.name == "go" || p.name == "goimports" || p.name == "bash" || p.name == "gonb"
}
