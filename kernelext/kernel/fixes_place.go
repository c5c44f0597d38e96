package kernel

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// What stands in the wrong part of a cell, or in a cell that has not run, or does not fit any more.

var (
	importBelow = regexp.MustCompile(`^cell (\d+), line (\d+): .*found '?import\b`)
	funcBelow   = regexp.MustCompile(`^cell (\d+), line (\d+): expected '\(', found (\pL[\pL\pN_]*)`)
	declaration = regexp.MustCompile(`^(?:var|type|const|func)\s+(?:\(\s*\w+\s+\*?(\w+)[^)]*\)\s*)?(\w+)`)
)

// fixPlace says where what is misplaced in a cell goes, "" where nothing is.
func fixPlace(line, file string) string {
	if m := importBelow.FindStringSubmatch(line); m != nil && isBelow(m[1], m[2], file) {
		return "imports stand above the line that begins with %%: move this one there"
	}
	if m := funcBelow.FindStringSubmatch(line); m != nil && isBelow(m[1], m[2], file) {
		return fmt.Sprintf("functions with a name stand above the line that begins with %%%%; below it a variable holds one: %s := func() { … }", m[3])
	}
	return ""
}

func isBelow(cell, line, file string) bool {
	at, _ := strconv.Atoi(line)
	return above(cellCode(file, cell), at)
}

// fixNotRun says of a name that no body has declared which cell to run.
func fixNotRun(name, cell, file string) string {
	declares := regexp.MustCompile(`(?m)^(?:var|type|const|func)\s+(?:\([^)]*\)\s*)?` + regexp.QuoteMeta(name) + `\b`)
	cells := readCells(file)
	for i := len(cells) - 1; i >= 0; i-- {
		if c := cells[i]; strconv.Itoa(c.Count) != cell && declares.MatchString(c.Code) {
			return fmt.Sprintf("cell %d declares %s, but failed, or has been forgotten since: run it again", c.Count, name)
		}
	}
	return fmt.Sprintf("no cell that has run declares %s: run the one that does, or look at the spelling; after a restart of the kernel every cell has to run again", name)
}

// fixOlder says what to do about an error in a cell that has run before: what the newest cell declares anew, it does not fit.
func fixOlder(line, file string) string {
	m := located.FindStringSubmatch(line)
	cells := readCells(file)
	if m == nil || len(cells) == 0 || strings.Contains(line, "expected ") || // only a new cell can be no Go
		m[1] == strconv.Itoa(cells[len(cells)-1].Count) {
		return ""
	}
	at, _ := strconv.Atoi(m[2])
	lines := strings.Split(cellCode(file, m[1]), "\n")
	for i := min(at, len(lines)) - 1; i >= 0; i-- {
		if d := declaration.FindStringSubmatch(lines[i]); d != nil {
			name := d[2]
			if d[1] != "" {
				name = d[1] + "~" + name // as GoNB lists methods
			}
			return fmt.Sprintf("%s of cell %s is still declared, and does not fit what this cell declares anew: put a line %%rm %s above it, and run cell %s again once it fits", name, m[1], name, m[1])
		}
	}
	return ""
}
