package kernel

import (
	"bytes"
	"encoding/json"
)

// gonbHeader is all that GoNB understands of a message header. It repeats these fields in the parent header of what it sends,
// forgets any other, and stops when one of them is not a string.
type gonbHeader struct {
	ID       string `json:"msg_id"`
	Username string `json:"username"`
	Session  string `json:"session"`
	Kind     string `json:"msg_type"`
	Version  string `json:"version"`
	Date     string `json:"date"`
}

// toChild sends a front end's message to GoNB, which wants headers that it can read.
func (k *kernel) toChild(to *socket, m *message) {
	to.send(forGoNB(m, k.key).frames())
}

// forGoNB returns m with headers that GoNB can read: m itself when it has them.
func forGoNB(m *message, key []byte) *message {
	header, plain := gonbReadable(m.header)
	parent, plainParent := gonbReadable(m.parent)
	if plain && plainParent {
		return m
	}
	c := *m
	c.header, c.parent = header, parent
	c.signature = c.sign(key)
	return &c
}

// gonbReadable returns a header that GoNB can read, and whether the given one is: so much so that GoNB repeats all of it.
func gonbReadable(header []byte) ([]byte, bool) {
	var h gonbHeader
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	if d.Decode(&h) == nil {
		return header, true
	}
	h = gonbHeader{}
	var fields map[string]any
	_ = json.Unmarshal(header, &fields)
	text := func(name string) string { s, _ := fields[name].(string); return s }
	h.ID, h.Username, h.Session = text("msg_id"), text("username"), text("session")
	h.Kind, h.Version, h.Date = text("msg_type"), text("version"), text("date")
	return mustJSON(h), false
}

// withParent returns a copy of m that answers the request as it was asked, signed anew.
func (m *message) withParent(header []byte, key []byte) *message {
	c := *m
	c.parent = header
	c.signature = c.sign(key)
	return &c
}

// isObject reports whether a frame is a JSON object, as every frame of a message is: on another GoNB would stop.
func isObject(frame []byte) bool {
	frame = bytes.TrimLeft(frame, " \t\r\n")
	return len(frame) > 0 && frame[0] == '{' && json.Valid(frame)
}
