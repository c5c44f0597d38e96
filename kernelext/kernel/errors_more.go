package kernel

import (
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Of a cell that is no Go the parser's error names the first fault and only counts the others. They are found by parsing the cell again.

// moreFaults is how Go's scanner counts them, in one number only.
var moreFaults = regexp.MustCompile(` \(and (\d+) more errors\)`)

// maxMore is how many of them are shown: one fault often makes others.
const maxMore = 3

// unfold gives a line that counts further errors these as lines of their own.
func unfold(line, file string) []string {
	m := moreFaults.FindStringSubmatch(line)
	at := located.FindStringSubmatch(line)
	if m == nil {
		return []string{line}
	}
	n, _ := strconv.Atoi(m[1])
	first := strings.Replace(line, m[0], "", 1)
	list := []string{first}
	if at != nil {
		for _, fault := range faults(cellCode(file, at[1])) {
			fault = fmt.Sprintf("cell %s, %s", at[1], fault)
			if strings.HasSuffix(fault, "found 'EOF'") && !strings.HasSuffix(first, "found 'EOF'") {
				n-- // where the parser got to when it had lost the thread: no fault of the cell
				continue
			}
			if len(list) <= min(n, maxMore) && !slices.Contains(list, fault) {
				list = append(list, fault)
			}
		}
	}
	switch left := n + 1 - len(list); {
	case left == 1:
		list[len(list)-1] += " (and 1 more error)"
	case left > 1:
		list[len(list)-1] += fmt.Sprintf(" (and %d more errors)", left)
	}
	return list
}

// faults parses a cell and says what is wrong with it, line by line.
func faults(code string) (list []string) {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimPrefix(line, "//gonb:"), "%%amp") {
			lines[i] = "%%"
		}
	}
	text, ok := overlayText(strings.Join(lines, "\n"), nil)
	if !ok {
		return nil
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.AllErrors|parser.SkipObjectResolution)
	var all scanner.ErrorList
	if !errors.As(err, &all) {
		return nil
	}
	all.RemoveMultiples() // one of each line, as in the count
	for _, e := range all {
		list = append(list, fmt.Sprintf("line %d: %s", e.Pos.Line-1, e.Msg))
	}
	return list
}

// unfoldHTML puts into GoNB's report what unfold has found for its text.
func unfoldHTML(report string, lines []string) string {
	at := moreFaults.FindStringIndex(report)
	if at == nil {
		return report
	}
	rest := ""
	for _, l := range lines[1:] {
		rest += "<br>" + html.EscapeString(l)
	}
	return report[:at[0]] + rest + report[at[1]:]
}
