package kernel

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/widgets"
)

// show is a cell that emits a figure the way widgets does.
const show = `import "github.com/janpfeifer/gonb/gonbui"
import "github.com/janpfeifer/gonb/gonbui/protocol"
func show(figure string) {
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		"text/plain": "a figure", "application/vnd.halftone.figure.v1+json": figure}})
	gonbui.Sync()
}`

func TestFigures(t *testing.T) {
	s := startKernel(t, home(t))
	s.run(show).ok(t)

	r := s.run("%%\nshow(`{\"n\": 1}`)").ok(t)
	if len(r.displays) != 1 {
		t.Fatalf("%v", r.displays)
	}
	d := r.displays[0]
	if d["text/plain"] != "a figure" || d["text/html"] != `<b>{"n": 1}</b>` || d["image/svg+xml"] != "<svg/>" || d["image/png"] != "aGk=" {
		t.Errorf("%v", d)
	}
	if v, ok := d[widgets.MIME].(map[string]any); !ok || v["n"] != 1.0 {
		t.Errorf("the figure's data is %T %v", d[widgets.MIME], d[widgets.MIME])
	}

	// What is drawn slowly keeps its place, and nothing else waits for it.
	began := filepath.Join(t.TempDir(), "began")
	m := s.submit("%%\nshow(`{\"sleep_ms\": 4000}`)\nos.WriteFile(\"" + began + "\", nil, 0o600)\nshow(`{\"n\": 2}`)")
	for at := time.Now(); time.Since(at) < patience; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(began); err == nil {
			break
		}
	}
	s.reply(s.request(s.control, "kernel_info_request", map[string]any{}))
	for _, p := range s.published(m) {
		if p.kind == "display_data" {
			t.Error("the control channel waited for a drawing")
		}
	}
	r = s.result(m).ok(t)
	if len(r.displays) != 2 || !strings.Contains(r.displays[0]["text/html"].(string), "sleep") {
		t.Errorf("%v", r.displays)
	}
}

func TestFiguresThatCannotBeDrawn(t *testing.T) {
	for how, want := range map[string]string{"error": "no ink", "panic": "no paper"} {
		t.Run(how, func(t *testing.T) {
			s := startKernel(t, home(t), drawEnv+"="+how)
			s.run(show).ok(t)
			r := s.run("%%\nshow(`{\"n\": 1}`)").ok(t)
			if len(r.displays) != 1 || r.displays[0]["text/plain"] != "a figure" || r.displays[0][widgets.MIME] == nil {
				t.Errorf("%v", r.displays)
			}
			if !strings.Contains(r.stderr, want) {
				t.Errorf("stderr %q", r.stderr)
			}
		})
	}
}

func TestDrawer(t *testing.T) {
	key := []byte("k")
	a := author{key, "s"}
	display := func(figure any) *message {
		return a.compose("display_data", nil, map[string]any{"data": map[string]any{"text/plain": "t", widgets.MIME: figure}, "metadata": map[string]any{"m": 1}})
	}
	ink := func([]byte) (map[string]any, error) {
		return map[string]any{"text/html": "h", "text/plain": "other", widgets.MIME: "other"}, nil
	}

	for name, figure := range map[string]any{"string": `{"big": 12345678901234567890}`, "object": json.RawMessage(`{"big": 12345678901234567890}`)} {
		m, notes := (&drawer{draw: ink, timeout: time.Minute}).fill(display(figure), key)
		if len(notes) > 0 {
			t.Errorf("%s: %v", name, notes)
		}
		if _, err := parse(m.frames(), key); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range []string{`"text/html":"h"`, `"text/plain":"t"`, "12345678901234567890", `"m":1`} {
			if !strings.Contains(string(m.content), want) {
				t.Errorf("%s: %s is not in %s", name, want, m.content)
			}
		}
	}

	m, notes := (&drawer{draw: ink, timeout: time.Minute}).fill(display("{"), key)
	if len(notes) != 1 || strings.Contains(string(m.content), widgets.MIME) || !strings.Contains(string(m.content), `"text/plain":"t"`) {
		t.Errorf("not JSON: %s %v", m.content, notes)
	}
	slow := func([]byte) (map[string]any, error) { time.Sleep(time.Minute); return nil, nil }
	if _, notes := (&drawer{draw: slow, timeout: 20 * time.Millisecond}).fill(display("{}"), key); len(notes) != 1 || !strings.Contains(notes[0], "20ms") {
		t.Errorf("slow: %v", notes)
	}
	fails := func([]byte) (map[string]any, error) { return map[string]any{"text/html": "partly"}, errors.New("half") }
	if m, notes := (&drawer{draw: fails, timeout: time.Minute}).fill(display("{}"), key); len(notes) != 1 || !strings.Contains(string(m.content), "partly") {
		t.Errorf("partly: %s %v", m.content, notes)
	}
	other := a.compose("display_data", nil, map[string]any{"data": map[string]any{"text/plain": "t"}})
	if m, _ := (&drawer{draw: ink, timeout: time.Minute}).fill(other, key); m != other {
		t.Error("a message without a figure was changed")
	}
}

// A figure that is no figure is refused before anything looks into it, and drawings that never end are not begun without end.
func TestDrawerBounds(t *testing.T) {
	a := author{[]byte("k"), "s"}
	var asked atomic.Int32
	d := &drawer{timeout: 20 * time.Millisecond, draw: func(raw []byte) (map[string]any, error) {
		asked.Add(1)
		return map[string]any{"text/html": "h"}, nil
	}}
	huge := `{"a":"` + strings.Repeat("x", widgets.MaxParse) + `"}`
	for _, data := range []map[string]any{{widgets.MIME: huge, "text/plain": "t"}, {widgets.MIME: huge}, {widgets.MIME: json.RawMessage(huge), "text/plain": "t"}} {
		m, notes := d.fill(a.compose("display_data", nil, map[string]any{"data": data}), a.key)
		if len(m.content) > 1000 || len(notes) != 1 || !strings.Contains(notes[0], "1.05 MB") || !strings.Contains(string(m.content), "text/plain") {
			t.Errorf("%.200s %q", m.content, notes)
		}
	}
	if asked.Load() > 0 {
		t.Error("what is too large was drawn")
	}

	end := make(chan bool)
	d.draw = func([]byte) (map[string]any, error) { asked.Add(1); <-end; return nil, nil }
	small := a.compose("display_data", nil, map[string]any{"data": map[string]any{widgets.MIME: "{}", "text/plain": "t"}})
	began := time.Now()
	for range 20 {
		if _, notes := d.fill(small, a.key); len(notes) != 1 {
			t.Errorf("%q", notes)
		}
	}
	took := time.Since(began)
	for deadline := time.Now().Add(time.Minute); asked.Load() < maxStuck && time.Now().Before(deadline); { // the second may not have begun yet
		time.Sleep(time.Millisecond)
	}
	if asked.Load() != maxStuck || stretch.Over(took, time.Second) {
		t.Errorf("%d drawings in %v", asked.Load(), took)
	}
	close(end)
	for deadline := time.Now().Add(time.Minute); d.stuck.Load() > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	d.timeout = time.Minute
	if _, notes := d.fill(small, a.key); len(notes) > 0 {
		t.Errorf("after they ended: %q", notes)
	}
}
