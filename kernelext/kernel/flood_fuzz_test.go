package kernel

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestFloodsOfAnyText: whatever cells print, show and clear, at whatever limits, what leaves is whole messages of whole characters.
func TestFloodsOfAnyText(t *testing.T) {
	characters := []string{"a", "é", "€", "😀", "\n", "\\", "\"", "\r", "\x1b", "<", "\u2028", "longer "}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := newFlow(t)
		d := &dam{author: f.a, send: f.put, first: 1 << (7 + r.IntN(9)), last: 1 + r.IntN(200), flood: func() { f.condense(r.IntN(100), f.a, "") }}
		leave := func(after time.Duration) {
			for _, s := range f.take(after) {
				if strings.ContainsRune(s, '\uFFFD') {
					t.Errorf("seed %d: %q", seed, s)
				}
			}
		}
		for cell := range 3 {
			request := f.a.compose("execute_request", nil, cell)
			for range r.IntN(5000) {
				switch n := r.IntN(500); {
				case n < 20:
					d.put(f.a.compose("display_data", request, map[string]any{"data": strings.Repeat("x", r.IntN(500))}))
				case n == 20 && r.IntN(20) == 0:
					d.put(f.a.compose("clear_output", request, map[string]any{"wait": true}))
				case n < 30:
					f.condense(r.IntN(300), f.a, "")
				case n < 60:
					leave(time.Duration(r.IntN(2000)) * time.Millisecond)
				case n < 70:
					d.sample(f.now)
				default:
					var text strings.Builder
					for range r.IntN(1 + r.IntN(20)) {
						text.WriteString(characters[r.IntN(len(characters))])
					}
					d.put(f.a.compose("stream", request, streamContent{[]string{"stdout", "stderr"}[r.IntN(2)], text.String()}))
				}
			}
			d.put(f.a.compose("status", request, map[string]any{"execution_state": "idle"}))
		}
		leave(time.Hour)
	}
}
