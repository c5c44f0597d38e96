package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// execute sends a cell with other options than a notebook's.
func (c *client) execute(on *socket, code string, options map[string]any) *message {
	content := map[string]any{
		"code": code, "silent": false, "store_history": true, "allow_stdin": false, "stop_on_error": true, "user_expressions": map[string]any{},
	}
	for name, v := range options {
		content[name] = v
	}
	return c.request(on, "execute_request", content)
}

// idle waits until a request is over on iopub.
func (c *client) idle(m *message) {
	c.t.Helper()
	c.wait("idle status of "+m.kind, func() bool {
		for _, p := range c.iopub {
			if p.kind == "status" && p.parentID() == m.id && content(p)["execution_state"] == "idle" {
				return true
			}
		}
		return false
	})
}

func (c *client) statuses(m *message) string {
	var list []string
	for _, p := range c.published(m) {
		if p.kind == "status" {
			list = append(list, content(p)["execution_state"].(string))
		}
	}
	return strings.Join(list, " ")
}

func TestProtocol(t *testing.T) {
	s := startKernel(t, home(t))
	s.run("%%\nfmt.Println(0)").ok(t)
	for name, test := range map[string]func(*testing.T, *server){
		"welcome": testWelcome, "unknown kinds": testUnknownKinds, "debugger": testDebugger, "connect": testConnect,
		"comms": testComms, "counts": testCounts, "silent": testSilent, "expressions": testExpressions,
		"ids and parents": testParents, "unusual headers": testUnusualHeaders, "frames that are no objects": testNoObjects,
		"execute on control": testControlExecutes, "cursor outside": testCursorOutside, "input": testInput, "unasked input": testUnaskedInput,
		"pipeline": testPipeline, "left behind": testLeftBehind, "code that is no text": testNoText, "cursor in a magic": testCursorInMagic, "no program": testNoProgram,
	} {
		t.Run(name, func(t *testing.T) {
			s.client.t = t
			test(t, s)
		})
	}
}

func testWelcome(t *testing.T, s *server) {
	late := dial(t, s.conn)
	late.wait("welcome", func() bool { return len(late.iopub) > 0 })
	m := late.iopub[0]
	if m.kind != "iopub_welcome" || string(m.parent) != "{}" || content(m)["subscription"] != "" {
		t.Errorf("first came %s %s, parent %s", m.kind, m.content, m.parent)
	}
	late.t = t
	m = late.submit("%%\nfmt.Println(1)") // with no wait: the subscription is there
	late.idle(m)
	if got := late.statuses(m); got != "busy idle" {
		t.Errorf("%s", got)
	}
	if v := s.ask("kernel_info_request", map[string]any{}); v["protocol_version"] != "5.4" || v["debugger"] != false {
		t.Errorf("%v", v)
	}
}

func testUnknownKinds(t *testing.T, s *server) {
	for _, on := range []*socket{s.shell, s.control} {
		for _, kind := range []string{"usage_request", "create_subshell_request", "nonsense", "x"} {
			m := s.request(on, kind, map[string]any{})
			s.idle(m)
			if got := s.statuses(m); got != "busy idle" {
				t.Errorf("%s: %s", kind, got)
			}
			s.mu.Lock()
			for _, r := range s.replies {
				if r.parentID() == m.id {
					t.Errorf("%s was answered by %s", kind, r.kind)
				}
			}
			s.mu.Unlock()
		}
	}
}

func testDebugger(t *testing.T, s *server) {
	for _, on := range []*socket{s.control, s.shell} {
		r := s.reply(s.request(on, "debug_request", map[string]any{"type": "request", "seq": 7, "command": "initialize", "arguments": map[string]any{}}))
		if r["type"] != "response" || r["request_seq"] != 7.0 || r["command"] != "initialize" || r["success"] != false || !strings.Contains(r["message"].(string), "no debugger") {
			t.Errorf("%v", r)
		}
	}
}

