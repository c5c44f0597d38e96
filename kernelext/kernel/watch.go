package kernel

import (
	"slices"
	"time"
)

// A cell that waits for what will not come shows nothing: it is looked at while it runs, and told what it waits for.

const (
	lookEvery    = time.Second // between two looks
	lookPatience = 3           // looks in a row that find the same
)

// looks counts what looks at a cell have found in a row; below 0 it has been told.
type looks struct{ reads, held int }

// seen counts one more look, and says whether it is time to tell.
func seen(n *int, found bool) bool {
	switch {
	case *n < 0:
		return false
	case !found:
		*n = 0
		return false
	}
	*n++
	if *n < lookPatience {
		return false
	}
	*n = -1
	return true
}

// watch looks at a running cell until it is over. Only the user's own question makes it stop waiting for input, so none may be out.
func (k *kernel) watch(r *request, w looks) {
	k.later(r, lookEvery, func() {
		gonb, quiet := k.child.cmd.Process.Pid, r.input.asked == nil && !r.input.gap && len(r.input.waiting) == 0 && time.Since(r.input.heard) > lookEvery
		go func() { // what the system lists is read outside the loop
			reads, held := quiet && w.reads >= 0 && readsStdin(gonb), []process(nil)
			if w.held >= 0 {
				held = holders(gonb)
			}
			k.do(func() {
				if k.current != r || k.state != ready {
					return
				}
				if seen(&w.reads, reads) {
					k.stream("stderr", stdinHint, r.m.header)
				}
				if seen(&w.held, len(held) > 0) {
					k.stream("stderr", heldHint(held), r.m.header)
				}
				k.watch(r, w)
			})
		}()
	})
}

// byGopls says whether a process is GoNB's helper, or one that this has started: no cell has.
func byGopls(list []process, p process) bool {
	return p.name == "gopls" || slices.ContainsFunc(list, func(q process) bool { return q.pid == p.parent && q.name == "gopls" })
}
