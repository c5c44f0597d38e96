package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/halftone-ml/halftone/kernelext/kernel/lsp"
)

// An assistant answers completions and inspections by asking the gopls that GoNB has started. GoNB itself does so only twelve
// seconds after its start, never while a cell runs, and lets cells wait behind the question.
type assistant struct {
	mu     sync.Mutex
	client *lsp.Client
	number int // of the GoNB whose gopls it is
}

const (
	askTimeout = 8 * time.Second // a front end waits less
	helpTime   = time.Minute     // for a cell that asks, which can be interrupted
	goplsStart = 6 * time.Second // after that it is not installed, or has died
	warmAfter  = time.Second     // of idleness
)

// session returns a session with the gopls of GoNB number n, which was started at the given time and works in dir.
func (a *assistant) session(ctx context.Context, n int, started time.Time, dir string) (*lsp.Client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client != nil && a.number == n && a.client.Err() == nil {
		return a.client, nil
	}
	if a.client != nil {
		a.client.Close()
		a.client = nil
	}
	if n < a.number {
		return nil, errors.New("that GoNB is gone")
	}
	socket := filepath.Join(dir, "gopls_socket")
	for { // gopls takes a moment to start
		_, err := os.Stat(socket)
		if err == nil {
			break
		}
		if time.Since(started) > goplsStart {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	c, err := lsp.Dial(ctx, socket, dir)
	if err != nil {
		return nil, err
	}
	a.client, a.number = c, n
	return c, nil
}

func (a *assistant) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client != nil {
		a.client.Close()
	}
}

// A question is a completion or inspection, as gopls is asked.
type question struct {
	n       int // of the GoNB
	started time.Time
	dir     string
	text    string
	at      lsp.Position
	inspect bool
	limit   time.Duration // askTimeout, or helpTime

	code  []rune // the cell
	moved int    // characters by which the cursor stands elsewhere than in the front end
}

// question returns what to ask gopls for a request, false when it cannot know.
func (k *kernel) question(m *message) (question, bool) {
	if k.child == nil {
		return question{}, false
	}
	dirs := workDirs(k.child.tmp)
	if len(dirs) == 0 {
		return question{}, false
	}
	out, moved := k.withoutMagics(m)
	var c struct {
		Code   string `json:"code"`
		Cursor *int   `json:"cursor_pos"`
	}
	if json.Unmarshal(out.content, &c) != nil {
		return question{}, false
	}
	q := question{n: k.number, started: k.child.started, dir: dirs[0], inspect: m.kind == "inspect_request", limit: askTimeout, code: []rune(c.Code), moved: moved}
	at := len(q.code)
	if c.Cursor != nil && *c.Cursor >= 0 && *c.Cursor < at {
		at = *c.Cursor
	}
	if q.inspect {
		var ok bool
		if at, ok = inspectable(q.code, at); !ok {
			return q, false
		}
	}
	line := string(q.code[lineStart(q.code, at):at])
	if strings.HasPrefix(line, "%") || strings.HasPrefix(line, "!") {
		return q, false // a command to GoNB
	}
	var ok bool
	q.text, ok = overlayText(c.Code, knownImports(k.cells.cells))
	q.at = overlayPosition(q.code, at)
	return q, ok
}

func lineStart(text []rune, at int) int {
	for at > 0 && text[at-1] != '\n' {
		at--
	}
	return at
}

// ask returns the content of the reply, nil when nothing was found, and why gopls does not answer, where it does not.
func (a *assistant) ask(ctx context.Context, q question) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(ctx, q.limit)
	defer cancel()
	c, err := a.session(ctx, q.n, q.started, q.dir)
	if err != nil {
		return nil, err
	}
	if q.inspect {
		md, err := c.Hover(ctx, q.text, q.at)
		if err != nil || md == "" {
			return nil, silence(ctx, c)
		}
		data := map[string]any{"text/markdown": md, "text/plain": plain(md)}
		return map[string]any{"status": "ok", "found": true, "data": data, "metadata": map[string]any{}}, nil
	}
	found, start, err := c.Complete(ctx, q.text, q.at)
	if err != nil || len(found) == 0 {
		return nil, silence(ctx, c)
	}
	at := runeAt(q.code, q.at)
	from := runeAt(q.code, lsp.Position{Line: q.at.Line, Character: start}) - q.moved
	to := at - q.moved
	matches, types := []string{}, []map[string]any{}
	for _, f := range found {
		matches = append(matches, f.Text)
		types = append(types, map[string]any{"text": f.Text, "start": from, "end": to, "type": f.Kind, "signature": f.Detail})
	}
	return map[string]any{
		"status": "ok", "matches": matches, "cursor_start": from, "cursor_end": to,
		"metadata": map[string]any{"_jupyter_types_experimental": types},
	}, nil
}

// silence is why gopls gave no answer, nil where it gave one that says nothing.
func silence(ctx context.Context, c *lsp.Client) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.Err()
}

// runeAt is the inverse of overlayPosition.
func runeAt(text []rune, p lsp.Position) int {
	at := 0
	for line := 1; line < p.Line && at < len(text); at++ {
		if text[at] == '\n' {
			line++
		}
	}
	return at + runePos(text[at:], p.Character)
}

var markdownLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// plain is Markdown as gopls writes it, for who cannot show any.
func plain(md string) string {
	var out []string
	for line := range strings.Lines(md) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") || line == "---" {
			continue
		}
		out = append(out, markdownLink.ReplaceAllString(strings.ReplaceAll(line, `\`, ""), "$1"))
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// onQuestion takes a completion or inspection. It passes the queue: nobody waits for a cell with it, and no cell for it. Of
// GoNB only the help on its commands is asked: its own way to gopls takes seconds, or for ever, where there is nothing to find.
func (k *kernel) onQuestion(m *message) {
	if k.magicAnswer(m) != nil {
		k.answerNow(m, nil)
		return
	}
	q, ok := k.question(m)
	switch {
	case !ok && m.kind == "inspect_request":
		k.enqueue(m)
	case !ok:
		k.answerNow(m, nil)
	default:
		go func() {
			content, _ := k.assistant.ask(k.life, q)
			k.do(func() { k.answerNow(m, content) })
		}()
	}
}

// answerNow answers beside the queue, with the content given or, if that is nil, the kernel's own.
func (k *kernel) answerNow(m *message, content map[string]any) {
	if content == nil {
		k.answer(k.outlet(m), m)
	} else {
		k.status("busy", m)
		k.reply(k.outlet(m), m, content)
		k.status("idle", m)
	}
	k.busyAgain()
}

func (k *kernel) enqueue(m *message) {
	k.queue = append(k.queue, m)
	k.pump()
}

// warm lets gopls read Halftone's packages while nothing else happens: its first answer takes seconds, the next ones no time.
func (k *kernel) warm() {
	if k.warmed == k.number || k.state != ready || k.current != nil || len(k.queue) > 0 || time.Since(k.active) < warmAfter {
		return
	}
	k.warmed = k.number
	m := k.author.compose("complete_request", nil, map[string]any{"code": "%%\namp."})
	if q, ok := k.question(m); ok {
		go func() { _, _ = k.assistant.ask(k.life, q) }()
	}
}
