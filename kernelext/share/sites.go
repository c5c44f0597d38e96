package share

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Figures name a place in a program by the execution count of its cell and a line: "[4]:8". Counts hang on how often cells were run before,
// which is not what a comparison is about, so they are brought to the cells' numbers in the notebook.

// site finds such places in a text.
var site = regexp.MustCompile(`\[(\d+)\](?::(\d+))?`)

// executed lists the cells that have an execution count: several where the kernel was started again and only some were run.
type executed map[int][]int

func (nb *notebook) executed() executed {
	e := executed{}
	for _, c := range nb.cells {
		if c.count > 0 {
			e[c.count] = append(e[c.count], c.number)
		}
	}
	return e
}

// cell is the one that had a count when the figure of cell own was made; 0 where that cannot be told: it was run again since, or several have it.
func (e executed) cell(count, own int) int {
	cells := e[count]
	for _, c := range cells {
		if c == own {
			return own
		}
	}
	if len(cells) == 1 {
		return cells[0]
	}
	return 0
}

// A locator brings the places in two texts about the same cell to one form. Without counts of what is wanted it leaves them as they are.
type locator struct {
	own       int // the cell that shows the figure
	want, got executed
}

// places returns the texts with the places of both named by cells, where a cell is known on both sides, and by lines alone elsewhere; and
// whether the places agree. Texts that have not the same number of places are left as they are.
func (l locator) places(want, got string) (a, b string, agree bool) {
	ws, gs := sites(want), sites(got)
	if len(ws) == 0 && len(gs) == 0 {
		return want, got, true
	}
	if len(ws) != len(gs) {
		return want, got, false
	}
	ours, theirs := make([]string, len(ws)), make([]string, len(ws))
	agree = true
	for i := range ws {
		if !l.isPlace(ws[i], gs[i]) {
			ours[i], theirs[i] = ws[i].text, gs[i].text // a shape, or an index: numbers, which the tolerance is for
			continue
		}
		ours[i], theirs[i] = l.pair(ws[i], gs[i])
		agree = agree && ours[i] == theirs[i]
	}
	return replace(want, ws, ours), replace(got, gs, theirs), agree
}

// A mark is what looks like a place in a text.
type mark struct {
	at, end           int
	text, count, line string
}

// sites finds what looks like places. What stands directly behind a letter or a digit is part of a word, as the shape in "float32[64]".
func sites(text string) (found []mark) {
	for _, m := range site.FindAllStringSubmatchIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:m[0]])
		if m[0] > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
			continue
		}
		s := mark{at: m[0], end: m[1], text: text[m[0]:m[1]], count: text[m[2]:m[3]]}
		if m[4] >= 0 {
			s.line = text[m[4]:m[5]]
		}
		found = append(found, s)
	}
	return found
}

// isPlace tells a place, which has a line or the counts of cells that were executed, from other numbers in brackets. One without a line that
// is the same on both sides needs no name.
func (l locator) isPlace(want, got mark) bool {
	if want.line != "" || got.line != "" {
		return true
	}
	return want.text != got.text && l.want != nil && l.want.has(want.count) && l.got.has(got.count)
}

func (e executed) has(count string) bool {
	n, err := strconv.Atoi(count)
	return err == nil && len(e[n]) > 0
}

// pair names two places.
func (l locator) pair(want, got mark) (string, string) {
	if l.want == nil {
		return want.text, got.text
	}
	a, b := cellOf(l.want, want.count, l.own), cellOf(l.got, got.count, l.own)
	if a == 0 || b == 0 {
		a, b = 0, 0
	}
	return named(a, want.line), named(b, got.line)
}

func cellOf(e executed, count string, own int) int {
	n, err := strconv.Atoi(count)
	if err != nil {
		return 0
	}
	return e.cell(n, own)
}

func named(cell int, line string) string {
	s := "a cell"
	if cell > 0 {
		s = fmt.Sprintf("cell %d", cell)
	}
	if line != "" {
		s += " line " + line
	}
	return s
}

// replace puts names where places stood.
func replace(text string, places []mark, names []string) string {
	var b strings.Builder
	at := 0
	for i, p := range places {
		b.WriteString(text[at:p.at] + names[i])
		at = p.end
	}
	return b.String() + text[at:]
}
