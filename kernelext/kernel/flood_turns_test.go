package kernel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Two streams that take turns line by line reach the limit by what their turns cost, with little text: it is cut there as any other, what
// is left out is counted, and the note says how much it was.
func TestDamOfStreamsThatTakeTurns(t *testing.T) {
	a := author{[]byte("k"), "s"}
	cell := a.compose("execute_request", nil, 1)
	var text strings.Builder
	d := &dam{author: a, send: func(m *message) {
		var c streamContent
		_ = json.Unmarshal(m.content, &c)
		text.WriteString(c.Text)
	}}
	const n = 20_000
	for i := range n {
		d.put(a.compose("stream", cell, streamContent{"stdout", fmt.Sprintf("#%05d\n", i)}))
		d.put(a.compose("stream", cell, streamContent{"stderr", fmt.Sprintf("#%05d\n", i)}))
	}
	d.put(a.compose("status", cell, map[string]any{"execution_state": "idle"}))
	got := text.String()
	shown, left := strings.Count(got, "#"), 0
	for _, part := range strings.Split(got, "iB, ")[1:] {
		k := 0
		_, _ = fmt.Sscan(part, &k)
		left += k
	}
	if shown+left != 2*n || shown < 8000 {
		t.Errorf("%d lines shown, %d left out, of %d", shown, left, 2*n)
	}
	if !strings.Contains(got, "has printed 27 KiB on stdout, in 4069 pieces between those of the other stream") || strings.Contains(got, "4.0 MiB") {
		_, note, _ := strings.Cut(got, "halftone: this cell")
		t.Errorf("%.120q", note)
	}
}
