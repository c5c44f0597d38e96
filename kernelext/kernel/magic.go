package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/magic"
	"github.com/halftone-ml/halftone/widgets"
)

// A magicCell is what became of a cell's %amp lines before GoNB sees the cell.
type magicCell struct {
	code    string // as the user wrote it
	out     string // as GoNB gets it
	answers []magic.Answer
	verdict *errorContent  // a line was wrong: the cell is not run
	page    map[string]any // help that the cell asked for
	exit    bool           // the cell asks a console to end
}

// refused is a cell that GoNB fails at once, and counts: it stands for one that is not to run. What is wrong with it is said in
// its place (see request.verdict).
const refused = "%exec"

// startMagics begins to answer the %amp lines of a cell. It returns false when the cell needs nothing of the kind, or has had it;
// else the cell comes again to forward when it is done. Looking at the installation takes seconds: the loop does not wait.
func (k *kernel) startMagics(m *message) bool {
	if m.kind != "execute_request" || m.magic != nil {
		return false
	}
	code := codeOf(m)
	if isHelp(code) {
		return k.startPager(m, code)
	}
	if exitCell.MatchString(code) {
		m.magic = &magicCell{code: code, exit: true}
		return false
	}
	cell, wrong := magic.Parse(code)
	mc := &magicCell{code: code, out: code}
	switch line, fault := unbalanced(code); {
	case noProgram.MatchString(code):
		mc.out, mc.verdict = refused, newError("MagicError", "line 1: %%script names no program; fix: write the one that is to run the cell, as in %%script python3")
	case wrong == nil && fault != "":
		mc.out, mc.verdict = refused, newError("CompileError", fmt.Sprintf("cell %d, line %d: %s", k.countOf(m), line, fault))
	case wrong != nil:
		mc.refuse(wrong)
	case len(cell.Lines) == 0 && cell.Block == nil:
		return false
	case len(cell.Lines) == 0:
		mc.out = cell.Rewrite(code, k.magics.Settings())
	default:
		k.runMagics(m, cell, mc)
		return true
	}
	m.magic = mc
	return false
}

// countOf is the execution count that a cell has, or will have.
func (k *kernel) countOf(m *message) int {
	if m.numbered {
		return m.count
	}
	return k.cells.next
}

// runMagics answers the lines one after the other on a goroutine of its own.
func (k *kernel) runMagics(m *message, cell *magic.Cell, mc *magicCell) {
	ctx, stop := context.WithCancel(k.life)
	r := &request{m: m, stop: stop}
	k.current = r
	k.announce(m)
	go func() {
		defer stop()
		for _, line := range cell.Lines {
			a, err := k.magics.Run(ctx, line)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				mc.refuse(err)
				break
			}
			mc.answers = append(mc.answers, a)
		}
		if mc.verdict == nil {
			mc.out = cell.Rewrite(mc.code, k.magics.Settings())
		}
		k.do(func() {
			if k.current != r { // GoNB died meanwhile: the cell is in the queue again
				return
			}
			m.magic = mc
			k.current, k.queue = nil, append([]*message{m}, k.queue...)
			k.pump()
		})
	}()
}

// refuse keeps the cell from running.
func (mc *magicCell) refuse(err error) {
	e := newError("MagicError", err.Error())
	var wrong *magic.Error
	switch {
	case errors.Is(err, context.Canceled):
		e = newError(interruptedName, interruptedWhy)
	case errors.As(err, &wrong) && wrong.Line > 0:
		e = newError("MagicError", fmt.Sprintf("line %d: %s", wrong.Line, wrong.Error()))
	}
	mc.out, mc.verdict = refused, e
}

