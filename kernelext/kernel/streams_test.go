package kernel

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestJoiner(t *testing.T) {
	key := []byte("k")
	a := author{key, "s"}
	one, two := a.compose("execute_request", nil, 1), a.compose("execute_request", nil, 2)
	var mu sync.Mutex
	var sent []*message
	j := &joiner{key: key, wait: time.Hour, send: func(m *message) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, m)
	}}
	stream := func(parent *message, name, text string) *message {
		return a.compose("stream", parent, streamContent{name, text})
	}
	take := func() (got []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range sent {
			if _, err := parse(m.frames(), key); err != nil {
				t.Error(err)
			}
			var c streamContent
			_ = json.Unmarshal(m.content, &c)
			got = append(got, fmt.Sprintf("%s:%s", c.Name, c.Text))
		}
		sent = nil
		return got
	}

	single := stream(one, "stdout", "a")
	j.put(single)
	j.put(a.compose("status", one, map[string]any{"execution_state": "idle"}))
	if sent[0] != single || len(sent) != 2 {
		t.Error("a single piece was changed or kept back")
	}
	take()

	for _, m := range []*message{
		stream(one, "stdout", "a"), stream(one, "stdout", "b\n"), stream(one, "stderr", "c"), stream(one, "stdout", "d"),
		stream(two, "stdout", "e"), stream(two, "stdout", "ü"),
	} {
		j.put(m)
	}
	j.put(a.compose("status", two, map[string]any{}))
	if got := strings.Join(take(), " "); got != "stdout:ab\n stderr:c stdout:d stdout:eü :" {
		t.Errorf("%q", got)
	}

	// What is printed before a pause is shown in the pause.
	j.wait = joinFor
	j.put(stream(one, "stdout", "x"))
	got := ""
	for began := time.Now(); got == "" && time.Since(began) < time.Minute; time.Sleep(joinFor) {
		got = strings.Join(take(), " ")
	}
	if got != "stdout:x" {
		t.Errorf("%q", got)
	}

	// Pieces are not joined without end.
	j.wait = time.Hour
	for range 10 {
		j.put(stream(one, "stdout", strings.Repeat("z", joinSize/4)))
	}
	if got := take(); len(got) != 2 {
		t.Errorf("%d messages", len(got))
	}
}

func TestMuchOutput(t *testing.T) {
	s := startKernel(t, home(t))
	r := s.run("%%\nfor i := range 100000 {\n\tfmt.Println(\"line\", i)\n}").ok(t)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if len(lines) != 100000 || lines[99999] != "line 99999" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	if n := len(r.messages); n > 5000 {
		t.Errorf("%d messages", n)
	}
}
