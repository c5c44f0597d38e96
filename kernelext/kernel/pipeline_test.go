package kernel

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/widgets"
)

// A pipe is a pipeline under test: what came out of it, in words.
type pipe struct {
	*pipeline
	t    *testing.T
	a    author
	cell *message
	mu   sync.Mutex
	got  []string
	at   []time.Time
}

// newPipe makes a pipeline whose drawings take a while.
func newPipe(t *testing.T, drawing time.Duration) *pipe {
	p := &pipe{t: t, a: author{[]byte("k"), "s"}}
	p.cell = p.a.compose("execute_request", nil, map[string]any{})
	draw := func(raw []byte) (map[string]any, error) {
		time.Sleep(drawing)
		return map[string]any{"text/html": "drawn"}, nil
	}
	send := func(m *message) {
		if _, err := parse(m.frames(), p.a.key); err != nil {
			t.Error(err)
		}
		var c struct {
			Data  map[string]json.RawMessage
			Text  string
			State string `json:"execution_state"`
		}
		_ = json.Unmarshal(m.content, &c)
		word := m.kind + c.Text + c.State + string(c.Data["application/x"])
		if fig, err := widgets.Parse(c.Data[widgets.MIME]); err == nil && fig.Live != nil {
			word += fmt.Sprint(fig.Live.Step, fig.Live.State)
			var text string
			if json.Unmarshal(c.Data["text/plain"], &text); text != fig.Text() || c.Data["text/html"] == nil {
				t.Errorf("the faces do not fit: %s", m.content)
			}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.got, p.at = append(p.got, strings.TrimPrefix(word, "update_display_data")), append(p.at, time.Now())
	}
	p.pipeline = newPipeline(&drawer{draw: draw, timeout: time.Minute}, p.a, "", "", send, send)
	return p
}

// live is a message of a live figure.
func (p *pipe) live(kind, id string, step int, state string) *message {
	f := &widgets.Figure{Schema: widgets.Schema, Kind: widgets.KindLive, Title: "t", Live: &widgets.LiveData{State: state, Step: step, Total: 1000, Diverged: -1}}
	raw, err := json.Marshal(f)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.a.compose(kind, p.cell, map[string]any{
		"data": map[string]any{widgets.MIME: string(raw), "text/plain": f.Text()}, "transient": map[string]any{"display_id": id},
	})
}

// display is a display of the user's own.
func (p *pipe) display(kind, id string, n int) *message {
	return p.a.compose(kind, p.cell, map[string]any{"data": map[string]any{"application/x": n}, "transient": map[string]any{"display_id": id}})
}

func (p *pipe) idle() *message {
	return p.a.compose("status", p.cell, map[string]any{"execution_state": "idle"})
}

// finish ends the pipeline and returns what came out.
func (p *pipe) finish() []string {
	p.t.Helper()
	p.end()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatal("it does not come to an end")
	}
	return p.got
}

// Only live figures leave updates out, and neither the first nor the last state.
func TestPipelineCoalescesLiveFiguresOnly(t *testing.T) {
	p := newPipe(t, 20*time.Millisecond)
	began := time.Now()
	p.put(p.live("display_data", "x", 0, widgets.LiveRunning))
	for n := range 300 {
		p.put(p.live("update_display_data", "x", n, widgets.LiveRunning))
		p.put(p.display("update_display_data", "y", n))
	}
	p.put(p.live("update_display_data", "x", 1000, widgets.LiveDone))
	p.put(p.a.compose("stream", p.cell, streamContent{"stdout", "end"}))
	if d := time.Since(began); stretch.Over(d, 2*time.Second) { // drawing all of them takes six
		t.Errorf("who puts in waits: %v", d)
	}
	var own []string
	var live []string
	words := p.finish()
	took := time.Since(began)
	for _, word := range words {
		if strings.HasSuffix(word, "running") || strings.HasSuffix(word, "done") {
			live = append(live, word)
		} else {
			own = append(own, word)
		}
	}
	if len(own) != 301 || own[300] != "streamend" {
		t.Errorf("%d messages: %v", len(own), own)
	}
	for n, word := range own[:300] {
		if word != fmt.Sprint(n) {
			t.Fatalf("update %d is %s", n, word)
		}
	}
	if most := 4 + int(took/liveEvery); len(live) > most || live[0] != "display_data0running" || live[len(live)-1] != "1000done" {
		t.Errorf("%v", live)
	}
}

