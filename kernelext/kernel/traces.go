package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/internal/cellsource"
)

// A tracer says in which line of which cell a panic happened, where the program's own trace names a line of the file that GoNB
// has made. A trace comes in pieces of any size, since the runtime writes a number, a name and a space at a time: a line of it is
// held until it is whole. GoNB marks such lines, too, but only those that happen to come in one piece.
type tracer struct {
	key   []byte
	cells string // file

	held *message // what the unfinished line came with
	rest string   // the unfinished line

	parent  []byte // header of the request that the rest is about
	program []string
	list    []cell
}

// traceLine is a place in GoNB's file, with GoNB's mark in front of it or without.
var traceLine = regexp.MustCompile(`(?: ?\x1b\[7m\[\[ Cell (?:\[(\d+)\] )?Line (\d+) \]\]\x1b\[0m ?)?(/\S*/gonb_[0-9a-f]+)/(main(?:_test)?\.go):(\d+)`)

// maxHeld bounds what is held of a line that does not end.
const maxHeld = 4 << 10

// pass returns what takes the place of m: nothing yet, or m with its places named, after what was held.
func (t *tracer) pass(m *message) []*message {
	var c streamContent
	isText := m.kind == "stream" && bytes.Contains(m.content, []byte(`"stderr"`)) && json.Unmarshal(m.content, &c) == nil && c.Name == "stderr"
	if t.held != nil && (!isText || !bytes.Equal(m.parent, t.held.parent)) {
		before := t.flush()
		return append(before, t.pass(m)...)
	}
	if !isText {
		return []*message{m}
	}
	if !bytes.Equal(m.parent, t.parent) {
		t.parent, t.program, t.list = m.parent, nil, nil
	}
	text := t.rest + c.Text
	whole, rest := text, ""
	if at := strings.LastIndexByte(text, '\n') + 1; isTrace(text[at:]) {
		whole, rest = text[:at], text[at:]
	}
	held := t.held
	t.held, t.rest = nil, rest
	if rest != "" {
		t.held = m
	}
	named := t.name(whole)
	switch {
	case named == "":
		return nil
	case held == nil && named == c.Text:
		return []*message{m}
	}
	return []*message{m.withContent(mustJSON(streamContent{"stderr", named}), t.key)}
}

// flush returns what is held as it is.
func (t *tracer) flush() []*message {
	if t.held == nil {
		return nil
	}
	m := t.held.withContent(mustJSON(streamContent{"stderr", t.name(t.rest)}), t.key)
	t.held, t.rest = nil, ""
	return []*message{m}
}

// isTrace reports whether an unfinished line may become one that names a place.
func isTrace(line string) bool {
	return (line == "\t" || strings.HasPrefix(line, "\t/") || strings.HasPrefix(line, "\t \x1b") || strings.HasPrefix(line, "\t\x1b")) && len(line) < maxHeld
}

// name puts cell and line in the place of file and line.
func (t *tracer) name(text string) string {
	if !strings.Contains(text, "/gonb_") {
		return text
	}
	return traceLine.ReplaceAllStringFunc(text, func(found string) string {
		part := traceLine.FindStringSubmatch(found)
		line, _ := strconv.Atoi(part[5])
		t.load(filepath.Join(part[3], part[4]))
		count, at := cellsource.Find(t.program, line, t.list)
		if at == 0 && part[1] != "" { // what GoNB writes otherwise than the cell has it: the value of a variable outside main
			return fmt.Sprintf("cell %s, line %s", part[1], part[2])
		} else if at == 0 {
			return found
		}
		return fmt.Sprintf("cell %d, line %d", count, at)
	})
}

// load reads the program that runs, and the cells it may have come from, once for each cell.
func (t *tracer) load(file string) {
	if t.program != nil {
		return
	}
	b, _ := os.ReadFile(file)
	t.program = cellsource.Squeeze(string(b))
	t.list = readCells(t.cells)
}