func testConnect(t *testing.T, s *server) {
	r := s.ask("connect_request", map[string]any{})
	if r["shell_port"] != float64(s.conn.ShellPort) || r["hb_port"] != float64(s.conn.HBPort) || r["control_port"] != float64(s.conn.ControlPort) {
		t.Errorf("%v", r)
	}
}

func testComms(t *testing.T, s *server) {
	info := func(target string) map[string]any {
		return s.ask("comm_info_request", map[string]any{"target_name": target})["comms"].(map[string]any)
	}
	closed := func(m *message, id string) bool {
		s.idle(m)
		for _, p := range s.published(m) {
			if p.kind == "comm_close" && content(p)["comm_id"] == id {
				return true
			}
		}
		return false
	}
	open := func(id, target, kernel string) *message {
		return s.request(s.shell, "comm_open", map[string]any{"comm_id": id, "target_name": target, "kernel_id": kernel, "data": map[string]any{}})
	}
	if !closed(open("a", "jupyter.widget", ""), "a") || len(info("")) != 0 {
		t.Error("a comm for an unknown target was not closed")
	}
	if !closed(open("b", gonbTarget, "another"), "b") {
		t.Error("a comm for another kernel was not closed")
	}
	m := open("c", gonbTarget, s.id)
	if closed(m, "c") {
		t.Error("GoNB's own comm was closed")
	}
	s.wait("GoNB's greeting", func() bool {
		for _, p := range s.iopub {
			if p.kind == "comm_msg" && content(p)["comm_id"] == "c" {
				return true
			}
		}
		return false
	})
	if got := info(""); len(got) != 1 || fmt.Sprint(got["c"]) != "map[target_name:gonb_comm]" {
		t.Errorf("%v", got)
	}
	if len(info(gonbTarget)) != 1 || len(info("other")) != 0 {
		t.Error("the target does not select")
	}
	s.idle(s.request(s.shell, "comm_msg", map[string]any{"comm_id": "nobody's", "data": map[string]any{}}))
	s.idle(s.request(s.shell, "comm_msg", map[string]any{}))
	s.idle(s.request(s.shell, "comm_close", map[string]any{"comm_id": "c", "data": map[string]any{}}))
	if len(info("")) != 0 {
		t.Error("the comm is still listed")
	}
}

func testCounts(t *testing.T, s *server) {
	count := func(code string, options map[string]any) (reply, input any) {
		t.Helper()
		m := s.execute(s.shell, code, options)
		r := s.result(m)
		for _, p := range r.messages {
			if p.kind == "execute_input" {
				input = content(p)["execution_count"]
			}
		}
		return r.reply["execution_count"], input
	}
	first, _ := count("%%\nfmt.Println(0)", nil)
	n, ok := first.(float64)
	if !ok {
		t.Fatalf("%v", first)
	}
	for _, step := range []struct {
		what    string
		code    string
		options map[string]any
		reply   float64
		input   any
	}{
		{"a cell", "%%\nfmt.Println(1)", nil, n + 1, n + 1},
		{"a silent one", "%%\nfmt.Println(2)", map[string]any{"silent": true}, n + 1, nil},
		{"a silent one that wants to be stored", "%%\nfmt.Println(3)", map[string]any{"silent": true, "store_history": true}, n + 1, nil},
		{"one outside the history", "%%\nfmt.Println(4)", map[string]any{"store_history": false}, n + 1, n + 1},
		{"one that does not compile", "%%\nx := 1", nil, n + 2, n + 2},
		{"one that does not parse", "%%\nfor {", nil, n + 3, n + 3},
		{"one that fails", "%%\nos.Exit(1)", nil, n + 4, n + 4},
		{"one outside the history that fails", "%%\nos.Exit(1)", map[string]any{"store_history": false}, n + 4, n + 4},
		{"nothing", "", nil, n + 5, n + 5},
		{"a command", "!true", nil, n + 6, n + 6},
	} {
		if reply, input := count(step.code, step.options); reply != step.reply || input != step.input {
			t.Errorf("%s: reply %v, want %v; input %v, want %v", step.what, reply, step.reply, input, step.input)
		}
	}
	tail := s.ask("history_request", map[string]any{"hist_access_type": "tail", "n": 3, "output": false, "raw": true})["history"].([]any)
	if fmt.Sprint(tail) != fmt.Sprintf("[[1 %v %%%%\nos.Exit(1)] [1 %v ] [1 %v !true]]", n+4, n+5, n+6) {
		t.Errorf("%v", tail)
	}
}

