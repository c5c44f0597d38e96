package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/wire"
)

// An explainer gives errors a text. GoNB shows what the compiler says only as HTML, and then reports that a command with a
// long temporary path failed: a notebook executed without a browser tells nobody what is wrong. Here the HTML gets its
// text beside it, and the error says what the compiler or the program's panic said.
type explainer struct {
	key   []byte
	cells string // file
	root  string // of the module that cells import

	parent  []byte    // header of the request that the rest is about
	report  []string  // what the tools said
	open    bool      // the last piece on stderr ended within a line
	partial string    // of the last line on stderr
	panicky string    // the last line there that tells why the program ended
	trace   panicText // of that, while it is held
	frames  []string  // the cells' lines on the way to it, the innermost first
	called  string    // the line before, which names a function
	traced  bool      // the trace of the goroutine that ended the program is over
}

// explain returns what takes the place of m. Messages come in order, from one goroutine.
func (e *explainer) explain(m *message) []*message {
	var before []*message
	if !bytes.Equal(m.parent, e.parent) {
		before = e.trace.flush(e.key)
		*e = explainer{key: e.key, cells: e.cells, root: e.root, parent: m.parent}
	}
	switch m.kind {
	case "stream":
		return append(before, e.listen(m)...)
	case "display_data":
		if m = e.describe(m); m == nil {
			return before
		}
	case "error":
		return append(before, e.name(m)...)
	case "status":
		before = append(before, e.trace.flush(e.key)...)
	}
	return append(before, m)
}

// listen looks for a panic on stderr, where it comes in pieces of any size.
func (e *explainer) listen(m *message) []*message {
	var c streamContent
	if !bytes.Contains(m.content, []byte(`"stderr"`)) || json.Unmarshal(m.content, &c) != nil || c.Name != "stderr" {
		return []*message{m}
	}
	open := e.open
	e.open = c.Text != "" && !strings.HasSuffix(c.Text, "\n")
	lines := strings.Split(e.partial+c.Text, "\n")
	e.partial = lines[len(lines)-1]
	if len(e.partial) > 4<<10 {
		e.partial = e.partial[:4<<10]
	}
	for _, line := range lines[:len(lines)-1] {
		switch {
		case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
			e.panicky, e.frames, e.traced = line, nil, false
		case e.panicky != "" && !e.traced && strings.HasPrefix(line, "\tcell ") && len(e.frames) < maxCollected:
			e.frames = append(e.frames, frame(e.called, strings.TrimSpace(line)))
		case line == "" && len(e.frames) > 0:
			e.traced = true // other goroutines follow
		}
		e.called = line
	}
	return e.trace.take(m, c.Text, open, e.key)
}

const reportMark = `<div class="jp-RenderedText" data-mime-type="application/vnd.jupyter.stderr"`

// describe puts text beside GoNB's report of errors, and takes out of it what is about GoNB's own files. It returns nil for a report that
// only repeats the places of a panic, which the error names.
func (e *explainer) describe(m *message) *message {
	if !bytes.Contains(m.content, []byte("application/vnd.jupyter.stderr")) {
		return m
	}
	var content, data map[string]json.RawMessage
	var html string
	if json.Unmarshal(m.content, &content) != nil || json.Unmarshal(content["data"], &data) != nil || len(data) != 1 ||
		json.Unmarshal(data["text/html"], &html) != nil {
		return m
	}
	lines := reportLines(html)
	if len(lines) == 0 {
		return m
	}
	if e.panicky != "" && !slices.ContainsFunc(lines, func(l string) bool { return !panicPlace.MatchString(l) }) {
		return nil
	}
	// The compiler sorts by line and column: a variable that is not used yet, since its value does not compile, comes before the reason.
	unused := func(l string) bool { return unusedName.MatchString(l) }
	all := slices.Concat(filter(lines, func(l string) bool { return !unused(l) }), filter(lines, unused))
	lines = unfold(all[0], e.cells)
	html = unfoldHTML(cleanReport(html), lines)
	e.report = append(lines, all[1:]...)
	data["text/html"], data["text/plain"] = mustJSON(html), mustJSON(strings.Join(e.report, "\n"))
	return rebuild(m, e.key, content, data)
}

var (
	reportTags = regexp.MustCompile(`</?span[^>]*>`)
	// In a report the place in GoNB's file follows the place in the cell, which is the one that tells the user something.
	cellPlace = regexp.MustCompile(`^\s*Cell\[(\d+)\]: Line (\d+) \S*main(?:_test)?\.go:\d+(?::\d+)?:?\s*`)
	filePlace = regexp.MustCompile(`\S*/gonb_[0-9a-f]+/(main(?:_test)?\.go)`)
	// What is left of a line of a trace.
	panicPlace = regexp.MustCompile(`^cell \d+, line \d+:(?: \+0x[0-9a-f]+)?$`)
	// In the report's HTML: the place in GoNB's file behind the one in the cell, and lines that say nothing.
	htmlPlace = regexp.MustCompile(`(<span class="gonb-cell-line-info">Cell\[\d+\]: Line \d+</span> <span class="gonb-err-location">)\S*main(?:_test)?\.go:\d+(?::\d+)?:? ?(</span>)`)
	htmlNoise = regexp.MustCompile(`<div style="white-space: pre-wrap;"> (?:# gonb_[0-9a-f]+)?</div>\n*`)
)

