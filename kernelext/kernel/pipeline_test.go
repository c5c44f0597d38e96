package kernel

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/widgets"
)

func TestPipelineKeepsLiveFiguresLive(t *testing.T) {
	a := author{[]byte("k"), "s"}
	var mu sync.Mutex
	var got []string
	drawn := 0
	p := newPipeline(drawer{func([]byte) (map[string]any, error) {
		time.Sleep(20 * time.Millisecond)
		drawn++
		return nil, nil
	}, time.Minute}, a, func(m *message) {
		var c struct {
			Data map[string]json.RawMessage
			Text string
		}
		_ = json.Unmarshal(m.content, &c)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, m.kind+string(c.Data[widgets.MIME])+c.Text)
	})
	figure := func(kind, id string, n int) *message {
		return a.compose(kind, nil, map[string]any{
			"data": map[string]any{widgets.MIME: fmt.Sprint(n)}, "transient": map[string]any{"display_id": id},
		})
	}
	began := time.Now()
	p.put(figure("display_data", "x", 0))
	for n := range 200 {
		p.put(figure("update_display_data", "x", n))
		p.put(figure("update_display_data", "y", n))
	}
	p.put(a.compose("stream", nil, streamContent{"stdout", "end"}))
	p.put(figure("update_display_data", "x", 1000))
	p.put(figure("update_display_data", "", 7)) // without an id it replaces nothing
	p.put(figure("update_display_data", "", 8))
	if d := time.Since(began); d > 500*time.Millisecond {
		t.Errorf("who puts in waits: %v", d)
	}
	p.end()
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not come to an end")
	}
	last := got[len(got)-5:]
	want := []string{"update_display_data199", "streamend", "update_display_data1000", "update_display_data7", "update_display_data8"}
	if fmt.Sprint(last) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", last, want)
	}
	if got[0] != "display_data0" || drawn > 100 {
		t.Errorf("first %s, %d drawn", got[0], drawn)
	}
}
