package kernel

import (
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
)

// interruptedCell asks and says whether it was left alone for as long as GoNB may take to read what is behind the question.
const interruptedCell = `import "github.com/janpfeifer/gonb/gonbui"
%%
c := make(chan os.Signal, 1)
signal.Notify(c, os.Interrupt)
began := time.Now()
gonbui.RequestInput("now? ", false)
<-c
fmt.Println(time.Since(began) >= 100*time.Millisecond)`

// askingCell never stops asking.
const askingCell = `import "github.com/janpfeifer/gonb/gonbui"
%%
for {
	gonbui.RequestInput("again? ", false)
	time.Sleep(5 * time.Millisecond)
}`

// inputCell asks twice at once and reads both answers.
const inputCell = `import "github.com/janpfeifer/gonb/gonbui"
%%
gonbui.RequestInput("first? ", false)
gonbui.RequestInput("second? ", true)
gonbui.Sync()
var a, b string
fmt.Scanln(&a)
fmt.Scanln(&b)
fmt.Println("got", a, b)`

// asked lists the questions of a cell so far.
func (s *server) asked(m *message) []*message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*message
	for _, in := range s.inputs {
		if in.parentID() == m.id {
			list = append(list, in)
		}
	}
	return list
}

// waitAsked waits until a cell has asked n times.
func (s *server) waitAsked(t *testing.T, m *message, n int) []*message {
	t.Helper()
	for began := time.Now(); len(s.asked(m)) < n; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("%d questions", len(s.asked(m)))
		}
	}
	return s.asked(m)
}

func testInput(t *testing.T, s *server) {
	answer := func(to *message, content any) {
		s.stdin.send(s.author.compose("input_reply", to, content).frames())
	}
	waitAsked := func(m *message, n int) []*message { t.Helper(); return s.waitAsked(t, m, n) }
	gonb := s.gonb()
	answer(nil, map[string]any{"value": "to nobody"})

	m := s.submit(inputCell)
	in := waitAsked(m, 1)
	answer(in[0], map[string]any{"status": "ok", "value": "one"})
	in = waitAsked(m, 2)
	if c := content(in[1]); c["prompt"] != "second? " || c["password"] != true {
		t.Errorf("%v", c)
	}
	answer(in[1], map[string]any{"status": "ok", "value": "two"})
	if r := s.result(m).ok(t); r.stdout != "got one two\n" {
		t.Errorf("%q", r.stdout)
	}

	// Answers without a text, and of which there are too many.
	m = s.submit(inputCell)
	for n := range 2 {
		in = waitAsked(m, n+1)
		answer(in[n], map[string]any{"status": "error"})
		answer(in[n], map[string]any{"value": 5})
	}
	if r := s.result(m).ok(t); r.stdout != "got  \n" {
		t.Errorf("%q", r.stdout)
	}

	// Interrupted while it waits.
	m = s.submit(inputCell)
	in = waitAsked(m, 1)
	s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
	if r := s.result(m); r.reply["status"] != "error" || r.reply["ename"] != "Interrupted" {
		t.Errorf("%v", r.reply)
	}
	answer(in[0], map[string]any{"status": "ok", "value": "too late"})

	// Interrupted at once: the signal waits for GoNB, and not for questions that never end.
	m = s.submit(interruptedCell)
	waitAsked(m, 1)
	s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
	if r := s.result(m); r.stdout != "true\n" {
		t.Errorf("%q %v", r.stdout, r.reply)
	}
	m = s.submit(askingCell)
	waitAsked(m, 1)
	s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
	if r := s.result(m); r.reply["ename"] != "Interrupted" {
		t.Errorf("%v", r.reply)
	}

	// Who runs the cell cannot be asked.
	began := time.Now()
	m = s.execute(s.shell, inputCell, nil)
	r := s.result(m)
	if d := time.Since(began); r.reply["status"] != "error" || r.reply["ename"] != "StdinNotAllowed" || !strings.Contains(r.stderr, "allow_stdin") || stretch.Over(d, 10*time.Second) {
		t.Errorf("%v %q after %v", r.reply, r.stderr, d)
	}
	if len(s.asked(m)) > 0 {
		t.Error("it was asked")
	}
	if r := s.run("%%\nfmt.Println(1)").ok(t); r.stdout != "1\n" || s.gonb() != gonb {
		t.Errorf("%q", r.stdout)
	}
}
