package share

import (
	"fmt"
	"regexp"
	"strconv"
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
	ws, gs := site.FindAllStringSubmatch(want, -1), site.FindAllStringSubmatch(got, -1)
	if len(ws) == 0 && len(gs) == 0 {
		return want, got, true
	}
	if len(ws) != len(gs) {
		return want, got, false
	}
	ours, theirs := make([]string, len(ws)), make([]string, len(ws))
	agree = true
	for i := range ws {
		ours[i], theirs[i] = l.pair(ws[i], gs[i])
		agree = agree && ours[i] == theirs[i]
	}
	return replace(want, ours), replace(got, theirs), agree
}

// pair names two places.
func (l locator) pair(want, got []string) (string, string) {
	if l.want == nil {
		return want[0], got[0]
	}
	a, b := cellOf(l.want, want[1], l.own), cellOf(l.got, got[1], l.own)
	if a == 0 || b == 0 {
		a, b = 0, 0
	}
	return named(a, want[2]), named(b, got[2])
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

// replace puts names where places stood, in their order.
func replace(text string, names []string) string {
	i := -1
	return site.ReplaceAllStringFunc(text, func(string) string { i++; return names[i] })
}
