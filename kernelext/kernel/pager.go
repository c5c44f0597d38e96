package kernel

import (
	"context"
	"regexp"
	"strings"
)

// helpCell is a cell that asks what a name is, as in IPython: ?name or name?.
var helpCell = regexp.MustCompile(`\A\s*(?:\?{1,2}\s*([\pL_][\pL\pN_.]*)|([\pL_][\pL\pN_.]*)\?{1,2})\s*\z`)

// startPager begins to answer a cell that asks for help; the answer is shown in the front end's pager. It returns false for any
// other cell. Until gopls has answered, the cell is the current one; then it comes again to forward.
func (k *kernel) startPager(m *message, code string) bool {
	asked := helpCell.FindStringSubmatch(code)
	if asked == nil || k.child == nil {
		return false
	}
	name := asked[1] + asked[2]
	mc := &magicCell{code: code}
	ask := k.author.compose("inspect_request", nil, map[string]any{"code": "%%\n" + name})
	ctx, stop := context.WithCancel(k.life)
	r := &request{m: m, stop: stop}
	k.current = r
	k.announce(m)
	q, ok := k.question(ask)
	q.limit = helpTime
	go func() {
		defer stop()
		var found map[string]any
		var silent error
		if ok {
			found, silent = k.assistant.ask(ctx, q)
		}
		stopped := ctx.Err() != nil
		k.do(func() {
			if k.current != r { // GoNB died meanwhile: the cell is in the queue again
				return
			}
			if mc.page, _ = found["data"].(map[string]any); mc.page == nil {
				kind, why := "NotFound", "nothing is known about "+name+": is it spelled right?"
				if stopped {
					kind, why = interruptedName, interruptedWhy
				} else if silent != nil {
					kind, why = "NoAnswer", "gopls, which knows about "+name+" if anybody does, does not answer ("+silent.Error()+"): ask again, or run `halftone doctor` in a terminal"
				}
				mc.verdict = newError(kind, why)
				mc.out = refused
			}
			m.magic = mc
			k.current, k.queue = nil, append([]*message{m}, k.queue...)
			k.pump()
		})
	}()
	return true
}

// exitCell is a cell that ends a console, as in IPython: `jupyter console` leaves the word to the kernel. Notebooks pay no heed to it.
var exitCell = regexp.MustCompile(`\A\s*(?:exit|quit)(?:\(\))?\s*\z`)

const exitText = "This ends a console; a notebook's kernel ends by the menu Kernel, Shut Down Kernel.\n"

// payload is what an execute_reply asks of the front end: to open its pager, or to end.
func (mc *magicCell) payload() []map[string]any {
	switch {
	case mc == nil:
	case mc.page != nil:
		return []map[string]any{{"source": "page", "data": mc.page, "start": 0}}
	case mc.exit:
		return []map[string]any{{"source": "ask_exit", "keepkernel": false}}
	}
	return []map[string]any{}
}

// isHelp reports whether code is a cell that asks for help.
func isHelp(code string) bool {
	return strings.Contains(code, "?") && helpCell.MatchString(code)
}
