package kernel

import (
	"encoding/json"
	"strings"
	"time"
)

// A request is what GoNB is working on. GoNB does one thing at a time, so requests wait here and not there: what runs
// next is known before it runs, requests behind an error can be dropped as in any Jupyter kernel, and whoever waits is
// told when GoNB dies.
type request struct {
	m           *message
	begun       bool // GoNB has said that it is busy with it
	replied     time.Time
	idle        time.Time
	active      time.Time // when something was last published for it
	failed      bool
	reply       *message      // of a failed cell: kept until the error is known that goes into it
	failure     *errorContent // as published
	verdict     *errorContent // why the kernel has stopped the cell, where it has
	stopOnError bool
	stop        func()       // ends the answering of %amp lines, which is all that happens so far
	moved       int          // characters by which the cursor stands elsewhere for GoNB
	reset       bool         // the cell makes GoNB forget its declarations
	signaled    map[int]bool // processes of an interrupted cell that have been told
	interrupted time.Time    // when the cell was interrupted first
	killed      time.Time    // when it was interrupted again
	told        bool         // that it goes on
}

// replyPatience and idlePatience bound the wait for the second half of an answer when the first has come: GoNB leaves
// out replies when it cannot read a request. Output may still have figures to draw in front of it.
const (
	replyPatience = 3 * time.Second
	idlePatience  = drawTimeout + 5*time.Second
)

// pump works through the queue until something has to be waited for.
func (k *kernel) pump() {
	for k.current == nil && len(k.queue) > 0 {
		m := k.queue[0]
		if k.state == starting && !k.isLocal(m) {
			return
		}
		k.queue = k.queue[1:]
		switch {
		case k.isLocal(m):
			k.answer(k.front.shell, m)
		case k.state == broken:
			k.failBroken(m)
		default:
			k.forward(m)
		}
	}
}

// forward gives a request to GoNB.
func (k *kernel) forward(m *message) {
	if k.startMagics(m) {
		return
	}
	r := &request{m: m}
	switch m.kind {
	case "execute_request":
		var x executeRequest
		m, x = k.normalize(m)
		if mc := m.magic; mc != nil {
			m, r.verdict = m.withCode(mc.out, k.key), mc.verdict
		}
		r.reset = resets(x.Code)
		r.stopOnError = x.StopOnError == nil || *x.StopOnError
		if err := k.cells.add(x.Code, *x.StoreHistory); err != nil {
			k.stream("stderr", "halftone: the cell map cannot be written: "+err.Error()+"\n", m.header)
		}
	case "complete_request", "inspect_request":
		m, r.moved = k.withoutMagics(m)
		m = k.normalizeCursor(m)
	default: // no answer can be expected
		k.child.shell.send(m.frames())
		return
	}
	k.current = r
	k.child.shell.send(m.frames())
}

type executeRequest struct {
	Code         string `json:"code"`
	Silent       *bool  `json:"silent"`
	StoreHistory *bool  `json:"store_history"`
	StopOnError  *bool  `json:"stop_on_error"`
	AllowStdin   *bool  `json:"allow_stdin"`
}

// normalize fills in what the protocol makes optional: GoNB panics where it is left out.
func (k *kernel) normalize(m *message) (*message, executeRequest) {
	var x executeRequest
	fields := map[string]any{}
	_ = json.Unmarshal(m.content, &fields)
	_ = json.Unmarshal(m.content, &x)
	changed := false
	set := func(name string, field **bool, value bool) {
		if _, ok := fields[name].(bool); !ok {
			fields[name], changed = value, true
		}
		v := fields[name].(bool)
		*field = &v
	}
	set("silent", &x.Silent, false)
	set("store_history", &x.StoreHistory, !*x.Silent)
	set("allow_stdin", &x.AllowStdin, false)
	if *x.Silent && *x.StoreHistory { // silent forces it off
		no := false
		fields["store_history"], x.StoreHistory, changed = false, &no, true
	}
	if _, ok := fields["code"].(string); !ok {
		fields["code"], x.Code, changed = "", "", true
	}
	if !changed {
		return m, x
	}
	return m.withContent(mustJSON(fields), k.key), x
}

// normalizeCursor does the same for completion and inspection.
func (k *kernel) normalizeCursor(m *message) *message {
	fields := map[string]any{}
	_ = json.Unmarshal(m.content, &fields)
	changed := false
	code, ok := fields["code"].(string)
	if !ok {
		fields["code"], changed = "", true
	}
	if _, ok := fields["cursor_pos"].(float64); !ok {
		fields["cursor_pos"], changed = len([]rune(code)), true
	}
	if _, ok := fields["detail_level"].(float64); !ok && m.kind == "inspect_request" {
		fields["detail_level"], changed = 0, true
	}
	if !changed {
		return m
	}
	return m.withContent(mustJSON(fields), k.key)
}

