package kernel

import (
	"slices"
	"time"
)

// A cell that waits for what will not come shows nothing: it is looked at while it runs, and told what it waits for.

const (
	lookEvery    = 500 * time.Millisecond // between two looks
	readPatience = 2                      // looks in a row that find a program waiting for input
	heldPatience = 6                      // looks in a row that find an output held
)

// looks counts what looks at a cell have found in a row; below 0 it has been told.
type looks struct{ reads, held int }

// seen counts one more look, and says whether it is time to tell.
func seen(n *int, found bool, patience int) bool {
	switch {
	case *n < 0:
		return false
	case !found:
		*n = 0
		return false
	}
	*n++
	if *n < patience {
		return false
	}
	*n = -1
	return true
}

// watch looks at a running cell until it is over. Only the user's own question makes it stop waiting for input, so none may be out.
func (k *kernel) watch(r *request, w looks) {
	k.later(r, lookEvery, func() {
		gonb, quiet := k.child.cmd.Process.Pid, r.signaled == nil && r.input.asked == nil && !r.input.gap && len(r.input.waiting) == 0 && time.Since(r.input.heard) > 2*lookEvery
		go func() { // what the system lists is read outside the loop
			reader, held := stdinReader{}, []process(nil)
			if quiet && w.reads >= 0 {
				reader = findStdinReader(gonb)
			}
			if w.held >= 0 {
				held = holders(gonb)
			}
			k.do(func() {
				if k.current != r || k.state != ready {
					return
				}
				if quiet && seen(&w.reads, reader != (stdinReader{}), readPatience) {
					k.onReader(r, reader, &w)
				}
				if seen(&w.held, len(held) > 0, heldPatience) {
					k.stream("stderr", heldHint(held), r.m.header)
				}
				k.watch(r, w)
			})
		}()
	})
}

// onReader asks the user for what a program waits for; where nobody can be asked, it says so once. A question that the cell has asked
// meanwhile comes first.
func (k *kernel) onReader(r *request, reader stdinReader, w *looks) {
	switch {
	case !r.input.allowed:
		k.stream("stderr", stdinHint, r.m.header)
	case r.input.asked != nil || r.input.gap:
		w.reads = 0
	default:
		w.reads = readPatience - 1 // one who has read once and reads again is asked sooner
		k.askForReader(r, reader)
	}
}

// byGopls says whether a process is GoNB's helper, or one that this has started: no cell has.
func byGopls(list []process, p process) bool {
	return p.name == "gopls" || slices.ContainsFunc(list, func(q process) bool { return q.pid == p.parent && q.name == "gopls" })
}
