package magic

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// textWidth is the width of a terminal that is not wide.
const textWidth = 100

// Text draws the answer for a terminal, without escape codes; it ends in a newline.
func (a Answer) Text() string {
	var b strings.Builder
	if a.Figure != nil {
		b.WriteString(a.Figure.Text() + "\n")
	} else {
		b.WriteString(a.Title)
		if a.Beside != "" {
			b.WriteString(" · " + a.Beside)
		}
		b.WriteString("\n")
	}
	for i, p := range a.Parts {
		switch {
		case p.Table != nil:
			b.WriteString("\n")
			p.Table.draw(&b)
		case p.Code != "":
			for line := range strings.Lines(p.Code) {
				b.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
			}
		default:
			if i > 0 && a.Parts[i-1].Table != nil {
				b.WriteString("\n")
			}
			for _, l := range wrap(plain(p.Text), textWidth-2) {
				b.WriteString("  " + l + "\n")
			}
		}
	}
	return b.String()
}

// plain leaves the marks of what is typed out.
func plain(s string) string { return strings.ReplaceAll(s, "`", "") }

// String is the field for a terminal.
func (f Field) String() string {
	var parts []string
	if m := statusMarks[f.Status]; m != "" {
		parts = append(parts, m)
	}
	if f.DType != amp.NoDType {
		parts = append(parts, widgets.Mark(f.DType)+" "+f.DType.String())
	}
	if f.To != amp.NoDType {
		parts = append(parts, "→ "+widgets.Mark(f.To)+" "+f.To.String())
	}
	if f.Text != "" {
		parts = append(parts, plain(f.Text))
	}
	return strings.Join(parts, " ")
}

var statusMarks = map[string]string{"ok": "✓", "warn": "!", "bad": "✗"}

// draw writes the table in columns; what is too wide for the last one goes on below it.
func (t *Table) draw(b *strings.Builder) {
	if t.Caption != "" {
		b.WriteString("  " + plain(t.Caption) + "\n")
	}
	widths := make([]int, len(t.Head))
	for i, h := range t.Head {
		widths[i] = utf8.RuneCountInString(h)
	}
	for _, r := range t.Rows {
		for i, f := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(f.String()))
		}
	}
	last, before := len(t.Head)-1, 4
	for _, w := range widths[:last] {
		before += w + 2
	}
	widths[last] = max(min(widths[last], textWidth-before), 24)
	if strings.Join(t.Head, "") != "" {
		t.line(b, widths, func(i int) string { return heading(t.Head[i]) })
	}
	for _, r := range t.Rows {
		t.line(b, widths, func(i int) string {
			if i < len(r) {
				return r[i].String()
			}
			return ""
		})
	}
}

func (t *Table) line(b *strings.Builder, widths []int, field func(i int) string) {
	last := len(widths) - 1
	line, indent := "  ", 2
	for i, w := range widths[:last] {
		pad := strings.Repeat(" ", max(w-utf8.RuneCountInString(field(i)), 0))
		if t.right(i) {
			line += pad + field(i) + "  "
		} else {
			line += field(i) + pad + "  "
		}
		indent += w + 2
	}
	for i, l := range wrap(field(last), widths[last]) {
		switch {
		case i > 0:
			line = strings.Repeat(" ", indent)
		case t.right(last):
			line += strings.Repeat(" ", max(widths[last]-utf8.RuneCountInString(l), 0))
		}
		b.WriteString(strings.TrimRight(line+l, " ") + "\n")
	}
}

// heading sets the head of a column apart from what stands below it, unless it is something to type.
func heading(s string) string {
	if strings.Contains(s, "%") {
		return s
	}
	return strings.ToUpper(s)
}

func (t *Table) right(column int) bool {
	for _, n := range t.Numbers {
		if n == column {
			return true
		}
	}
	return false
}

// wrap breaks s at spaces into lines of at most n characters; a longer word stays whole.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// number writes a scale or a count: grouped where it is whole, as a power of two where it is one that is large or small.
func number(v float64) string {
	if f, e := math.Frexp(v); f == 0.5 && (v > 1<<20 || v < 1) {
		return "2^" + strconv.Itoa(e-1)
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<50 {
		return widgets.Count(int64(v))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
