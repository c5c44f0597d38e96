package kernel

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// A request is what GoNB is working on. GoNB does one thing at a time, so requests wait here and not there: what runs
// next is known before it runs, requests behind an error can be dropped as in any Jupyter kernel, and whoever waits is
// told when GoNB dies.
type request struct {
	m           *message
	since       time.Time
	begun       bool // GoNB has said that it is busy with it
	replied     time.Time
	idle        time.Time
	active      time.Time // when something was last published for it
	failed      bool
	reply       *message      // of a cell: kept until all that it showed has left, and the error is known that goes into it
	whole       bool          // the reply leaves nothing out
	failure     *errorContent // as published
	verdict     *errorContent // why the kernel has stopped the cell, where it has
	stopOnError bool
	stop        func()   // ends the answering of %amp lines, which is all that happens so far
	reset       bool     // the cell makes GoNB forget its declarations
	silent      bool     // what it prints and shows is not for front ends
	foreign     bool     // GoNB does not know its header as it is
	expressions []string // names of the user's expressions
	input       inputState
	signaled    map[int]bool // processes of an interrupted cell that have been told
	interrupted time.Time    // when the cell was interrupted first
	killed      time.Time    // when it was interrupted again
	told        bool         // that it goes on
	ended       bool         // GoNB has been ended for it
	skips       bool         // GoNB was told of the interrupt while none of the cell's programs ran: it leaves out the rest of the cell
	lastIdle    *message     // of such a cell, while the reply is not there
}

// replyPatience and idlePatience bound the wait for the second half of an answer when the first has come: GoNB leaves
// out replies when it cannot read a request. Output may still have figures to draw in front of it.
const (
	replyPatience = 3 * time.Second
	idlePatience  = drawTimeout + 5*time.Second
)

// stuckPatience is how long GoNB may take to answer what is no cell.
const stuckPatience = 60 * time.Second

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
			k.answer(k.outlet(m), m)
		case k.state == broken && m.kind == "execute_request" && !m.retried:
			m.retried = true // what was wrong may have been put right: one more try for each cell
			k.queue = append([]*message{m}, k.queue...)
			k.failures = 2
			k.startChild()
		case k.state == broken:
			k.failBroken(m)
		default:
			k.forward(m)
		}
	}
}

// forward gives a request to GoNB.
func (k *kernel) forward(m *message) {
	if fault := codeFault(m); fault != "" {
		k.refuse(m, "BadRequest", fault, "")
		return
	}
	if k.startMagics(m) || k.startImports(m) {
		return
	}
	r := &request{m: m, since: time.Now()}
	var out *message
	if m.kind == "execute_request" {
		var x executeRequest
		out, x = k.normalize(m)
		if mc := m.magic; mc != nil {
			out, r.verdict = out.withCode(mc.out, k.key), mc.verdict
		}
		if code := codeOf(out); emptyCommand.MatchString(code) {
			out = out.withCode(emptyCommand.ReplaceAllString(code, ""), k.key)
		}
		r.reset = resets(x.Code)
		r.stopOnError = x.StopOnError == nil || *x.StopOnError
		r.silent = *x.Silent
		r.expressions = slices.Sorted(maps.Keys(x.Expressions))
		r.input.allowed = *x.AllowStdin
		k.setGlue(x.Code)
		k.enter(m, x.Code, *x.StoreHistory)
		if m.kept {
			k.counter++
		}
	} else if out = k.normalizeCursor(m); out == nil {
		k.answer(k.outlet(m), m)
		return
	}
	k.current = r
	out = forGoNB(out, k.key)
	r.foreign = !bytes.Equal(out.header, m.header)
	k.child.shell.send(out.frames())
	if m.kind == "execute_request" && !r.silent {
		k.watch(r, looks{})
	}
}

// enter gives a cell its execution count, unless it has got it before a GoNB died, and keeps it in the history.
func (k *kernel) enter(m *message, code string, keep bool) {
	if m.numbered {
		return
	}
	if err := k.cells.add(code, keep); err != nil {
		k.stream("stderr", "halftone: the cell map cannot be written: "+err.Error()+"\n", m.header)
	}
	m.numbered, m.kept, m.count = true, keep, k.cells.next-1
	if keep {
		k.history.add(m.count, code)
	}
}

// onReply notes GoNB's reply to the current request.
func (k *kernel) onReply(parent string, m *message) {
	r := k.current
	if r == nil || r.m.id != parent || !strings.HasSuffix(m.kind, "_reply") {
		k.logf("dropped a late %s", m.kind) // the request has been answered
		return
	}
	var c struct {
		Status string `json:"status"`
		Count  int    `json:"execution_count"`
	}
	_ = json.Unmarshal(m.content, &c)
	if m.kind == "execute_reply" && c.Count > 0 {
		k.cells.counted(c.Count)
		k.counter = c.Count
	}
	if r.skips && c.Status == "ok" && m.kind == "execute_reply" {
		m, c.Status = k.stopped(r, m), "error"
	}
	r.failed = c.Status == "error"
	r.replied = time.Now()
	switch {
	case m.kind != "execute_reply":
		k.outlet(r.m).send(m)
	default:
		r.whole = !r.failed && c.Count > 0 && len(r.expressions) == 0 && len(r.m.magic.payload()) == 0
		r.reply = m
	}
	k.settle(r)
}

