package kernel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A flow is an outflow under test: its clock stands still until it is moved.
type flow struct {
	*outflow
	t   *testing.T
	a   author
	now time.Time
}

func newFlow(t *testing.T) *flow {
	now := time.Now()
	a := author{[]byte("k"), "s"}
	return &flow{&outflow{key: a.key, credit: paceBurst, since: now, wake: make(chan struct{}, 1)}, t, a, now}
}

func (f *flow) print(cell *message, name, text string) *message {
	m := f.a.compose("stream", cell, streamContent{name, text})
	f.put(m)
	return m
}

// take moves the clock and returns what leaves, in words.
func (f *flow) take(d time.Duration) (got []string) {
	f.now = f.now.Add(d)
	for {
		m, _, _ := f.next(f.now)
		if m == nil {
			return got
		}
		if _, err := parse(m.frames(), f.key); err != nil {
			f.t.Error(err)
		}
		var c streamContent
		_ = json.Unmarshal(m.content, &c)
		if m.kind != "stream" {
			c.Name = m.kind
		}
		got = append(got, c.Name+":"+c.Text)
	}
}

// What is printed within a moment leaves together, in its order, and waits for nothing else.
func TestOutflowJoins(t *testing.T) {
	f := newFlow(t)
	one, two := f.a.compose("execute_request", nil, 1), f.a.compose("execute_request", nil, 2)
	single := f.print(one, "stdout", "a")
	if got := f.take(0); len(got) != 0 {
		t.Errorf("a piece leaves at once: %q", got)
	}
	f.put(f.a.compose("status", one, map[string]any{"execution_state": "idle"}))
	if m, _, _ := f.next(f.now); m != single {
		t.Error("a single piece was changed or kept back")
	}
	f.take(0)

	f.print(one, "stdout", "a")
	f.print(one, "stdout", "b\n")
	f.print(one, "stderr", "c")
	f.print(one, "stdout", "d")
	f.put(f.a.compose("display_data", one, map[string]any{}))
	f.print(one, "stdout", "d")
	f.print(two, "stdout", "e")
	f.print(two, "stdout", "ü")
	f.put(f.a.compose("execute_reply", two, map[string]any{}))
	if got := strings.Join(f.take(0), " "); got != "stdout:ab\n stderr:c stdout:d display_data: stdout:d stdout:eü execute_reply:" {
		t.Errorf("%q", got)
	}

	// What is printed before a pause is shown in the pause.
	f.print(one, "stdout", "x")
	f.now = time.Now()
	if got := f.take(joinFor); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// However much a cell prints, all of it leaves in order, never more of it within three seconds than the notebook server lets pass, in
// fewer and fewer messages; its end does not overtake it.
func TestOutflowPaces(t *testing.T) {
	for _, c := range []struct {
		name          string
		lines, length int
		streams       int
		most          int // messages
		within        time.Duration
	}{
		{"a few lines", 100, 60, 1, 1, 0},
		{"20,000 lines", 20_000, 65, 1, 16, 4 * time.Second},
		{"4 MB", 64_000, 65, 1, 60, 15 * time.Second},
		{"lines that cannot be joined", 3000, 20, 2, 3000, 6 * time.Second},
	} {
		f := newFlow(t)
		cell := f.a.compose("execute_request", nil, 1)
		var want, got strings.Builder
		for i := range c.lines {
			line := fmt.Sprintf("%0*d\n", c.length-1, i)
			f.print(cell, []string{"stdout", "stderr"}[i%c.streams], line)
			want.WriteString(line)
		}
		f.put(f.a.compose("execute_reply", cell, map[string]any{}))
		type burst struct {
			at             time.Duration
			bytes, message int
		}
		var sent []burst
		at, over, step := time.Duration(0), false, 50*time.Millisecond
		for ; !over && at < time.Minute; at += step {
			b := burst{at: at}
			for _, s := range f.take(step) {
				name, text, _ := strings.Cut(s, ":")
				if over = name == "execute_reply"; !over {
					got.WriteString(text)
					b.bytes, b.message = b.bytes+len(text), b.message+1
				}
			}
			sent = append(sent, b)
		}
		messages := 0
		for i := range sent {
			window := burst{}
			for _, b := range sent[i:] {
				if b.at < sent[i].at+3*time.Second {
					window.bytes, window.message = window.bytes+b.bytes, window.message+b.message
				}
			}
			if window.bytes > 3_000_000 || window.message > 3000 {
				t.Errorf("%s: %d bytes in %d messages within three seconds", c.name, window.bytes, window.message)
				break
			}
			messages += sent[i].message
		}
		if got.String() != want.String() || !over || messages > c.most || at > c.within+step {
			t.Errorf("%s: %d bytes of %d arrive, in %d messages, until %v; over: %v", c.name, got.Len(), want.Len(), messages, at, over)
		}
	}
}

// An interrupt leaves the end of what was on its way, and says how much is left out.
func TestOutflowCondenses(t *testing.T) {
	f := newFlow(t)
	cell := f.a.compose("execute_request", nil, 1)
	f.credit = 0
	for i := range 10_000 {
		f.print(cell, "stdout", fmt.Sprintf("line %05d \\ \"é\"\n", i))
	}
	f.put(f.a.compose("display_data", cell, map[string]any{}))
	f.print(cell, "stdout", "last\n")
	f.put(f.a.compose("status", cell, map[string]any{"execution_state": "idle"}))
	f.condense(4<<10, f.a, "")
	f.condense(4<<10, f.a, "") // there is nothing to leave out any more
	got := f.take(time.Second)
	shown, left := strings.Count(strings.Join(got, ""), "line "), 0
	if len(got) != 5 {
		t.Fatalf("%.300q", got)
	}
	_, note, _ := strings.Cut(got[0], "KiB, ")
	_, _ = fmt.Sscan(note, &left)
	if shown+left != 10_000 || shown < 100 || shown > 300 {
		t.Errorf("%d lines shown, %d left out: %q", shown, left, got[0])
	}
	if !strings.HasPrefix(got[0], "stderr:") || !strings.HasPrefix(got[1], "stdout:line ") || !strings.HasSuffix(got[1], "line 09999 \\ \"é\"\n") ||
		got[2] != "display_data:" || got[3] != "stdout:last\n" || got[4] != "status:" {
		t.Errorf("%.100q", got)
	}
}

// So it does of text without ends of lines, such as a bar that is drawn again and again.
func TestOutflowCondensesLongLines(t *testing.T) {
	f := newFlow(t)
	cell := f.a.compose("execute_request", nil, 1)
	f.credit = 0
	for i := range 10_000 {
		f.print(cell, "stdout", fmt.Sprintf("\r<%05d> é", i))
	}
	f.condense(4<<10, f.a, "")
	got := f.take(time.Minute)
	if len(got) != 2 || !strings.HasPrefix(got[0], "stderr:\nhalftone: ") || !strings.HasSuffix(got[1], "\r<09999> é") || len(got[1]) < 2<<10 || len(got[1]) > 5<<10 {
		t.Errorf("%d messages: %.100q", len(got), got)
	}
}

func TestMuchOutput(t *testing.T) {
	s := startKernel(t, home(t))
	r := s.run("%%\nfor i := range 100000 {\n\tfmt.Println(\"line\", i)\n}").ok(t)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if len(lines) != 100000 || lines[99999] != "line 99999" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	if n := len(r.messages); n > 200 {
		t.Errorf("%d messages", n)
	}
}
