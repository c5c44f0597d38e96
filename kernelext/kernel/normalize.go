package kernel

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// What GoNB cannot bear in a request is put right before it is sent there.

// emptyCommand is a line with a command's mark and blanks only, on which GoNB stops.
var emptyCommand = regexp.MustCompile(`(?m)^(?://gonb:)?[%!][ \t]+$`)

// noProgram is a cell for a program that it does not name, on which GoNB stops.
var noProgram = regexp.MustCompile(`\A%%script[ \t]*\r?(?:\n|\z)`)

type executeRequest struct {
	Code         string         `json:"code"`
	Silent       *bool          `json:"silent"`
	StoreHistory *bool          `json:"store_history"`
	StopOnError  *bool          `json:"stop_on_error"`
	AllowStdin   *bool          `json:"allow_stdin"`
	Expressions  map[string]any `json:"user_expressions"`
}

// normalize fills in what the protocol makes optional: GoNB panics where it is left out.
func (k *kernel) normalize(m *message) (*message, executeRequest) {
	var x executeRequest
	fields := map[string]any{}
	_ = json.Unmarshal(m.content, &fields)
	_ = json.Unmarshal(m.content, &x)
	changed := false
	set := func(name string, field **bool, value bool) {
		if _, ok := fields[name].(bool); !ok {
			fields[name], changed = value, true
		}
		v := fields[name].(bool)
		*field = &v
	}
	set("silent", &x.Silent, false)
	set("store_history", &x.StoreHistory, !*x.Silent)
	set("allow_stdin", &x.AllowStdin, false)
	if *x.Silent && *x.StoreHistory { // silent forces it off
		no := false
		fields["store_history"], x.StoreHistory, changed = false, &no, true
	}
	if _, ok := fields["code"].(string); !ok {
		fields["code"], x.Code, changed = "", "", true
	}
	if !changed {
		return m, x
	}
	return m.withContent(mustJSON(fields), k.key), x
}

// codeFault says what is wrong with the code of an execute_request, "" if it is text or left out, which is an empty cell: as one it would be
// run, and nobody be told.
func codeFault(m *message) string {
	if m.kind != "execute_request" {
		return ""
	}
	var c map[string]any
	if err := json.Unmarshal(m.content, &c); err != nil {
		return "the content of the execute_request cannot be read: " + err.Error()
	}
	if code, given := c["code"]; given {
		if _, ok := code.(string); !ok {
			return fmt.Sprintf("the execute_request has no text in its field code but %.40s; fix: send the cell's code as a string", mustJSON(code))
		}
	}
	return ""
}

// normalizeCursor does the same for an inspection, and sees to it that the cursor is one that GoNB can bear. It returns nil
// when there is nothing to ask.
func (k *kernel) normalizeCursor(m *message) *message {
	fields := map[string]any{}
	_ = json.Unmarshal(m.content, &fields)
	code, _ := fields["code"].(string)
	text := []rune(code)
	at := len(text)
	if pos, ok := fields["cursor_pos"].(float64); ok && pos >= 0 && pos < float64(at) {
		at = int(pos)
	}
	at, ok := inspectable(text, at)
	if !ok || emptyCommand.MatchString(code) {
		return nil
	}
	if _, ok := fields["detail_level"].(float64); !ok {
		fields["detail_level"] = 0
	}
	fields["code"], fields["cursor_pos"] = code, utf16Pos(text, at)
	return m.withContent(mustJSON(fields), k.key)
}