// stopped makes the reply of a cell that GoNB has not gone on with an error, and publishes that: GoNB calls it "ok", though the rest has not
// run.
func (k *kernel) stopped(r *request, m *message) *message {
	r.failure = newError(interruptedName, interruptedWhy)
	if !r.silent {
		k.publish("error", r.m, r.failure)
	}
	return m.withContent(mustJSON(map[string]any{"status": "error"}), k.key)
}

// complete adds to GoNB's execute_reply what it leaves out.
func (k *kernel) complete(r *request, m *message) *message {
	fields := map[string]any{}
	if json.Unmarshal(m.content, &fields) != nil {
		return m
	}
	fields["execution_count"] = r.m.count
	if fields["status"] == "ok" {
		expressions := map[string]any{}
		for _, name := range r.expressions {
			expressions[name] = errorReply("NotSupported", "Go has no expressions outside of a cell")
		}
		fields["user_expressions"], fields["payload"] = expressions, r.m.magic.payload()
	} else if r.failure != nil {
		fields["ename"], fields["evalue"], fields["traceback"] = r.failure.Name, r.failure.Value, r.failure.Traceback
	}
	return m.withContent(mustJSON(fields), k.key)
}

// isSilenced reports whether a message is output of a cell that is to be silent, or says again that the kernel is busy.
func (k *kernel) isSilenced(parent string, m *message) bool {
	r := k.current
	if r == nil || r.m.id != parent {
		return false
	}
	if m.kind == "status" && r.m.announced {
		return bytes.Contains(m.content, []byte(`"busy"`))
	}
	if !r.silent {
		return false
	}
	switch m.kind {
	case "stream", "display_data", "update_display_data", "execute_result", "error", "clear_output":
		return true
	}
	return false
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
	if !r.begun && k.lost != "" && r.m.kind == "execute_request" && !r.silent {
		k.stream("stderr", k.lost, r.m.header)
		k.lost = ""
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
	k.current, k.active = nil, time.Now()
	if r.lastIdle != nil {
		k.front.iopub.send(r.lastIdle)
	}
	if k.state == ready {
		k.failures = 0
	}
	k.sendKept(r)
	// Who interrupts a cell does not want the next one to start, even if this one has ended well.
	if (r.failed || r.signaled != nil) && r.stopOnError && r.m.kind == "execute_request" {
		k.abortQueued()
	}
	if r.reset && k.state == ready {
		k.declares = false
		k.turnCgo(false)
		k.prelude()
	}
	k.pump()
}

// sendKept sends the reply of a cell when its output has left: tools that execute notebooks wait for output a few seconds from the reply on
// (nbclient four) and leave out what comes later, and a flood is paced and takes longer. A failed one has the error that was published:
// they report it.
func (k *kernel) sendKept(r *request) {
	if r.reply == nil {
		return
	}
	if !r.whole {
		r.reply = k.complete(r, r.reply)
	}
	k.outlet(r.m).send(r.reply)
	r.reply = nil
}

// checkCurrent supplies the half of an answer that does not come.
func (k *kernel) checkCurrent() {
	r := k.current
	switch {
	case r == nil:
	case r.m.kind != "execute_request" && time.Since(r.since) > stuckPatience && k.state == ready:
		k.logf("GoNB does not answer a %s and is ended", r.m.kind)
		r.since = time.Now()
		c := k.child
		c.ended = "it did not answer"
		go c.kill() // onExit follows
	case r.replied.IsZero() && !r.idle.IsZero() && time.Since(r.idle) > replyPatience:
		k.replyError(r.m, "NoReply", "GoNB gave no answer")
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
		k.reply(k.outlet(m), m, map[string]any{"status": "aborted"})
		k.status("idle", m)
	}
	k.queue = rest
}

// fail answers a request that GoNB will not answer any more.
func (k *kernel) fail(r *request, name, value, text string) {
	if r.m.kind == "execute_request" && !r.silent {
		if text != "" {
			k.stream("stderr", text, r.m.header)
		}
		k.publish("error", r.m, newError(name, value))
	}
	if r.replied.IsZero() {
		k.replyError(r.m, name, value)
	} else {
		k.sendKept(r)
	}
	k.status("idle", r.m)
	r.failed, r.lastIdle = true, nil
	k.finish(r)
}

// replyError replies that a request failed.
func (k *kernel) replyError(m *message, name, value string) {
	content := errorReply(name, value)
	if m.kind == "execute_request" {
		content["execution_count"] = m.count
	}
	k.reply(k.outlet(m), m, content)
}

// announce says that the kernel is busy with a request that GoNB does not have yet; what GoNB says of it later is left out.
func (k *kernel) announce(m *message) {
	if !m.announced {
		m.announced = true
		k.status("busy", m)
	}
}

// refuse fails a request that has not been given to GoNB.
func (k *kernel) refuse(m *message, name, value, text string) {
	k.announce(m)
	r := &request{m: m}
	if m.kind == "execute_request" {
		_, x := k.normalize(m)
		r.silent, r.stopOnError = *x.Silent, x.StopOnError == nil || *x.StopOnError
		k.enter(m, x.Code, *x.StoreHistory)
		if !r.silent {
			k.publish("execute_input", m, map[string]any{"code": x.Code, "execution_count": m.count})
		}
	}
	k.fail(r, name, value, text)
}

// failBroken answers when GoNB cannot be started at all.
func (k *kernel) failBroken(m *message) {
	text := "GoNB, which runs the cells, cannot be started: " + k.why.Error() + "\nRun `halftone doctor` in a terminal, then restart the kernel.\n"
	k.refuse(m, "KernelBroken", "GoNB cannot be started", text)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only what came from JSON goes there
	}
	return b
}