func testSilent(t *testing.T, s *server) {
	r := s.result(s.execute(s.shell, "%%\nfmt.Println(1)\npanic(2)", map[string]any{"silent": true}))
	if r.reply["status"] != "error" || r.reply["ename"] != "panic" {
		t.Errorf("%v", r.reply)
	}
	if len(r.messages) != 2 || r.stdout+r.stderr != "" || len(r.errors)+len(r.displays) != 0 {
		t.Errorf("%d messages: %+v", len(r.messages), r)
	}
}

func testExpressions(t *testing.T, s *server) {
	r := s.result(s.execute(s.shell, "%%\nfmt.Println(1)", map[string]any{"user_expressions": map[string]any{"a": "1+1", "b": "x"}})).ok(t)
	got, _ := r.reply["user_expressions"].(map[string]any)
	if a, _ := got["a"].(map[string]any); len(got) != 2 || a["status"] != "error" || a["ename"] == "" {
		t.Errorf("%v", r.reply)
	}
}

// testParents checks that every message of a cell names its request whole, and that no two have the same id.
func testParents(t *testing.T, s *server) {
	for _, code := range []string{"%%\nfmt.Println(1)\nfmt.Fprintln(os.Stderr, 2)", "%%\nx := 1", "%%\npanic(1)"} {
		m := s.submit(code)
		s.result(m)
		for _, p := range s.published(m) {
			var parent, header map[string]any
			if json.Unmarshal(p.parent, &parent) != nil || json.Unmarshal(m.header, &header) != nil || fmt.Sprint(parent) != fmt.Sprint(header) {
				t.Errorf("%s has parent %s, want %s", p.kind, p.parent, m.header)
			}
		}
	}
	seen := map[string]string{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range append(append([]*message{}, s.iopub...), s.replies...) {
		if other := seen[p.id]; other != "" || p.id == "" {
			t.Errorf("%s and %s have the id %q", p.kind, other, p.id)
		}
		seen[p.id] = p.kind
		var h map[string]any
		_ = json.Unmarshal(p.header, &h)
		if h["version"] != "5.4" || h["session"] == "" || h["date"] == "" || h["username"] == nil {
			t.Errorf("header %s", p.header)
		}
	}
}

// testUnusualHeaders has fields that GoNB drops, and one that it cannot read.
func testUnusualHeaders(t *testing.T, s *server) {
	m := s.author.compose("execute_request", nil, map[string]any{"code": "%%\nfmt.Println(\"odd\")", "silent": false})
	var h map[string]any
	_ = json.Unmarshal(m.header, &h)
	h["subshell_id"], h["date"], h["username"] = nil, 12345, nil
	m.header = mustJSON(h)
	m.parent = []byte(`{"date": 5, "x": [1]}`)
	m.signature = m.sign(s.author.key)
	s.shell.send(m.frames())
	r := s.result(m).ok(t)
	if r.stdout != "odd\n" {
		t.Errorf("%q", r.stdout)
	}
	for _, p := range r.messages {
		if !bytes.Equal(p.parent, m.header) {
			t.Errorf("%s has parent %s", p.kind, p.parent)
		}
	}
}

// testNoObjects sends messages that are signed but damaged: GoNB would stop.
func testNoObjects(t *testing.T, s *server) {
	gonb := s.gonb()
	for _, bad := range []string{"[]", "1", "{", `"x"`, "", "null"} {
		for _, part := range []func(*message) *[]byte{
			func(m *message) *[]byte { return &m.parent }, func(m *message) *[]byte { return &m.metadata }, func(m *message) *[]byte { return &m.content },
			func(m *message) *[]byte { return &m.header },
		} {
			for _, kind := range []string{"execute_request", "comm_open", "complete_request", "input_reply"} {
				m := s.author.compose(kind, nil, map[string]any{"code": "%%\nfmt.Println(\"bad\")", "silent": false})
				*part(m) = []byte(bad)
				m.signature = m.sign(s.author.key)
				for _, on := range []*socket{s.shell, s.control, s.stdin} {
					on.send(m.frames())
				}
			}
		}
	}
	r := s.run("%%\nfmt.Println(\"alive\")").ok(t)
	if r.stdout != "alive\n" || s.gonb() != gonb {
		t.Errorf("%q", r.stdout)
	}
}

func testControlExecutes(t *testing.T, s *server) {
	m := s.execute(s.control, "%%\nfmt.Println(\"by control\")", nil)
	if r := s.result(m).ok(t); r.stdout != "by control\n" {
		t.Errorf("%q", r.stdout)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.byChannel[controlChannel] {
		if r.parentID() == m.id {
			return
		}
	}
	t.Error("the reply did not come on the channel of the request")
}

func testCursorOutside(t *testing.T, s *server) {
	gonb := s.gonb()
	for _, pos := range []any{-1, 1000, 1e18, nil} {
		for _, kind := range []string{"complete_request", "inspect_request"} {
			for _, code := range []string{"", "fmt.Pr", "%%\nfmt.Pr", "é😀"} {
				if r := s.ask(kind, map[string]any{"code": code, "cursor_pos": pos, "detail_level": 0}); r["status"] != "ok" {
					t.Errorf("%s at %v: %v", kind, pos, r)
				}
			}
		}
	}
	if s.gonb() != gonb {
		t.Error("GoNB has died")
	}
}

// testNoText: what is not run is not called "ok".
func testNoText(t *testing.T, s *server) {
	for _, code := range []any{nil, 7, []string{"fmt.Println(1)"}} {
		r := s.reply(s.request(s.shell, "execute_request", map[string]any{"code": code, "silent": false}))
		if r["status"] != "error" || r["ename"] != "BadRequest" || !strings.Contains(fmt.Sprint(r["evalue"]), "no text in its field code") {
			t.Errorf("%v: %v", code, r)
		}
	}
}

// testCursorInMagic: a front end is not to replace what is not there.
func testCursorInMagic(t *testing.T, s *server) {
	for _, code := range []string{"%%amp fl", "%amp se", "%%\nfmt.Pr"} {
		n := float64(len(code))
		for _, pos := range []any{-1, 1000, 1e9} {
			r := s.ask("complete_request", map[string]any{"code": code, "cursor_pos": pos})
			from, to := r["cursor_start"].(float64), r["cursor_end"].(float64)
			if r["status"] != "ok" || from < 0 || to < from || to > n {
				t.Errorf("%q at %v: from %v to %v", code, pos, from, to)
			}
		}
	}
}

// testNoProgram: GoNB would stop, and with it what has been declared be gone.
func testNoProgram(t *testing.T, s *server) {
	gonb := s.gonb()
	for _, code := range []string{"%%script", "%%script  \necho hi"} {
		if r := s.run(code); r.reply["ename"] != "MagicError" || !strings.Contains(fmt.Sprint(r.reply["evalue"]), "names no program") {
			t.Errorf("%q: %v", code, r.reply)
		}
	}
	if r := s.run("%%amp float16\n_ = s\n}"); r.reply["ename"] != "CompileError" || !strings.Contains(fmt.Sprint(r.reply["evalue"]), ", line 3: syntax error: unexpected }") {
		t.Errorf("a stray bracket: %v", r.reply)
	}
	if r := s.run("%%script cat\nhi").ok(t); !strings.Contains(r.stdout, "hi") {
		t.Errorf("%q", r.stdout)
	}
	if s.gonb() != gonb {
		t.Error("GoNB has died")
	}
}