// The reply to a cell comes behind its figures, however long they take to draw: who runs notebooks listens only for a while after it.
func TestReplyComesBehindFigures(t *testing.T) {
	p := newPipe(t, 200*time.Millisecond)
	p.put(p.live("display_data", "x", 0, widgets.LiveDone))
	p.put(p.live("display_data", "y", 1, widgets.LiveDone))
	p.put(p.a.compose("execute_reply", p.cell, map[string]any{"status": "ok"}))
	p.put(p.idle())
	if got := strings.Join(p.finish(), " "); got != "display_data0done display_data1done execute_reply statusidle" {
		t.Errorf("in this order: %s", got)
	}
}

// A front end gets at most four states a second, the newest among them.
func TestPipelineSlowsLiveFigures(t *testing.T) {
	p := newPipe(t, 0)
	came := func() ([]string, []time.Time) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.got, p.at
	}
	began := time.Now()
	p.put(p.live("display_data", "x", 0, widgets.LiveRunning))
	n := 0
	for got, _ := came(); time.Since(began) < patience && len(got) < 5; got, _ = came() {
		n++
		p.put(p.live("update_display_data", "x", n, widgets.LiveRunning))
		time.Sleep(5 * time.Millisecond)
	}
	n++
	p.put(p.live("update_display_data", "x", n, widgets.LiveRunning))
	want := fmt.Sprintf("%drunning", n) // is not forgotten when nothing follows
	got, at := came()
	for ; time.Since(began) < patience && got[len(got)-1] != want; got, at = came() {
		time.Sleep(5 * time.Millisecond)
	}
	if got[len(got)-1] != want {
		t.Errorf("%v, want %s at the end", got, want)
	}
	for i := range at {
		if d := at[i].Sub(began); d < time.Duration(i)*liveEvery {
			t.Errorf("%d states within %v", i+1, d)
		}
	}
	p.finish()
}

// However a cell ends, its live figures get a final state before it is idle.
func TestPipelineEndsLiveFigures(t *testing.T) {
	p := newPipe(t, 0)
	p.late = 0
	p.put(p.live("display_data", "x", 0, widgets.LiveRunning))
	p.put(p.live("display_data", "y", 0, widgets.LiveRunning))
	p.put(p.live("update_display_data", "y", 1000, widgets.LiveDone))
	p.put(p.live("update_display_data", "x", 7, widgets.LiveRunning)) // held back when the cell ends
	p.put(p.idle())
	p.put(p.live("update_display_data", "x", 8, widgets.LiveRunning)) // late
	p.cell = p.a.compose("execute_request", nil, map[string]any{})
	p.put(p.live("display_data", "z", 3, widgets.LiveRunning))
	// GoNB dies.
	want := "[display_data0running display_data0running 1000done 7stopped statusidle 8stopped display_data3running 3stopped]"
	if got := fmt.Sprint(p.finish()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The last state of a live figure comes before its cell is idle also where GoNB sends it after that.
func TestPipelineWaitsForLateStates(t *testing.T) {
	p := newPipe(t, 0)
	for _, state := range []string{widgets.LiveRunning, widgets.LiveDone} {
		p.cell = p.a.compose("execute_request", nil, map[string]any{})
		p.pipeline.mu.Lock() // all of this is there at once
		for _, m := range []*message{p.live("display_data", "x", 0, widgets.LiveRunning), p.idle(), p.live("update_display_data", "x", 8, state)} {
			p.queue = append(p.queue, item{m: m})
		}
		p.pipeline.mu.Unlock()
		p.nudge()
		p.put(p.a.compose("comm_msg", p.cell, map[string]any{}))
	}
	want := "display_data0running 8stopped statusidle comm_msg display_data0running 8done statusidle comm_msg"
	if got := strings.Join(p.finish(), " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestPipelineKeepsWhatIsNoLiveFigure(t *testing.T) {
	p := newPipe(t, 0)
	for _, figure := range []string{
		`{"schema":"halftone.figure/1","kind":"live"}`, `{"schema":"halftone.figure/9","kind":"live","data":{"state":"running"}}`,
		`{"schema":"halftone.figure/1","kind":"compare","data":{"state":"running"}}`, `[]`, `7`,
	} {
		for range 3 {
			p.put(p.a.compose("update_display_data", p.cell, map[string]any{
				"data": map[string]any{widgets.MIME: figure, "application/x": 1}, "transient": map[string]any{"display_id": "x"},
			}))
			p.put(p.idle())
		}
	}
	n := 0
	for _, word := range p.finish() {
		if word == "1" {
			n++
		}
	}
	if n < 15 {
		t.Errorf("%d of 15 arrived: %v", n, p.got)
	}
}
