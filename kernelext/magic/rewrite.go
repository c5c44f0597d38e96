package magic

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// CellImport is the import that rewritten %%amp cells need: the kernel has GoNB know it under that name.
const (
	CellImport = "github.com/halftone-ml/halftone/kernelext/cell"
	CellAlias  = "halftonecell"
)

// Rewrite returns the code that GoNB is given for a cell: each row stays in its place, so that every line number in errors and
// traces is the cell's. Rows of %amp become empty; %%amp becomes the head of a main function whose end follows the last row.
func (c *Cell) Rewrite(code string, s Settings) string {
	if len(c.Lines) == 0 && c.Block == nil {
		return code
	}
	rows := strings.Split(code, "\n")
	for _, l := range c.Lines {
		for i := range l.Rows {
			rows[l.Index+i] = ""
		}
	}
	b := c.Block
	if b == nil {
		return strings.Join(rows, "\n")
	}
	for i := range b.Rows {
		rows[b.Index+i] = ""
	}
	if !b.runnable(strings.Split(code, "\n")) {
		rows[b.Index] = "%%"
		return strings.Join(rows, "\n")
	}
	rows[b.Index] = fmt.Sprintf("func main() { flag.Parse(); %s.Run(%s, func(s, half *amp.Scope) {", CellAlias, b.options(s))
	if body := strings.Join(rows[b.Index+1:], "\n"); session.MatchString(body) && !joined.MatchString(body) {
		rows[b.Index] += " session.Join(s);"
	}
	return strings.Join(rows, "\n") + "\n}) }"
}

// A body that uses the session finds its scope joined to it, unless it joins one itself.
var (
	session = regexp.MustCompile(`\bsession\.[A-Z]`)
	joined  = regexp.MustCompile(`\bsession\.(Join|NewScope)\(`)
)

// options is the literal that tells the cell's program what the %%amp line said.
func (b *Block) options(s Settings) string {
	trace := b.Trace
	if trace == "" {
		switch {
		case slices.Contains(b.Show, "exponents") && s.Trace != "health":
			trace = "health"
		case s.Trace == "": // else the scope takes what %amp trace set, and says so
			trace = "decisions"
		}
	}
	var parts []string
	add := func(name string, value any) { parts = append(parts, fmt.Sprintf("%s: %#v", name, value)) }
	add("DType", b.DType)
	if trace != "" {
		add("Trace", trace)
	}
	if b.Every > 0 {
		add("Every", b.Every)
	}
	if b.FP8 != "" {
		add("FP8", b.FP8)
	}
	if b.FP4 != "" {
		add("FP4", b.FP4)
	}
	if b.Show != nil {
		add("Show", b.Show)
	}
	return CellAlias + ".Options{" + strings.Join(parts, ", ") + "}"
}

// Moved returns where a position of the cell, counted in characters, is in what Rewrite made of it; false for one in a row that
// it changed.
func Moved(code, rewritten string, pos int) (to int, ok bool) {
	a, b := strings.Split(code, "\n"), strings.Split(rewritten, "\n")
	row := 0
	for _, line := range a {
		n := len([]rune(line))
		if pos <= n {
			return to + pos, row < len(b) && b[row] == line
		}
		if row < len(b) {
			to += len([]rune(b[row])) + 1
		}
		pos -= n + 1
		row++
	}
	return 0, false
}
