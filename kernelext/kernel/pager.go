package kernel

import (
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
	r := &request{m: m, stop: func() { mc.page = nil }}
	k.current = r
	k.announce(m)
	q, ok := k.question(ask)
	go func() {
		var found map[string]any
		if ok {
			found = k.assistant.ask(q)
		}
		k.do(func() {
			if k.current != r { // GoNB died meanwhile: the cell is in the queue again
				return
			}
			if mc.page, _ = found["data"].(map[string]any); mc.page == nil {
				why := "nothing is known about " + name + ": is it spelled right?"
				mc.verdict = &errorContent{"NotFound", why, []string{"NotFound: " + why}}
				mc.out = refused
			}
			m.magic = mc
			k.current, k.queue = nil, append([]*message{m}, k.queue...)
			k.pump()
		})
	}()
	return true
}

// payload is what an execute_reply carries for the pager.
func (mc *magicCell) payload() []map[string]any {
	if mc == nil || mc.page == nil {
		return []map[string]any{}
	}
	return []map[string]any{{"source": "page", "data": mc.page, "start": 0}}
}

// isHelp reports whether code is a cell that asks for help.
func isHelp(code string) bool {
	return strings.Contains(code, "?") && helpCell.MatchString(code)
}