// reportLines extracts the lines of GoNB's report: a division each, in which what may unfold follows the message.
func reportLines(html string) []string {
	_, html, ok := strings.Cut(html, reportMark)
	if !ok {
		return nil
	}
	var lines []string
	for _, part := range strings.Split(html, `<div style="white-space: pre-wrap;">`)[1:] {
		part, _, _ = strings.Cut(part, `<div class="gonb-err-context">`)
		part, _, _ = strings.Cut(part, "</div>\n")
		line := reportTags.ReplaceAllString(part, "") // the message itself is not escaped: it may hold a < that is no tag
		line = cellPlace.ReplaceAllString(line, "cell $1, line $2: ")
		line = strings.TrimSpace(filePlace.ReplaceAllString(line, "$1"))
		if strings.HasPrefix(line, "-----") {
			break // advice on go.work follows, which does not apply: the kernel has set it up
		}
		if !isNoise(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

func filter(list []string, keep func(string) bool) (kept []string) {
	for _, s := range list {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// cleanReport takes places in GoNB's file and empty lines out of its report, and gives the cell's place a color that can be read.
func cleanReport(html string) string {
	html = htmlNoise.ReplaceAllString(htmlPlace.ReplaceAllString(html, "$1$2"), "")
	return strings.Replace(html, "color: #999;", "color: var(--jp-ui-font-color1, inherit);", 1)
}

// isNoise tells lines that are about GoNB's way of building and not about the cell.
func isNoise(line string) bool {
	return line == "" || strings.HasPrefix(line, "# gonb_") || strings.HasPrefix(line, "failed to run ") ||
		strings.HasPrefix(line, "exit status ") || strings.HasPrefix(line, "go: gonb_") && strings.HasSuffix(line, " imports")
}

// An errorContent is what error messages and failed replies have in common.
type errorContent struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

// newError is an error without frames.
func newError(name, value string) *errorContent {
	return &errorContent{name, value, []string{name + ": " + value}}
}

// What a cell that was stopped ends with.
const interruptedName, interruptedWhy = "Interrupted", "the cell was stopped"

// name says in an error what went wrong, where GoNB only says that something did. What was held of a panic comes before it, unless the
// error says all of it.
func (e *explainer) name(m *message) []*message {
	var c errorContent
	if json.Unmarshal(m.content, &c) != nil {
		return append(e.trace.flush(e.key), m)
	}
	fix := ""
	if e.panicky == "" {
		e.trace.dropExit(c.Value)
	}
	switch {
	case c.Value == "exit status 2" && e.panicky != "":
		c.Name, c.Value, _ = strings.Cut(e.panicky, ": ")
		e.frames = shorten(e.frames)
		if e.trace.isFatal() && len(e.frames) > 0 {
			e.trace.drop()
		} else if e.trace.held != nil {
			if message, frames, ok := parsePanic(e.trace.text.String()); ok {
				c.Value, e.frames = message, frames
				e.trace.drop()
			}
		}
	case strings.HasSuffix(c.Value, "signal: interrupt"): // which the stream has said already
		c.Name, c.Value = interruptedName, interruptedWhy
	case strings.HasSuffix(c.Value, "exec format error") && wire.OtherSystem(os.Getenv) != "":
		fix = wire.OtherSystem(os.Getenv)
	case len(e.report) == 0:
		return append(e.trace.flush(e.key), m)
	case strings.HasPrefix(c.Value, "failed to run ") && strings.Contains(c.Value, ` get"`):
		c.Name, c.Value = "ImportError", strings.Join(e.report, "\n")
	case strings.HasPrefix(c.Value, "failed to run "), strings.HasPrefix(c.Value, "parsing go files"):
		c.Name, c.Value, fix = "CompileError", strings.Join(e.report, "\n"), fixFor(e.report, e.cells, e.root)
	default:
		return append(e.trace.flush(e.key), m)
	}
	// Front ends show the traceback, below the report; tools without one show the value.
	if c.Name == "panic" || c.Name == "fatal error" {
		said, fix, found := strings.Cut(c.Value, "; fix: ")
		if !found {
			if fix = fixRuntime(said); fix != "" {
				c.Value += "; fix: " + fix
			}
		}
		c.Traceback = []string{c.Name + ": " + said}
		if fix != "" {
			c.Traceback = append(c.Traceback, "  fix: "+fix)
		}
		c.Traceback = append(c.Traceback, e.frames...)
	} else {
		c.Traceback = []string{fmt.Sprintf("%s: %s", c.Name, firstLine(c.Value))}
		if fix != "" {
			c.Traceback = append(c.Traceback, "  fix: "+fix)
			if strings.Contains(c.Value, "\n") { // of several lines the fix is not the last's alone
				c.Value += "\nfix: " + fix
			} else {
				c.Value += "; fix: " + fix
			}
		}
	}
	return append(e.trace.flush(e.key), m.withContent(mustJSON(c), e.key))
}

func firstLine(s string) string {
	first, rest, more := strings.Cut(s, "\n")
	if more {
		return fmt.Sprintf("%s (and %d more)", first, strings.Count(rest, "\n")+1)
	}
	return first
}
