package kernel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A cell that displays more than it may: every display arrives or is counted, and the last one arrives as it was last.
func TestDamDisplays(t *testing.T) {
	a := author{[]byte("k"), "s"}
	cell, next := a.compose("execute_request", nil, 1), a.compose("execute_request", nil, 2)
	var sent []*message
	d := &dam{author: a, send: func(m *message) { sent = append(sent, m) }, first: 2000, shown: 2000, last: 40}
	show := func(parent *message, kind, id, text string) {
		content := map[string]any{"data": map[string]string{"text/html": text}, "metadata": map[string]any{}, "transient": map[string]string{"display_id": id}}
		d.put(a.compose(kind, parent, content))
	}
	idle := func(parent *message) {
		d.put(a.compose("status", parent, map[string]any{"execution_state": "idle"}))
	}
	take := func() (displays []string, notes string) {
		for _, m := range sent {
			if _, err := parse(m.frames(), a.key); err != nil {
				t.Error(err)
			}
			var c struct {
				Text string
				Data map[string]string
			}
			_ = json.Unmarshal(m.content, &c)
			if strings.HasSuffix(m.kind, "display_data") {
				displays = append(displays, m.kind+" "+c.Data["text/html"])
			}
			notes += c.Text
		}
		sent = nil
		return displays, notes
	}

	for i := range 10000 {
		show(cell, "display_data", fmt.Sprint("id", i), fmt.Sprintf("figure %05d", i))
	}
	show(cell, "update_display_data", "id9999", "updated")
	show(cell, "update_display_data", "id0", "live")
	d.put(a.compose("stream", cell, streamContent{"stdout", "text is bounded on its own"}))
	idle(cell)
	if last := sent[len(sent)-1]; last.kind != "status" {
		t.Errorf("%s comes last", last.kind)
	}
	displays, notes := take()
	left := 0
	if _, after, ok := strings.Cut(notes, "when the cell ends."); ok {
		_, after, _ = strings.Cut(after, "halftone: ")
		_, _ = fmt.Sscan(after, &left)
	}
	n := len(displays)
	if n < 10 || n > 40 || left+n-1 != 10000 { // one of the messages is the update of the first
		t.Fatalf("%d displays arrive, %d left out: %q", n, left, notes)
	}
	if displays[0] != "display_data figure 00000" || displays[n-2] != "update_display_data live" || displays[n-1] != "display_data updated" {
		t.Errorf("%q", displays)
	}
	if !strings.Contains(notes, floodEnv) || !strings.Contains(notes, "text is bounded on its own") {
		t.Errorf("%q", notes)
	}

	// A cleared cell begins again, a cell of its own has its own limit, and one display too many is not left out.
	for range 50 {
		show(next, "display_data", "", strings.Repeat("x", 1000))
		d.put(a.compose("clear_output", next, map[string]any{"wait": true}))
	}
	show(next, "display_data", "", strings.Repeat("y", 1000))
	show(next, "display_data", "", strings.Repeat("z", 1000))
	idle(next)
	if displays, notes := take(); len(displays) != 52 || strings.Contains(notes, "left out") || !strings.Contains(notes, "only the last display is kept") {
		t.Errorf("%d displays, %q", len(displays), notes)
	}
}

// More text for a cell is not less room for what it shows.
func TestShowLimit(t *testing.T) {
	for mib, want := range map[string]int{"": 64 << 20, "8": 64 << 20, "100": 100 << 20, "-1": 64 << 20} {
		if t.Setenv(floodEnv, mib); showLimit() != want {
			t.Errorf("%s=%s: %d bytes of displays, want %d", floodEnv, mib, showLimit(), want)
		}
	}
}