// onReply notes GoNB's reply to the current request.
func (k *kernel) onReply(parent string, m *message) {
	r := k.current
	if r == nil || r.m.id != parent || !strings.HasSuffix(m.kind, "_reply") {
		k.front.shell.send(m)
		return
	}
	var c struct {
		Status string `json:"status"`
		Count  int    `json:"execution_count"`
	}
	_ = json.Unmarshal(m.content, &c)
	if m.kind == "execute_reply" && c.Count > 0 {
		k.cells.counted(c.Count)
	}
	r.failed = c.Status == "error"
	r.replied = time.Now()
	if r.failed && m.kind == "execute_reply" {
		r.reply = m
	} else {
		k.front.shell.send(r.movedBack(m, k.key))
	}
	k.settle(r)
}

// onPublished notes when the current request is over on iopub.
func (k *kernel) onPublished(parent string, m *message) {
	r := k.current
	if r == nil || r.m.id != parent {
		return
	}
	r.active = time.Now()
	if m.kind == "error" {
		r.failure = new(errorContent)
		_ = json.Unmarshal(m.content, r.failure)
	}
	if m.kind != "status" {
		return
	}
	var c struct {
		State string `json:"execution_state"`
	}
	if json.Unmarshal(m.content, &c) != nil {
		return
	}
	r.begun = true
	if c.State == "idle" {
		r.idle = time.Now()
		k.settle(r)
	}
}

// settle ends the current request when both halves of its answer have come.
func (k *kernel) settle(r *request) {
	if !r.replied.IsZero() && !r.idle.IsZero() {
		k.finish(r)
	}
}

func (k *kernel) finish(r *request) {
	k.current = nil
	k.sendKept(r)
	// Who interrupts a cell does not want the next one to start, even if this one has ended well.
	if (r.failed || r.signaled != nil) && r.stopOnError && r.m.kind == "execute_request" {
		k.abortQueued()
	}
	if r.reset && k.state == ready {
		k.prelude()
	}
	k.pump()
}

// sendKept sends the reply of a failed cell, with the error that was published: tools that execute notebooks report it.
func (k *kernel) sendKept(r *request) {
	m := r.reply
	if m == nil {
		return
	}
	fields := map[string]any{}
	if r.failure != nil && json.Unmarshal(m.content, &fields) == nil {
		fields["ename"], fields["evalue"], fields["traceback"] = r.failure.Name, r.failure.Value, r.failure.Traceback
		m = m.withContent(mustJSON(fields), k.key)
	}
	k.front.shell.send(m)
	r.reply = nil
}

// checkCurrent supplies the half of an answer that does not come.
func (k *kernel) checkCurrent() {
	r := k.current
	switch {
	case r == nil:
	case r.replied.IsZero() && !r.idle.IsZero() && time.Since(r.idle) > replyPatience:
		k.reply(k.front.shell, r.m, map[string]any{
			"status": "error", "ename": "NoReply", "evalue": "GoNB gave no answer", "traceback": []string{},
		})
		r.failed = true
		k.finish(r)
	case r.idle.IsZero() && !r.replied.IsZero() && time.Since(r.replied) > idlePatience && time.Since(r.active) > idlePatience:
		k.status("idle", r.m)
		k.finish(r)
	}
}

// abortQueued tells the front end that the cells behind a failed one are not run.
func (k *kernel) abortQueued() {
	rest := k.queue[:0]
	for _, m := range k.queue {
		if m.kind != "execute_request" {
			rest = append(rest, m)
			continue
		}
		k.status("busy", m)
		k.reply(k.front.shell, m, map[string]any{"status": "aborted"})
		k.status("idle", m)
	}
	k.queue = rest
}

// fail answers a request that GoNB will not answer any more.
func (k *kernel) fail(r *request, name, value, text string) {
	if r.m.kind == "execute_request" {
		k.stream("stderr", text, r.m.header)
		k.publish("error", r.m, map[string]any{"ename": name, "evalue": value, "traceback": []string{name + ": " + value}})
	}
	if r.replied.IsZero() {
		content := map[string]any{"status": "error", "ename": name, "evalue": value, "traceback": []string{name + ": " + value}}
		k.reply(k.front.shell, r.m, content)
	}
	k.status("idle", r.m)
	r.failed = true
	k.finish(r)
}

// failBroken answers when GoNB cannot be started at all.
func (k *kernel) failBroken(m *message) {
	k.status("busy", m)
	text := "GoNB, which runs the cells, cannot be started: " + k.why.Error() + "\nRun `halftone doctor` in a terminal, then restart the kernel.\n"
	k.fail(&request{m: m}, "KernelBroken", "GoNB cannot be started", text)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only what came from JSON goes there
	}
	return b
}
