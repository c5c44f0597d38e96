package kernel

import (
	"encoding/json"
	"go/version"
	"runtime"
	"strings"
)

// onShell takes a message from the front end's shell channel.
func (k *kernel) onShell(m *message) {
	switch m.kind {
	case "shutdown_request": // old clients send it here
		k.onShutdown(k.front.shell, m)
	case "interrupt_request":
		k.onInterrupt(k.front.shell, m)
	case "comm_open", "comm_msg", "comm_close":
		k.onComm(m)
	case "complete_request", "inspect_request":
		k.onQuestion(m)
	default:
		k.enqueue(m)
	}
}

// onControl takes a message from the control channel: those pass all that waits on the shell channel. What has to be run by
// GoNB, which does one thing at a time, takes its turn.
func (k *kernel) onControl(m *message) {
	switch m.kind {
	case "shutdown_request":
		k.onShutdown(k.front.control, m)
	case "interrupt_request":
		k.onInterrupt(k.front.control, m)
	case "comm_open", "comm_msg", "comm_close":
		k.onComm(m)
	case "complete_request", "inspect_request":
		k.onQuestion(m)
	case "execute_request":
		k.enqueue(m)
	default:
		k.answer(k.front.control, m)
		k.busyAgain()
	}
}

// busyAgain says that a cell is running after a message on its side was over: front ends take the last status for the
// kernel's.
func (k *kernel) busyAgain() {
	if k.current != nil {
		k.status("busy", k.current.m)
	}
}

// outlet is where the reply to a request goes.
func (k *kernel) outlet(m *message) outlet {
	if m.via == controlChannel {
		return k.front.control
	}
	return k.front.shell
}

func (k *kernel) onShutdown(from outlet, m *message) {
	if k.shutdown == nil {
		k.shutdown, k.shutdownBy = m, from
		k.status("busy", m)
	}
	k.ending = true
}

func restartWanted(m *message) bool {
	var c struct {
		Restart bool `json:"restart"`
	}
	_ = json.Unmarshal(m.content, &c)
	return c.Restart
}

func (k *kernel) onInterrupt(from outlet, m *message) {
	k.status("busy", m)
	k.interrupt()
	k.reply(from, m, map[string]any{"status": "ok"})
	k.status("idle", m)
	k.busyAgain()
}

// isLocal reports whether the kernel answers a request itself: all but what needs GoNB, which leaves other requests without
// an answer, or answers poorly.
func (k *kernel) isLocal(m *message) bool {
	switch m.kind {
	case "execute_request":
		return false
	case "inspect_request":
		return k.magicAnswer(m) != nil
	}
	return true
}

// answer replies to a request that isLocal. As in other kernels, one of an unknown kind gets no reply, only the statuses
// that tell that it is over.
func (k *kernel) answer(to outlet, m *message) {
	k.status("busy", m)
	content := k.magicAnswer(m)
	if content == nil {
		content = k.localAnswer(m)
	}
	if content != nil {
		k.reply(to, m, content)
	} else {
		k.logf("no answer to a message of the unknown kind %s", jsonText(m.kind))
	}
	k.status("idle", m)
}

// localAnswer returns the content of a reply, nil when there is none.
func (k *kernel) localAnswer(m *message) map[string]any {
	var c struct {
		Code   string `json:"code"`
		Cursor int    `json:"cursor_pos"`
	}
	_ = json.Unmarshal(m.content, &c)
	c.Cursor = min(max(c.Cursor, 0), len([]rune(c.Code)))
	switch m.kind {
	case "kernel_info_request":
		return k.info()
	case "is_complete_request":
		return isComplete(c.Code)
	case "history_request":
		return k.history.answer(m.content)
	case "complete_request":
		return map[string]any{"status": "ok", "matches": []string{}, "cursor_start": c.Cursor, "cursor_end": c.Cursor, "metadata": map[string]any{}}
	case "inspect_request":
		return map[string]any{"status": "ok", "found": false, "data": map[string]any{}, "metadata": map[string]any{}}
	case "comm_info_request":
		return k.comms.info(m.content)
	case "connect_request":
		conn := k.spawn.conn
		return map[string]any{
			"status": "ok", "shell_port": conn.ShellPort, "iopub_port": conn.IOPubPort, "stdin_port": conn.StdinPort,
			"hb_port": conn.HBPort, "control_port": conn.ControlPort,
		}
	case "debug_request":
		return debugAnswer(m.content)
	}
	return nil
}

