package lsp

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// A Match is one way to complete a text.
type Match struct {
	Text   string // what takes the place of the bytes from Start to the cursor
	Kind   string // as JupyterLab names it: function, module, instance…
	Detail string // a signature or type
}

// A Position is a place in a text: line and UTF-16 unit in it, both from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// TextFile is the name that text has for gopls: one that no file of the package has.
const TextFile = "halftone_cell.go"

// watched are the files that change under gopls between questions.
var watched = []string{"main.go", "go.mod", "go.sum", "go.work", "other.go"}

// Complete returns what completes the text at a position, and from where on the line it stands in for what is there.
func (c *Client) Complete(ctx context.Context, text string, at Position) (matches []Match, start int, err error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	if err := c.show(text); err != nil {
		return nil, 0, err
	}
	var list struct {
		Items []struct {
			Label, Detail, InsertText string
			Kind                      int
			TextEdit                  *struct {
				NewText string
				Range   struct{ Start, End Position }
			}
		}
	}
	if err := c.call(ctx, "textDocument/completion", c.place(at), &list); err != nil {
		return nil, 0, err
	}
	start = -1
	for _, it := range list.Items {
		e := it.TextEdit
		if e == nil || e.Range.End != at || e.Range.Start.Line != at.Line {
			continue
		}
		if start >= 0 && e.Range.Start.Character != start {
			continue // all matches of an answer replace the same
		}
		start = e.Range.Start.Character
		matches = append(matches, Match{e.NewText, kinds[it.Kind], it.Detail})
	}
	if start < 0 {
		start = at.Character
	}
	return matches, start, nil
}

// Hover returns what is known about the name at a position, in Markdown, "" if nothing.
func (c *Client) Hover(ctx context.Context, text string, at Position) (string, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	if err := c.show(text); err != nil {
		return "", err
	}
	var hover *struct {
		Contents struct{ Value string }
	}
	if err := c.call(ctx, "textDocument/hover", c.place(at), &hover); err != nil || hover == nil {
		return "", err
	}
	return hover.Contents.Value, nil
}

func (c *Client) place(at Position) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": c.file()}, "position": at}
}

func (c *Client) file() string { return uri(filepath.Join(c.dir, TextFile)) }

// show tells gopls the text, and which files have changed.
func (c *Client) show(text string) error {
	var changes []any
	for _, name := range watched {
		path := filepath.Join(c.dir, name)
		var when time.Time
		if info, err := os.Stat(path); err == nil {
			when = info.ModTime()
		}
		before := c.seen[name]
		if when.Equal(before) {
			continue
		}
		kind := 2 // changed
		switch {
		case when.IsZero():
			kind = 3
		case before.IsZero():
			kind = 1
		}
		c.seen[name] = when
		changes = append(changes, map[string]any{"uri": uri(path), "type": kind})
	}
	if len(changes) > 0 {
		if err := c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": changes}); err != nil {
			return err
		}
	}
	c.version++
	if c.version == 1 {
		return c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
			"uri": c.file(), "languageId": "go", "version": c.version, "text": text,
		}})
	}
	return c.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": c.file(), "version": c.version},
		"contentChanges": []any{map[string]any{"text": text}},
	})
}

// kinds are JupyterLab's names for the protocol's CompletionItemKind.
var kinds = map[int]string{
	2: "function", 3: "function", 4: "function", 5: "property", 6: "instance", 7: "class", 8: "interface", 9: "module",
	13: "class", 14: "keyword", 21: "constant", 22: "class", 25: "class",
}
