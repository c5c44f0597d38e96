package magic

import (
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/internal/spelling"
)

// The two magics.
const (
	LineMagic = "%amp"
	CellMagic = "%%amp"
)

// A Line is one %amp line of a cell. A backslash at its end continues it on the next.
type Line struct {
	Index int    // of its first row in the cell, from 0
	Rows  int    // of the cell that it takes
	Text  string // joined, without the //gonb: that may stand in front
	Words []Word // after %amp
}

// A Cell is what Parse found in one.
type Cell struct {
	Lines []Line // in order
	Block *Block // nil: the cell has no %%amp
}

// foreign are the cell magics of GoNB whose body is no Go: nothing in it is a command.
var foreign = []string{"%%writefile", "%%script", "%%bash", "%%sh", "%%gx"}

// neighbors are commands of GoNB that look like a mistyped %amp and are not.
var neighbors = []string{"%args", "%rm", "%cd", "%ls", "%env", "%main", "%test", "%exec"}

const commentPrefix = "//gonb:"

// has tells whether a cell may hold a magic of ours: most do not, and need no more than this.
func has(code string) bool { return strings.Contains(code, "%") }

// Parse finds the magics of a cell. The error names the line and the word that is wrong; what was found up to there is returned
// with it.
func Parse(code string) (*Cell, *Error) {
	c := &Cell{}
	if !has(code) {
		return c, nil
	}
	rows := strings.Split(code, "\n")
	if slices.Contains(foreign, head(rows[0])) {
		return c, nil
	}
	for i := 0; i < len(rows); i++ {
		switch word := head(rows[i]); {
		case word == LineMagic:
			l := join(rows, i)
			var err error
			if l.Words, err = split(l.Text, len(LineMagic)); err != nil {
				return c, &Error{Line: i + 1, Source: l.Text, Detail: err.Error()}
			}
			c.Lines = append(c.Lines, l)
			i += l.Rows - 1
		case word == CellMagic:
			l := join(rows, i)
			if err := c.block(rows, l); err != nil {
				err.Line, err.Source = i+1, l.Text
				return c, err
			}
			i += l.Rows - 1
		case word == "%" && spaced(rows[i]):
			return c, &Error{Line: i + 1, Source: trim(rows[i]), Word: word, Detail: "there is a space behind the %", Near: LineMagic}
		case mistyped(word):
			near := LineMagic
			if strings.HasPrefix(word, "%%") {
				near = CellMagic
			}
			return c, &Error{Line: i + 1, Source: trim(rows[i]), Word: word, Detail: word + " is not known", Near: near}
		}
	}
	if c.Block != nil {
		return c, c.Block.alone(rows)
	}
	return c, nil
}

// spaced tells "% amp …". Behind %% there may be words: they are arguments of the program.
func spaced(row string) bool {
	f := strings.Fields(trim(row))
	return len(f) > 1 && f[1] == strings.TrimLeft(LineMagic, "%")
}

// mistyped tells a word that was meant to be one of our magics.
func mistyped(word string) bool {
	name := strings.TrimLeft(word, "%")
	return strings.HasPrefix(word, "%") && name != "" && spelling.Distance(strings.ToLower(name), "amp") == 1 && !slices.Contains(neighbors, word) ||
		strings.HasPrefix(word, "%") && name == "AMP"
}

// trim removes the prefix that hides a command from Go's tools.
func trim(row string) string { return strings.TrimPrefix(row, commentPrefix) }

// head is the first word of a row that is a command, "" for any other row: a command begins in the first column.
func head(row string) string {
	row = trim(row)
	if !strings.HasPrefix(row, "%") {
		return ""
	}
	word, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimRight(row, "\r\\"), "\t", " "), " ")
	return word
}

// join puts a command together that goes on in the next rows.
func join(rows []string, i int) Line {
	l := Line{Index: i, Rows: 1, Text: strings.TrimRight(trim(rows[i]), "\r")}
	for strings.HasSuffix(l.Text, `\`) && i+l.Rows < len(rows) {
		l.Text = strings.TrimSuffix(l.Text, `\`) + " " + strings.TrimRight(trim(rows[i+l.Rows]), "\r")
		l.Rows++
	}
	l.Text = strings.TrimSuffix(l.Text, `\`)
	return l
}