// debugAnswer tells a debugger that there is none, in its own protocol (DAP): kernel_info says so before.
func debugAnswer(request []byte) map[string]any {
	var c struct {
		Seq     int    `json:"seq"`
		Command string `json:"command"`
	}
	_ = json.Unmarshal(request, &c)
	const text = "the kernel has no debugger: cells are compiled programs; use dlv on a program of your own"
	return map[string]any{
		"type": "response", "seq": 0, "request_seq": c.Seq, "command": c.Command, "success": false, "message": text,
		"body": map[string]any{"error": map[string]any{"id": 1, "format": text}},
	}
}

// welcome greets who subscribes to iopub: from this message on it misses nothing.
func (k *kernel) welcome(topic []byte) [][]byte {
	m := k.author.compose("iopub_welcome", nil, map[string]any{"subscription": string(topic)})
	m.ids = [][]byte{topic}
	return m.frames()
}

func errorReply(name, value string) map[string]any {
	return map[string]any{"status": "error", "ename": name, "evalue": value, "traceback": []string{name + ": " + value}}
}

func jsonText(s string) string { return string(mustJSON(s)) }

// info is the content of kernel_info_reply.
func (k *kernel) info() map[string]any {
	language := map[string]any{
		"name": "go", "version": goVersion(k.opts.GoVersion), "mimetype": "text/x-go", "file_extension": ".go",
		"pygments_lexer": "go", "codemirror_mode": "go", "nbconvert_exporter": "script",
	}
	return map[string]any{
		"status": "ok", "protocol_version": protocolVersion,
		"implementation": "halftone", "implementation_version": k.opts.Version,
		"language_info": language, "debugger": false, "supported_features": []string{},
		"banner": "Halftone " + k.opts.Version + ": Go with automatic mixed precision. Cells are Go declarations; lines after %% run (in a console, at an empty line).",
		"help_links": []map[string]string{
			{"text": "Halftone", "url": "https://github.com/halftone-ml/halftone"},
			{"text": "GoNB tutorial", "url": "https://github.com/janpfeifer/gonb/blob/main/examples/tutorial.ipynb"},
		},
	}
}

// goVersion is the version of the language, such as 1.26. JupyterLab writes it into every notebook it opens, so the
// toolchain's own, with its patch releases, would mark each notebook as changed on another machine.
func goVersion(v string) string {
	if v == "" {
		v = runtime.Version()
	}
	return strings.TrimPrefix(version.Lang(strings.Fields(v)[0]), "go")
}

// reply sends the reply to a request to whoever made it.
func (k *kernel) reply(to outlet, m *message, content map[string]any) {
	kind := m.kind[:len(m.kind)-len("request")] + "reply"
	r := k.author.compose(kind, m, content)
	r.ids = m.ids
	to.send(r)
}

// publish sends a message to all front ends.
func (k *kernel) publish(kind string, parent *message, content any) {
	m := k.author.compose(kind, parent, content)
	m.ids = [][]byte{[]byte("kernel." + kind)}
	k.front.iopub.send(m)
}

func (k *kernel) status(state string, parent *message) {
	k.publish("status", parent, map[string]any{"execution_state": state})
}

// stream prints text in the output of the cell whose request had the given header.
func (k *kernel) stream(name, text string, header []byte) {
	k.publish("stream", &message{header: header}, map[string]any{"name": name, "text": text})
}
