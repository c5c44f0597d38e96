package kernel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/halftone-ml/halftone/widgets"
)

// liveEvery is the shortest time between two states of a live figure that the front end gets.
const liveEvery = 250 * time.Millisecond

// liveFigures are the live figures (widgets.Live) of the running cell. They reach the front end at most four times a second, and
// when their cell ends before they do, as one does that is killed, they get a final state in its place: what the notebook
// keeps never says that something still runs. The pipeline's goroutine owns them.
type liveFigures struct {
	open  map[string]*liveFigure // by display id
	ended string                 // the request that was idle last
	count int                    // of figures so far
}

// A liveFigure is the last state of a display.
type liveFigure struct {
	number int // in the order they began
	parent string
	last   *message
	sent   time.Time // when a state was passed on
	held   bool      // the last one was not
}

func newLiveFigures() *liveFigures { return &liveFigures{open: map[string]*liveFigure{}} }

// take takes any message and returns what is to be shown now.
func (l *liveFigures) take(m *message, now time.Time, a author) []*message {
	id, running := liveUpdate(m)
	if id == "" {
		return []*message{m}
	}
	if !running {
		delete(l.open, id)
		return []*message{m}
	}
	parent := m.parentID()
	if parent == l.ended { // GoNB sent it late
		return []*message{finalState(m, a)}
	}
	f := l.open[id]
	if f == nil {
		l.count++
		f = &liveFigure{number: l.count}
		l.open[id] = f
	}
	f.parent, f.last = parent, m
	if f.held = m.kind == "update_display_data" && now.Sub(f.sent) < liveEvery; f.held {
		return nil
	}
	f.sent = now
	return []*message{m}
}

// held returns the states that were held back until now.
func (l *liveFigures) held(now time.Time) (list []*message) {
	for _, f := range l.inOrder("") {
		if f.held && now.Sub(f.sent) >= liveEvery {
			f.held, f.sent = false, now
			list = append(list, f.last)
		}
	}
	return list
}

// due fires when a state that is held back may be shown; nil when there is none.
func (l *liveFigures) due(now time.Time) <-chan time.Time {
	wait := time.Duration(-1)
	for _, f := range l.open {
		if left := max(liveEvery-now.Sub(f.sent), 0); f.held && (wait < 0 || left < wait) {
			wait = left
		}
	}
	if wait < 0 {
		return nil
	}
	return time.After(wait)
}

// finish returns the final states of the figures of a request that has ended, "" for all.
func (l *liveFigures) finish(parent string, a author) (list []*message) {
	for _, f := range l.inOrder(parent) {
		list = append(list, finalState(f.last, a))
	}
	for id, f := range l.open {
		if parent == "" || f.parent == parent {
			delete(l.open, id)
		}
	}
	l.ended = parent
	return list
}

// inOrder lists the open figures of a request, "" for all, in the order they began.
func (l *liveFigures) inOrder(parent string) (list []*liveFigure) {
	for _, f := range l.open {
		if parent == "" || f.parent == parent {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *liveFigure) int { return cmp.Compare(a.number, b.number) })
	return list
}

// finalState is the update that ends a live figure for which no update follows.
func finalState(m *message, a author) *message {
	c, ok := figureContent(m)
	if !ok {
		return m
	}
	fig, err := widgets.Parse(c.figure)
	if err != nil {
		return m
	}
	fig = fig.Stopped()
	raw, err := json.Marshal(fig)
	if err != nil {
		return m
	}
	c.data[widgets.MIME], c.data["text/plain"] = raw, mustJSON(fig.Text())
	for _, face := range []string{"text/html", "image/svg+xml", "image/png"} { // of the state before
		delete(c.data, face)
	}
	c.content["data"] = mustJSON(c.data)
	return a.compose("update_display_data", &message{header: m.parent}, c.content)
}

// liveUpdate returns the display id of a message that shows a live figure, "" for any other message, and whether the
// figure runs.
func liveUpdate(m *message) (id string, running bool) {
	if m.kind != "display_data" && m.kind != "update_display_data" || len(m.content) > 2*widgets.MaxParse ||
		!bytes.Contains(m.content, []byte(widgets.MIME)) {
		return "", false
	}
	c, ok := figureContent(m)
	if !ok {
		return "", false
	}
	var f struct {
		Schema, Kind string
		Data         struct{ State string }
	}
	var to struct {
		ID string `json:"display_id"`
	}
	if json.Unmarshal(c.figure, &f) != nil || json.Unmarshal(c.content["transient"], &to) != nil ||
		f.Schema != widgets.Schema || f.Kind != widgets.KindLive {
		return "", false
	}
	return to.ID, f.Data.State == widgets.LiveRunning
}

// isIdle tells the message after which nothing follows for a request.
func isIdle(m *message) bool {
	if m.kind != "status" {
		return false
	}
	var c struct {
		State string `json:"execution_state"`
	}
	return json.Unmarshal(m.content, &c) == nil && c.State == "idle"
}