// magicInput restores the code of a cell in GoNB's echo of it.
func (k *kernel) magicInput(parent string, m *message) *message {
	r := k.current
	if r == nil || r.m.id != parent || r.m.magic == nil || m.kind != "execute_input" {
		return m
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(m.content, &fields) != nil {
		return m
	}
	fields["code"] = mustJSON(r.m.magic.code)
	return m.withContent(mustJSON(fields), k.key)
}

// showMagics publishes the answers behind the echo of the cell, where its output begins.
func (k *kernel) showMagics(parent string, m *message) {
	r := k.current
	if m.kind != "execute_input" || r == nil || r.m.id != parent || r.m.magic == nil {
		return
	}
	if r.m.magic.exit {
		k.stream("stdout", exitText, r.m.header)
	}
	for _, a := range r.m.magic.answers {
		k.publish("display_data", r.m, map[string]any{"data": k.faces(a), "metadata": map[string]any{}, "transient": map[string]any{}})
	}
}

// faces is an answer as front ends show it; one that is a figure has all of that figure's.
func (k *kernel) faces(a magic.Answer) map[string]any {
	data := map[string]any{"text/plain": a.Text(), "text/html": a.HTML()}
	if a.Figure == nil {
		return data
	}
	raw, err := json.Marshal(a.Figure)
	if err != nil {
		return data
	}
	data[widgets.MIME] = json.RawMessage(raw)
	if k.draw.draw != nil {
		drawn, err := k.draw.bounded(raw)
		if err != nil {
			k.logf("an answer's figure could not be drawn: %v", err)
		}
		for kind, face := range drawn {
			if kind != "text/plain" && kind != widgets.MIME {
				data[kind] = face
			}
		}
	}
	return data
}

func codeOf(m *message) string {
	var c struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(m.content, &c)
	return c.Code
}

// magicAnswer completes or inspects what stands in one of our magics; nil where the cursor is elsewhere.
func (k *kernel) magicAnswer(m *message) map[string]any {
	if m.kind != "complete_request" && m.kind != "inspect_request" {
		return nil
	}
	var c struct {
		Code   string `json:"code"`
		Cursor *int   `json:"cursor_pos"`
	}
	if json.Unmarshal(m.content, &c) != nil {
		return nil
	}
	cursor := len([]rune(c.Code))
	if c.Cursor != nil {
		cursor = min(max(*c.Cursor, 0), cursor)
	}
	if m.kind == "inspect_request" {
		a, ok := k.magics.Inspect(c.Code, cursor)
		if !ok {
			return nil
		}
		data := map[string]string{"text/plain": a.Text(), "text/html": a.HTML()}
		return map[string]any{"status": "ok", "found": true, "data": data, "metadata": map[string]any{}}
	}
	found, ok := k.magics.Complete(c.Code, cursor)
	if !ok {
		return nil
	}
	matches, types := []string{}, []map[string]any{}
	for _, choice := range found.Choices {
		matches = append(matches, choice.Text)
		types = append(types, map[string]any{"text": choice.Text, "start": found.Start, "end": found.End, "type": "magic", "signature": choice.What})
	}
	return map[string]any{
		"status": "ok", "matches": matches, "cursor_start": found.Start, "cursor_end": found.End,
		"metadata": map[string]any{"_jupyter_types_experimental": types},
	}
}

// withoutMagics returns a request for completion or inspection as GoNB understands it, in a cell with magics, and by how many
// characters the cursor has moved.
func (k *kernel) withoutMagics(m *message) (*message, int) {
	var fields map[string]any
	if json.Unmarshal(m.content, &fields) != nil {
		return m, 0
	}
	code, _ := fields["code"].(string)
	pos, ok := fields["cursor_pos"].(float64)
	cell, wrong := magic.Parse(code)
	if !ok || wrong != nil || cell.Block == nil && len(cell.Lines) == 0 {
		return m, 0
	}
	out := cell.Rewrite(code, k.magics.Settings())
	to, ok := magic.Moved(code, out, int(pos))
	if !ok {
		return m, 0
	}
	fields["code"], fields["cursor_pos"] = out, to
	return m.withContent(mustJSON(fields), k.key), to - int(pos)
}

// isMagicCell tells whether a cell's first row makes the rest of it run: its body is Go.
func isMagicCell(row string) bool {
	return strings.HasPrefix(strings.TrimPrefix(row, "//gonb:"), magic.CellMagic)
}
