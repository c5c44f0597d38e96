package kernel

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"github.com/halftone-ml/halftone/internal/stretch"
)

func TestCells(t *testing.T) {
	s := startKernel(t, home(t))

	t.Run("streams", func(t *testing.T) {
		r := s.run("%%\nfmt.Println(\"out\")\nfmt.Fprintln(os.Stderr, \"err\")").ok(t)
		if r.stdout != "out\n" || r.stderr != "err\n" {
			t.Errorf("stdout %q, stderr %q", r.stdout, r.stderr)
		}
		if got := strings.Join(r.states, " "); got != "busy idle" {
			t.Errorf("states %s", got)
		}
		if last := r.messages[len(r.messages)-1]; last.kind != "status" {
			t.Errorf("idle is not last but %s", last.kind)
		}
	})

	t.Run("declarations stay", func(t *testing.T) {
		s.run("func double(x int) int { return 2 * x }").ok(t)
		if r := s.run("%%\nfmt.Println(double(21))").ok(t); r.stdout != "42\n" {
			t.Errorf("%q", r.stdout)
		}
	})

	t.Run("compile error", func(t *testing.T) {
		r := s.run("%%\nvar x int = \"one\"")
		if r.reply["status"] != "error" || len(r.errors) != 1 || len(r.displays) != 1 {
			t.Fatalf("%v %v", r.reply, r.errors)
		}
		const last, fix = "\ncell 4, line 2: declared and not used: x", "\nfix: a number is written without quotes"
		for what, end := range map[any]string{r.reply["evalue"]: last + fix, r.errors[0]["evalue"]: last + fix, r.displays[0]["text/plain"]: last} {
			if !strings.HasPrefix(what.(string), "cell 4, line 2: cannot use \"one\"") || !strings.HasSuffix(what.(string), end) {
				t.Errorf("%q", what)
			}
		}
		if r.reply["ename"] != "CompileError" {
			t.Errorf("%v", r.reply)
		}
		r = s.run("%%\nfor {")
		if what := r.reply["evalue"].(string); r.reply["ename"] != "CompileError" || strings.Contains(what, "/") || !strings.Contains(what, "expected '}'") {
			t.Errorf("%v", r.reply)
		}
		s.run("%%\nfmt.Println(1)").ok(t)
	})

	t.Run("panic", func(t *testing.T) {
		r := s.run("%%\npanic(\"boom\")")
		if r.reply["status"] != "error" || r.stderr != "" || len(r.displays) != 0 { // the error says all of it
			t.Fatalf("%v %s", r.reply, r.stderr)
		}
		if r.reply["ename"] != "panic" || r.reply["evalue"] != "boom" || r.errors[0]["evalue"] != "boom" {
			t.Errorf("%v %v", r.reply, r.errors)
		}
	})

	t.Run("optional fields left out", func(t *testing.T) {
		r := s.result(s.request(s.shell, "execute_request", map[string]any{"code": "%%\nfmt.Println(7)"})).ok(t)
		if r.stdout != "7\n" {
			t.Errorf("%q", r.stdout)
		}
		s.result(s.request(s.shell, "execute_request", map[string]any{})).ok(t)
		s.ask("complete_request", map[string]any{"code": "fmt."})
		s.ask("inspect_request", map[string]any{"code": "fmt."})
	})

	t.Run("stdin", func(t *testing.T) {
		m := s.submit("%with_inputs\n!read name; echo hello $name")
		s.wait("input_request", func() bool { return len(s.inputs) > 0 })
		answer := s.author.compose("input_reply", s.inputs[0], map[string]any{"status": "ok", "value": "Ada"})
		s.stdin.send(answer.frames())
		if r := s.result(m).ok(t); !strings.Contains(r.stdout, "hello Ada") {
			t.Errorf("%q", r.stdout)
		}
	})

	t.Run("queue", func(t *testing.T) {
		var cells []*message
		for _, word := range []string{"a", "b", "c"} {
			cells = append(cells, s.submit("%%\nfmt.Println(\""+word+"\")"))
		}
		var got string
		for _, m := range cells {
			got += s.result(m).ok(t).stdout
		}
		if got != "a\nb\nc\n" {
			t.Errorf("%q", got)
		}
	})

	t.Run("an error stops the queue", func(t *testing.T) {
		bad, behind := s.submit("%%\nos.Exit(3)"), s.submit("%%\nfmt.Println(\"never\")")
		info := s.request(s.shell, "kernel_info_request", map[string]any{})
		if r := s.result(bad); r.reply["status"] != "error" {
			t.Errorf("%v", r.reply)
		}
		r := s.result(behind)
		if r.reply["status"] != "aborted" || r.stdout != "" {
			t.Errorf("%v %q", r.reply, r.stdout)
		}
		if s.reply(info)["status"] != "ok" {
			t.Error("kernel_info behind an error is not answered")
		}
		s.run("%%\nfmt.Println(1)").ok(t)
	})

	t.Run("an error does not stop who asked so", func(t *testing.T) {
		bad := s.request(s.shell, "execute_request", map[string]any{"code": "%%\nos.Exit(3)", "stop_on_error": false})
		behind := s.submit("%%\nfmt.Println(\"runs\")")
		s.result(bad)
		if r := s.result(behind).ok(t); r.stdout != "runs\n" {
			t.Errorf("%q", r.stdout)
		}
	})
}

