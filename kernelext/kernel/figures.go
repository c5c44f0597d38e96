package kernel

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/halftone-ml/halftone/widgets"
)

// drawTimeout bounds the drawing of one figure.
const drawTimeout = 20 * time.Second

// A drawer adds to a figure the faces that front ends show.
type drawer struct {
	draw    func(raw []byte) (map[string]any, error)
	timeout time.Duration
}

// fill returns m with its figure drawn, and what to tell the user where it could not be. Any other message is returned
// as it came.
func (d drawer) fill(m *message, key []byte) (*message, []string) {
	switch m.kind {
	case "display_data", "update_display_data", "execute_result":
	default:
		return m, nil
	}
	var content map[string]json.RawMessage
	var data map[string]json.RawMessage
	if json.Unmarshal(m.content, &content) != nil || json.Unmarshal(content["data"], &data) != nil {
		return m, nil
	}
	raw, ok := data[widgets.MIME]
	if !ok {
		return m, nil
	}
	// GoNB carries only strings safely, so a cell sends its JSON in one.
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	if !json.Valid(raw) {
		delete(data, widgets.MIME)
		return rebuild(m, key, content, data), []string{"halftone: a figure is not valid JSON and was left out; its text is kept\n"}
	}
	data[widgets.MIME] = raw
	var notes []string
	if d.draw != nil {
		faces, err := d.bounded(raw)
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
	return rebuild(m, key, content, data), notes
}

func rebuild(m *message, key []byte, content, data map[string]json.RawMessage) *message {
	content["data"] = mustJSON(data)
	return m.withContent(mustJSON(content), key)
}

// bounded draws, and gives up on a drawing that panics or takes too long: the cell's text is shown in any case.
func (d drawer) bounded(raw []byte) (map[string]any, error) {
	type result struct {
		faces map[string]any
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("panic: %v", p)}
			}
			done <- r
		}()
		r.faces, r.err = d.draw(raw)
	}()
	select {
	case r := <-done:
		return r.faces, r.err
	case <-time.After(d.timeout):
		return nil, fmt.Errorf("it took more than %v", d.timeout)
	}
}
