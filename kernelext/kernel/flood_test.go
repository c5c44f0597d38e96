package kernel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestDam(t *testing.T) {
	a := author{[]byte("k"), "s"}
	one, two := a.compose("execute_request", nil, 1), a.compose("execute_request", nil, 2)
	var sent []*message
	d := &dam{author: a, send: func(m *message) { sent = append(sent, m) }, first: 100, last: 40}
	stream := func(parent *message, name, text string) {
		d.put(a.compose("stream", parent, streamContent{name, text}))
	}
	take := func(parent *message) (got []string) {
		for _, m := range sent {
			if _, err := parse(m.frames(), a.key); err != nil {
				t.Error(err)
			}
			if m.parentID() != parent.id {
				t.Errorf("%s of another cell", m.kind)
			}
			var c streamContent
			_ = json.Unmarshal(m.content, &c)
			got = append(got, m.kind+" "+c.Name+" "+c.Text)
		}
		sent = nil
		return got
	}
	idle := func(parent *message) {
		d.put(a.compose("status", parent, map[string]any{"execution_state": "idle"}))
	}

	// What fits goes through as it is.
	stream(one, "stdout", strings.Repeat("x", 100))
	stream(one, "stderr", strings.Repeat("y", 100))
	idle(one)
	if got := take(one); len(got) != 3 || got[0] != "stream stdout "+strings.Repeat("x", 100) || got[1] != "stream stderr "+strings.Repeat("y", 100) {
		t.Errorf("%q", got)
	}

	// A flood: beginning, notes and end; every line is shown or counted.
	for i := range 1000 {
		stream(two, "stdout", fmt.Sprintf("line %03d ü\n", i))
	}
	stream(two, "stderr", "panic: x\n")
	d.put(a.compose("error", two, errorContent{"panic", "x", nil}))
	idle(two)
	got := take(two)
	shown, left := 0, 0
	for _, s := range got {
		if strings.HasPrefix(s, "stream stdout ") {
			shown += strings.Count(s, "\n")
		}
		if _, after, ok := strings.Cut(s, "KiB, "); ok {
			_, _ = fmt.Sscan(after, &left)
		}
	}
	if shown+left != 1000 || left < 900 {
		t.Errorf("%d lines shown, %d left out", shown, left)
	}
	if n := len(got); n < 5 || got[n-1] != "status  " || got[n-2] != "error  " || !strings.HasSuffix(got[n-3], "line 999 ü\n") || !strings.HasPrefix(got[n-4], "stream stderr halftone: ") || got[n-5] != "stream stderr panic: x\n" {
		t.Errorf("%q", got)
	}

	// One huge piece; a cell that is cleared begins again; another cell has a limit of its own.
	stream(one, "stdout", strings.Repeat("é", 300))
	d.put(a.compose("clear_output", one, map[string]any{"wait": true}))
	stream(one, "stdout", "after\n")
	idle(one)
	if got := take(one); len(got) != 5 || got[0] != "stream stdout "+strings.Repeat("é", 50) || got[3] != "stream stdout after\n" {
		t.Errorf("%q", got)
	}
	stream(one, "stdout", strings.Repeat("é", 51)) // cut within the limit, nothing is left out
	idle(one)
	if got := take(one); len(got) != 4 || strings.Count(strings.Join(got, ""), "é") != 51 {
		t.Errorf("%q", got)
	}
	stream(one, "stdout", strings.Repeat("z", 120))
	sent = nil
	stream(two, "stdout", "of two")
	if len(sent) != 2 || sent[0].parentID() != one.id || sent[1].parentID() != two.id {
		t.Errorf("%d messages", len(sent))
	}
}

// What a flooding cell prints newest is shown while it goes on, ever more seldom; every line is shown once or counted once.
func TestDamShowsNews(t *testing.T) {
	a := author{[]byte("k"), "s"}
	cell := a.compose("execute_request", nil, 1)
	var text strings.Builder
	shows := 0
	d := &dam{author: a, first: 40 << 10, send: func(m *message) {
		var c streamContent
		_ = json.Unmarshal(m.content, &c)
		text.WriteString(c.Text)
		if c.Name == "stdout" {
			shows++
		}
	}}
	now, n := time.Now(), 0
	print := func() {
		d.put(a.compose("stream", cell, streamContent{"stdout", fmt.Sprintf("line %07d\n", n)}))
		n++
	}
	for range 10_000 {
		print()
	}
	if d.due(now) == nil {
		t.Fatal("nothing is due")
	}
	shows = 0
	for range 3600 { // an hour
		for range 20 {
			print()
		}
		if now = now.Add(time.Second); now.Sub(d.sampled) >= d.newsPause(now) {
			if d.sample(now); !strings.HasSuffix(text.String(), fmt.Sprintf("line %07d\n", n-1)) {
				t.Fatalf("the newest line is not shown: %q", text.String()[text.Len()-100:])
			}
		}
	}
	if shows < 20 || shows > 200 {
		t.Errorf("%d times in an hour", shows)
	}
	d.put(a.compose("status", cell, map[string]any{"execution_state": "idle"}))
	shown, left := strings.Count(text.String(), "line "), 0
	for _, part := range strings.Split(text.String(), "iB, ")[1:] {
		k := 0
		_, _ = fmt.Sscan(part, &k)
		left += k
	}
	if shown+left != n || d.due(now) != nil {
		t.Errorf("%d lines shown, %d left out, of %d", shown, left, n)
	}
}
