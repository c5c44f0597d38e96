package kernel

import (
	"encoding/json"
	"go/version"
	"runtime"
	"strings"
	"time"
)

// onShell takes a message from the front end's shell channel.
func (k *kernel) onShell(m *message) {
	switch m.kind {
	case "shutdown_request": // old clients send it here
		k.onShutdown(k.front.shell, m)
	case "interrupt_request":
		k.onInterrupt(k.front.shell, m)
	case "comm_open", "comm_msg", "comm_close":
		if k.state == ready {
			k.child.shell.send(m.frames()) // a running cell may be waiting for it
		}
	default:
		k.queue = append(k.queue, m)
		k.pump()
	}
}

// onControl takes a message from the control channel: those pass all that waits on the shell channel.
func (k *kernel) onControl(m *message) {
	switch {
	case m.kind == "shutdown_request":
		k.onShutdown(k.front.control, m)
	case m.kind == "interrupt_request":
		k.onInterrupt(k.front.control, m)
	case k.isLocal(m):
		k.answer(k.front.control, m)
		if k.current != nil { // front ends take the last status for the kernel's
			k.status("busy", k.current.m)
		}
	case k.state == ready:
		k.child.control.send(m.frames())
	}
}

func (k *kernel) onStdin(m *message) {
	if k.state == ready {
		k.child.stdin.send(m.frames())
	}
}

func (k *kernel) onShutdown(from outlet, m *message) {
	k.shutdown, k.shutdownBy = m, from
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
	k.interrupt()
	k.reply(from, m, map[string]any{"status": "ok"})
}

// isLocal reports whether the kernel answers a request itself: those that GoNB leaves without an answer, which front ends
// then wait for, or answers poorly.
func (k *kernel) isLocal(m *message) bool {
	switch m.kind {
	case "kernel_info_request", "is_complete_request", "history_request", "comm_info_request":
		return true
	case "complete_request", "inspect_request":
		return k.magicAnswer(m) != nil || k.child == nil || time.Since(k.child.started) < goplsDelay
	}
	return false
}

// goplsDelay is when GoNB connects to the gopls it has started: after twelve seconds, and until then it lets a completion,
// and every cell behind it, wait. Nothing found at once is better than that.
const goplsDelay = 12500 * time.Millisecond

// answer replies to a request that isLocal.
func (k *kernel) answer(to outlet, m *message) {
	k.status("busy", m)
	content := k.magicAnswer(m)
	if content == nil {
		content = k.localAnswer(m)
	}
	k.reply(to, m, content)
	k.status("idle", m)
}

// localAnswer returns the content of a reply.
func (k *kernel) localAnswer(m *message) map[string]any {
	var content map[string]any
	switch m.kind {
	case "kernel_info_request":
		content = k.info()
	case "is_complete_request":
		var c struct {
			Code string `json:"code"`
		}
		_ = json.Unmarshal(m.content, &c)
		content = isComplete(c.Code)
	case "history_request":
		content = k.history(m)
	case "complete_request":
		var c struct {
			Cursor int `json:"cursor_pos"`
		}
		_ = json.Unmarshal(m.content, &c)
		content = map[string]any{"status": "ok", "matches": []string{}, "cursor_start": c.Cursor, "cursor_end": c.Cursor, "metadata": map[string]any{}}
	case "inspect_request":
		content = map[string]any{"status": "ok", "found": false, "data": map[string]any{}, "metadata": map[string]any{}}
	case "comm_info_request":
		content = map[string]any{"status": "ok", "comms": map[string]any{}}
	}
	return content
}

// info is the content of kernel_info_reply.
func (k *kernel) info() map[string]any {
	language := map[string]any{
		"name": "go", "version": goVersion(k.opts.GoVersion), "mimetype": "text/x-go", "file_extension": ".go",
		"pygments_lexer": "go", "codemirror_mode": "go", "nbconvert_exporter": "script",
	}
	return map[string]any{
		"status": "ok", "protocol_version": protocolVersion,
		"implementation": "halftone", "implementation_version": k.opts.Version,
		"language_info": language,
		"banner":        "Halftone " + k.opts.Version + ": Go with automatic mixed precision. Cells are Go declarations; lines after %% run.",
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

// history is the content of history_reply: the cells of this kernel, which is all there is.
func (k *kernel) history(m *message) map[string]any {
	var c struct {
		Access string `json:"hist_access_type"`
		N      int    `json:"n"`
		Output bool   `json:"output"`
	}
	_ = json.Unmarshal(m.content, &c)
	items := [][]any{}
	for _, cell := range k.cells.list() {
		if c.Output {
			items = append(items, []any{0, cell.Count, []any{cell.Code, nil}})
		} else {
			items = append(items, []any{0, cell.Count, cell.Code})
		}
	}
	if c.Access == "tail" && c.N > 0 && len(items) > c.N {
		items = items[len(items)-c.N:]
	}
	return map[string]any{"status": "ok", "history": items}
}

// reply sends the reply to a request to whoever made it.
func (k *kernel) reply(to outlet, m *message, content map[string]any) {
	kind := m.kind[:len(m.kind)-len("request")] + "reply"
	r := k.author.compose(kind, m, content)
	r.ids = m.ids
	to.send(r)
}

// publish sends a message to all front ends.
func (k *kernel) publish(kind string, parent *message, content map[string]any) {
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
