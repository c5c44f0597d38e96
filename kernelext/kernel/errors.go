package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// An explainer gives errors a text. GoNB shows what the compiler says only as HTML, and then reports that a command with a
// long temporary path failed: a notebook executed without a browser tells nobody what is wrong. Here the HTML gets its
// text beside it, and the error says what the compiler or the program's panic said.
type explainer struct {
	key []byte

	parent  []byte   // header of the request that the rest is about
	report  []string // what the tools said
	partial string   // of the last line on stderr
	panicky string   // the last line there that tells why the program ended
	frames  []string // the cells' lines on the way to it, the innermost first
	called  string   // the line before, which names a function
	traced  bool     // the trace of the goroutine that ended the program is over
}

// explain returns m, or what takes its place. Messages come in order, from one goroutine.
func (e *explainer) explain(m *message) *message {
	if !bytes.Equal(m.parent, e.parent) {
		*e = explainer{key: e.key, parent: m.parent}
	}
	switch m.kind {
	case "stream":
		e.listen(m)
	case "display_data":
		return e.describe(m)
	case "error":
		return e.name(m)
	}
	return m
}

// listen looks for a panic on stderr, where it comes in pieces of any size.
func (e *explainer) listen(m *message) {
	var c streamContent
	if !bytes.Contains(m.content, []byte(`"stderr"`)) || json.Unmarshal(m.content, &c) != nil || c.Name != "stderr" {
		return
	}
	lines := strings.Split(e.partial+c.Text, "\n")
	e.partial = lines[len(lines)-1]
	if len(e.partial) > 4<<10 {
		e.partial = e.partial[:4<<10]
	}
	for _, line := range lines[:len(lines)-1] {
		switch {
		case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
			e.panicky, e.frames, e.traced = line, nil, false
		case e.panicky != "" && !e.traced && strings.HasPrefix(line, "\tcell ") && len(e.frames) < maxFrames:
			place, _, _ := strings.Cut(strings.TrimSpace(line), " +0x")
			function := strings.TrimPrefix(e.called, "main.")
			if at := strings.LastIndexByte(function, '('); at > 0 {
				function = function[:at]
			}
			e.frames = append(e.frames, "  "+place+", in "+function)
		case line == "" && len(e.frames) > 0:
			e.traced = true // other goroutines follow
		}
		e.called = line
	}
}

// maxFrames is how many lines of cells an error names: a recursion has thousands.
const maxFrames = 8

const reportMark = `<div class="jp-RenderedText" data-mime-type="application/vnd.jupyter.stderr"`

// describe puts text beside GoNB's report of errors.
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
	e.report = lines
	data["text/plain"] = mustJSON(strings.Join(lines, "\n"))
	return rebuild(m, e.key, content, data)
}

var (
	reportTags = regexp.MustCompile(`</?span[^>]*>`)
	// In a report the place in GoNB's file follows the place in the cell, which is the one that tells the user something.
	cellPlace = regexp.MustCompile(`^\s*Cell\[(\d+)\]: Line (\d+) \S*main(?:_test)?\.go:\d+(?::\d+)?:?\s*`)
	filePlace = regexp.MustCompile(`\S*/gonb_[0-9a-f]+/(main(?:_test)?\.go)`)
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

// name says in an error what went wrong, where GoNB only says that something did.
func (e *explainer) name(m *message) *message {
	var c errorContent
	if json.Unmarshal(m.content, &c) != nil {
		return m
	}
	switch {
	case c.Value == "exit status 2" && e.panicky != "":
		c.Name, c.Value, _ = strings.Cut(e.panicky, ": ")
	case strings.HasSuffix(c.Value, "signal: interrupt"): // which the stream has said already
		c.Name, c.Value = "Interrupted", "the cell was stopped"
	case len(e.report) == 0:
		return m
	case strings.HasPrefix(c.Value, "failed to run ") && strings.Contains(c.Value, ` get"`):
		c.Name, c.Value = "ImportError", strings.Join(e.report, "\n")
	case strings.HasPrefix(c.Value, "failed to run "), strings.HasPrefix(c.Value, "parsing go files"):
		c.Name, c.Value = "CompileError", strings.Join(e.report, "\n")
	default:
		return m
	}
	// Front ends show the traceback, below the report that says it all; tools without one show the value.
	c.Traceback = []string{fmt.Sprintf("%s: %s", c.Name, firstLine(c.Value))}
	if c.Name == "panic" || c.Name == "fatal error" {
		c.Traceback = append(c.Traceback, e.frames...)
	}
	return m.withContent(mustJSON(c), e.key)
}

func firstLine(s string) string {
	first, rest, more := strings.Cut(s, "\n")
	if more {
		return fmt.Sprintf("%s (and %d more)", first, strings.Count(rest, "\n")+1)
	}
	return first
}