func TestInformation(t *testing.T) {
	s := startKernel(t, home(t))

	t.Run("kernel_info", func(t *testing.T) {
		info := s.ask("kernel_info_request", map[string]any{})
		lang := info["language_info"].(map[string]any)
		for field, want := range map[string]string{
			"name": "go", "pygments_lexer": "go", "codemirror_mode": "go", "file_extension": ".go", "mimetype": "text/x-go",
		} {
			if lang[field] != want {
				t.Errorf("%s is %v, want %s", field, lang[field], want)
			}
		}
		if info["implementation"] != "halftone" || info["status"] != "ok" || strings.Count(fmt.Sprint(lang["version"]), ".") != 1 {
			t.Errorf("%v", info)
		}
	})

	t.Run("while a cell runs", func(t *testing.T) {
		goOn := filepath.Join(t.TempDir(), "go on")
		m := s.submit("%%\nfmt.Println(\"go\")\n" + untilThere(goOn))
		s.waitOutput(m, "go")
		info := s.request(s.control, "kernel_info_request", map[string]any{})
		s.wait("kernel_info on control", func() bool {
			for _, r := range s.replies {
				if r.parentID() == info.id {
					return true
				}
			}
			return false
		})
		if err := s.hb.Send(zmq4.NewMsg([]byte("ping"))); err != nil {
			t.Fatal(err)
		}
		if echo, err := s.hb.Recv(); err != nil || string(echo.Bytes()) != "ping" {
			t.Errorf("heartbeat: %q %v", echo.Bytes(), err)
		}
		s.wait("busy after idle: the cell still runs", func() bool {
			idle := false
			for _, p := range s.iopub {
				if p.kind == "status" {
					state := content(p)["execution_state"]
					if idle && state == "busy" && p.parentID() == m.id {
						return true
					}
					idle = idle || state == "idle" && p.parentID() == info.id
				}
			}
			return false
		})
		if err := os.WriteFile(goOn, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.result(m).ok(t)
	})

	t.Run("is_complete", func(t *testing.T) {
		if r := s.ask("is_complete_request", map[string]any{"code": "func f() {"}); r["status"] != "incomplete" || r["indent"] != "    " {
			t.Errorf("%v", r)
		}
		if r := s.ask("is_complete_request", map[string]any{"code": "func f() {}"}); r["status"] != "complete" {
			t.Errorf("%v", r)
		}
	})

	t.Run("comm_info and history", func(t *testing.T) {
		s.run("%%\nfmt.Println(5)").ok(t)
		if r := s.ask("comm_info_request", map[string]any{}); r["status"] != "ok" || r["comms"] == nil {
			t.Errorf("%v", r)
		}
		r := s.ask("history_request", map[string]any{"hist_access_type": "tail", "n": 1})
		items := r["history"].([]any)
		if len(items) != 1 || items[0].([]any)[2] != "%%\nfmt.Println(5)" {
			t.Errorf("%v", r)
		}
	})
}

func TestBadMessagesAreDropped(t *testing.T) {
	s := startKernel(t, home(t))
	bad := s.author.compose("execute_request", nil, map[string]any{"code": "%%\nfmt.Println(\"forged\")", "silent": false, "store_history": true})
	bad.signature = bytes.Repeat([]byte("0"), 64)
	s.shell.send(bad.frames())
	unsigned := *bad
	unsigned.signature = nil
	s.shell.send(unsigned.frames())
	s.shell.send([][]byte{[]byte("nonsense")})
	s.shell.send([][]byte{delimiter, []byte("x")})
	shutdown := s.author.compose("shutdown_request", nil, map[string]any{"restart": false})
	shutdown.signature = []byte("abc")
	s.control.send(shutdown.frames())
	r := s.run("%%\nfmt.Println(\"alive\")").ok(t)
	if r.stdout != "alive\n" || r.reply["execution_count"] != 1.0 {
		t.Errorf("%q %v", r.stdout, r.reply)
	}
	if len(s.published(bad)) > 0 {
		t.Error("a forged request was answered")
	}
}

func TestInterrupt(t *testing.T) {
	s := startKernel(t, home(t))
	interrupt := func(t *testing.T, m *message, within time.Duration) result {
		t.Helper()
		began := time.Now()
		if r := s.reply(s.request(s.control, "interrupt_request", map[string]any{})); r["status"] != "ok" {
			t.Errorf("%v", r)
		}
		r := s.result(m)
		if d := time.Since(began); stretch.Over(d, within) {
			t.Errorf("it took %v", d)
		}
		return r
	}

	t.Run("program", func(t *testing.T) {
		m := s.submit("%%\nfmt.Println(\"go\")\ntime.Sleep(time.Minute)")
		s.waitOutput(m, "go")
		if r := interrupt(t, m, 2*time.Second); r.reply["status"] != "error" {
			t.Errorf("%v", r.reply)
		}
	})

	t.Run("program that finishes its work", func(t *testing.T) {
		m := s.submit("%%\nc := make(chan os.Signal, 9)\nsignal.Notify(c, os.Interrupt)\nfmt.Println(\"go\")\n<-c\ntime.Sleep(300*time.Millisecond)\nfmt.Println(\"extra signals:\", len(c))")
		s.waitOutput(m, "go")
		if r := interrupt(t, m, 3*time.Second).ok(t); !strings.Contains(r.stdout, "extra signals: 0") {
			t.Errorf("%q", r.stdout)
		}
	})

	t.Run("shell", func(t *testing.T) {
		m := s.submit("!echo go; sleep 60; echo never\n!echo neither\n%%\nfmt.Println(\"nor this\")")
		s.waitOutput(m, "go")
		r := interrupt(t, m, 2*time.Second)
		if strings.Contains(r.stdout, "never") || strings.Contains(r.stdout, "nor this") {
			t.Errorf("it went on: %q", r.stdout)
		}
		if r.reply["status"] != "error" || r.reply["ename"] != "Interrupted" { // GoNB calls it ok
			t.Errorf("%v", r.reply)
		}
	})

	t.Run("build", func(t *testing.T) {
		// A flag that no build has had before: nothing is in the build cache, the standard library is compiled again.
		m := s.submit("%goflags -gcflags=all=-trimpath=/" + newID() + "\n%%\nfmt.Println(\"never\")")
		s.waitBusy(m)
		time.Sleep(300 * time.Millisecond)
		r := interrupt(t, m, 5*time.Second)
		if r.reply["status"] != "error" || strings.Contains(r.stdout, "never") {
			t.Errorf("%v %q", r.reply, r.stdout)
		}
		s.run("%goflags \"\"").ok(t)
	})

	s.run("%%\nfmt.Println(1)").ok(t)
	t.Run("by signal", func(t *testing.T) { // from Jupyter, which has set JPY_PARENT_PID
		m := s.submit("%%\nfmt.Println(\"go\")\ntime.Sleep(time.Minute)")
		s.waitOutput(m, "go")
		_ = s.cmd.Process.Signal(os.Interrupt)
		s.result(m)
		s.run("%%\nfmt.Println(1)").ok(t)
	})
}
