package kernel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
)

// matches completes code at its end and returns the matches.
func (c *client) matches(code string) []string {
	c.t.Helper()
	r := c.ask("complete_request", map[string]any{"code": code, "cursor_pos": len([]rune(code))})
	var list []string
	for _, m := range r["matches"].([]any) {
		list = append(list, m.(string))
	}
	return list
}

// until asks again until the answer has what is wanted: the first one may come before gopls has read everything.
func until(t *testing.T, what string, ask func() string, want string) {
	t.Helper()
	got := ""
	for began := time.Now(); time.Since(began) < patience; time.Sleep(100 * time.Millisecond) {
		if got = ask(); strings.Contains(got, want) {
			return
		}
	}
	t.Errorf("%s: no %q in %.300s", what, want, got)
}

func TestAssistant(t *testing.T) {
	began := time.Now()
	s := startKernel(t, home(t))
	completes := func(code, want string) {
		t.Helper()
		until(t, "completing "+code, func() string { return " " + strings.Join(s.matches(code), " ") + " " }, " "+want)
	}
	completes("%%\namp.NewGradSc", "NewGradScaler")
	if d := time.Since(began); stretch.Over(d, 11*time.Second) { // GoNB alone answers after twelve
		t.Errorf("the first completion came after %v", d)
	}
	t.Logf("the first completion came %v after the start", time.Since(began))
	completes("%%\nx := strings.ToUpp", "ToUpper")
	completes("func f() {\n\tretu", "return")

	s.run("import j \"encoding/json\"\ntype Neuron struct{ Weight float64 }\nfunc (n *Neuron) Fire() float64 { return n.Weight }").ok(t)
	completes("%%\nvar n Neuron\nn.", "Fire")
	completes("%%\nj.Marsh", "Marshal")
	completes("!echo a\n%%amp float16\nx := half.Auto", "Autocast")

	// Characters outside of the basic plane count once.
	code := "%%\ns := \"é😀\"; strings.ToUpp"
	r := s.ask("complete_request", map[string]any{"code": code, "cursor_pos": len([]rune(code))})
	if end := len([]rune(code)); r["cursor_end"] != float64(end) || r["cursor_start"] != float64(end-len("ToUpp")) {
		t.Errorf("%v", r)
	}
	types := r["metadata"].(map[string]any)["_jupyter_types_experimental"].([]any)
	if len(types) == 0 || !strings.Contains(fmt.Sprint(types), "type:function") || !strings.Contains(fmt.Sprint(types), "func(s string) string") {
		t.Errorf("%v", types)
	}

	t.Run("while a cell runs", func(t *testing.T) {
		goOn := filepath.Join(t.TempDir(), "go on")
		m := s.submit("%%\nfmt.Println(\"go\")\n" + untilThere(goOn))
		s.waitOutput(m, "go")
		began := time.Now()
		completes("%%\namp.NewGradSc", "NewGradScaler")
		if d := time.Since(began); stretch.Over(d, 2*time.Second) {
			t.Errorf("it took %v", d)
		}
		if err := os.WriteFile(goOn, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if s.result(m).ok(t).reply["status"] != "ok" {
			t.Error("the cell was disturbed")
		}
	})

	t.Run("inspect", func(t *testing.T) {
		inspect := func(code string) string {
			b, _ := json.Marshal(s.ask("inspect_request", map[string]any{"code": code, "cursor_pos": len([]rune(code)), "detail_level": 0}))
			return string(b)
		}
		until(t, "a function", func() string { return inspect("%%\namp.NewGradScaler") }, "func amp.NewGradScaler(")
		until(t, "in its arguments", func() string { return inspect("%%\nx := amp.NewGradScaler(") }, "func amp.NewGradScaler(")
		until(t, "a method", func() string { return inspect("%%\ns := amp.NewScope()\ns.Autocast") }, "Scope) Autocast(")
		until(t, "what a cell declared", func() string { return inspect("%%\nvar n Neuron\nn.Fire") }, "Neuron) Fire()")
		if got := inspect("%%\nnothingOfTheKind"); !strings.Contains(got, `"found":false`) && !strings.Contains(got, "no identifier") && !strings.Contains(got, `"status":"ok"`) {
			t.Error(got)
		}
	})

	t.Run("pager", func(t *testing.T) {
		for _, code := range []string{"amp.NewGradScaler?", "?amp.NewGradScaler", " fmt.Println?? "} {
			m := s.submit(code)
			r := s.result(m).ok(t)
			payload, _ := r.reply["payload"].([]any)
			if len(payload) != 1 {
				t.Fatalf("%q: %v", code, r.reply)
			}
			page := payload[0].(map[string]any)
			text, _ := page["data"].(map[string]any)["text/plain"].(string)
			if page["source"] != "page" || !strings.HasPrefix(text, "func ") || strings.Contains(text, "```") {
				t.Errorf("%q: %v", code, page)
			}
			for _, p := range r.messages {
				if p.kind == "execute_input" && content(p)["code"] != code {
					t.Errorf("echo %s", p.content)
				}
			}
		}
		before := s.run("fmt.Println?").ok(t).reply["execution_count"].(float64)
		r := s.run("amp.NoSuchThing?")
		if r.reply["status"] != "error" || r.reply["ename"] != "NotFound" || r.reply["execution_count"] != before+1 {
			t.Errorf("%v", r.reply)
		}
	})

	t.Run("exit", func(t *testing.T) {
		before := s.run("fmt.Println?").ok(t).reply["execution_count"].(float64)
		for _, code := range []string{"exit", "quit()", " quit\n"} {
			before++
			r := s.run(code).ok(t)
			payload := fmt.Sprint(r.reply["payload"])
			if payload != "[map[keepkernel:false source:ask_exit]]" || r.reply["execution_count"] != before || r.stdout != exitText {
				t.Errorf("%q: %v, prints %q", code, r.reply, r.stdout)
			}
		}
		if r := s.run("exit(1)"); r.reply["status"] != "error" {
			t.Errorf("%v", r.reply)
		}
	})

	t.Run("stopped while it waits", func(t *testing.T) {
		gopls := 0
		for _, p := range sessionMembers(s.gonb()) {
			if p.name == "gopls" {
				gopls = p.pid
			}
		}
		if gopls == 0 {
			t.Fatal("there is no gopls")
		}
		_ = syscall.Kill(gopls, syscall.SIGSTOP)
		defer func() { _ = syscall.Kill(gopls, syscall.SIGCONT) }()
		m := s.submit("fmt.Sprint?")
		s.waitBusy(m)
		s.press()
		if r := s.result(m); r.reply["ename"] != "Interrupted" {
			t.Errorf("%v", r.reply)
		}
	})

	t.Run("gopls dies", func(t *testing.T) {
		time.Sleep(time.Until(began.Add(goplsStart + time.Second)))
		for _, p := range sessionMembers(s.gonb()) {
			if p.name == "gopls" {
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
		for range 2 {
			asked := time.Now()
			if got := s.matches("%%\namp.NewGradSc"); len(got) > 0 {
				t.Errorf("%v", got)
			}
			if d := time.Since(asked); stretch.Over(d, 2*time.Second) {
				t.Errorf("to find nothing took %v", d)
			}
		}
	})

	// A new GoNB has a new gopls.
	killChild(t, s)
	s.run("%%\nfmt.Println(1)").ok(t)
	completes("%%\namp.NewGradSc", "NewGradScaler")
}

func TestOverlay(t *testing.T) {
	known := knownImports([]cell{{Count: 1, Code: "import (\n\tplt \"gonum.org/v1/plot\"\n\t\"example.org/fmt\"\n)"}, {Count: 2, Code: "import \"a.org/b/c\" // why"}})
	for name, want := range map[string]string{
		"amp": Module + "/amp", "optim": Module + "/amp/optim", "strings": "strings", "rand": "math/rand", "plt": "gonum.org/v1/plot",
		"fmt": "example.org/fmt", "c": "a.org/b/c", "filepath": "path/filepath",
	} {
		if known[name] != want {
			t.Errorf("%s is %q, want %q", name, known[name], want)
		}
	}
	for code, want := range map[string]string{
		"%%\nstrings.X":                              "package main; import strings \"strings\"\nfunc _() {\nstrings.X\n}",
		"var x = 1":                                  "package main\nvar x = 1",
		"import \"strings\"\nvar x = strings.X":      "package main\nimport \"strings\"\nvar x = strings.X",
		"%env A=b\n!ls \\\n  -l\nvar x int\n%% a\ny": "package main\n\n\n\nvar x int\nfunc _() {\ny\n}",
		"package p\nvar x int":                       "package main\n\nvar x int",
		"//gonb:%%\nx":                               "package main\nfunc _() {\nx\n}",
	} {
		if got, ok := overlayText(code, known); !ok || got != want {
			t.Errorf("%q:\n%s\nwant\n%s", code, got, want)
		}
	}
	if _, ok := overlayText("%%bash\nls", known); ok {
		t.Error("a shell's cell was taken for Go")
	}
	text := []rune("ab\né😀x\n")
	for at := range len(text) + 1 {
		if p := overlayPosition(text, at); runeAt(text, p) != at {
			t.Errorf("%d is %v is %d", at, p, runeAt(text, p))
		}
	}
}
