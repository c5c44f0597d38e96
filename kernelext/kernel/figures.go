package kernel

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/halftone-ml/halftone/widgets"
)

const (
	drawTimeout = 30 * time.Second // bounds the drawing of one figure, on a very busy machine too
	maxStuck    = 2                // drawings that took longer and still go on
)

// A drawer adds to a figure the faces that front ends show.
type drawer struct {
	draw    func(raw []byte) (map[string]any, error)
	timeout time.Duration
	seen    seenFigures
	stuck   atomic.Int32 // drawings that were given up and still run: Go cannot stop them
}

// A shown is the content of a message that shows a figure.
type shown struct {
	content map[string]json.RawMessage
	data    map[string]json.RawMessage
	figure  json.RawMessage
}

// figureContent takes a message apart; false when it shows no figure.
func figureContent(m *message) (c shown, ok bool) {
	switch m.kind {
	case "display_data", "update_display_data", "execute_result":
	default:
		return c, false
	}
	if json.Unmarshal(m.content, &c.content) != nil || json.Unmarshal(c.content["data"], &c.data) != nil {
		return c, false
	}
	if c.figure, ok = c.data[widgets.MIME]; !ok {
		return c, false
	}
	// GoNB carries only strings safely, so a cell sends its JSON in one.
	var text string
	if json.Unmarshal(c.figure, &text) == nil {
		c.figure = json.RawMessage(text)
	}
	return c, true
}

// fill returns m with its figure drawn, and what to tell the user where it could not be. Any other message is returned
// as it came.
func (d *drawer) fill(m *message, key []byte) (*message, []string) {
	c, ok := figureContent(m)
	if !ok {
		return m, nil
	}
	data := c.data
	if fault := refuse(c.figure); fault != "" {
		delete(data, widgets.MIME)
		if len(data) == 0 {
			data["text/plain"] = mustJSON("A figure that " + fault + ".")
		}
		return rebuild(m, key, c.content, data), []string{"halftone: a figure " + fault + " and was left out; its text is kept\n"}
	}
	data[widgets.MIME] = c.figure
	d.seen.take(c.figure)
	var notes []string
	if d.draw != nil {
		faces, err := d.bounded(c.figure)
		if err != nil {
			notes = append(notes, fmt.Sprintf("halftone: a figure could not be drawn (%v); its text and data are kept\n", err))
		}
		for kind, face := range faces {
			if _, given := data[kind]; given && (kind == widgets.MIME || kind == "text/plain") {
				continue // what the cell said is kept
			}
			if b, err := json.Marshal(face); err == nil {
				data[kind] = b
			}
		}
	}
	return rebuild(m, key, c.content, data), notes
}

// refuse says why a figure's JSON is not even looked at, "" for one that is. What is too large would be stored in the
// notebook, too.
func refuse(raw []byte) string {
	switch {
	case len(raw) > widgets.MaxParse:
		return fmt.Sprintf("has %s of data, more than the %s that a figure may have,", widgets.Bytes(int64(len(raw))), widgets.Bytes(widgets.MaxParse))
	case !json.Valid(raw):
		return "is not valid JSON"
	}
	return ""
}

func rebuild(m *message, key []byte, content, data map[string]json.RawMessage) *message {
	content["data"] = mustJSON(data)
	return m.withContent(mustJSON(content), key)
}

// bounded draws, and gives up on a drawing that panics or takes too long: the cell's text is shown in any case.
func (d *drawer) bounded(raw []byte) (map[string]any, error) {
	if d.stuck.Load() >= maxStuck {
		return nil, fmt.Errorf("drawings before it took more than %v and still go on", d.timeout)
	}
	type result struct {
		faces map[string]any
		err   error
	}
	done := make(chan result, 1)
	var late atomic.Bool
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("panic: %v", p)}
			}
			done <- r
			if !late.CompareAndSwap(false, true) {
				d.stuck.Add(-1)
			}
		}()
		r.faces, r.err = d.draw(raw)
	}()
	select {
	case r := <-done:
		return r.faces, r.err
	case <-time.After(d.timeout):
		d.stuck.Add(1)
		if !late.CompareAndSwap(false, true) {
			d.stuck.Add(-1) // it ended at this moment
		}
		return nil, fmt.Errorf("it took more than %v", d.timeout)
	}
}
