package main

import (
	"regexp"
	"strings"
)

// A test that panics ends its binary, and those behind it would not run; one that loses the device leaves them none, and its binary is ended
// (errLost). So it is started again without those that it has come to, as long as there is time.

// mostCrashes is how often a test binary is started again at most, and mostSkipped the length of what Linux takes as one argument.
const (
	mostCrashes = 30
	mostSkipped = 100 << 10
)

var (
	startedTest = regexp.MustCompile(`(?m)^=== RUN +(\S+)$`)
	endOfTests  = regexp.MustCompile(`(?m)^(PASS|FAIL)$`)
)

// A crash is what the output of a test binary that ended early says.
type crash struct {
	running string   // the test that had begun last, if it has no verdict: it ended the others
	skip    []string // patterns of those that have had their turn
}

// crashed reads one; ok is false if the binary came to its end, or to no test at all.
func crashed(said []byte) (c crash, ok bool) {
	if endOfTests.Match(said) {
		return c, false
	}
	var names []string
	parent, verdicts := map[string]bool{}, map[string]string{}
	for _, m := range startedTest.FindAllSubmatch(said, -1) {
		names = append(names, string(m[1]))
		for at, r := range string(m[1]) {
			if r == '/' {
				parent[string(m[1][:at])] = true
			}
		}
	}
	for _, m := range verdict.FindAllSubmatch(said, -1) {
		verdicts[string(m[2])] = string(m[1])
	}
	if len(names) == 0 {
		return c, false
	}
	last := names[len(names)-1]
	if verdicts[last] == "" {
		c.running = last
	}
	// Where the process itself has ended, what was said last are tests without their verdicts: those run again.
	top, _, _ := strings.Cut(last, "/")
	for _, n := range names {
		of, _, _ := strings.Cut(n, "/")
		whole := of != top && verdicts[of] != "" // with all that is in it
		if n == of && whole || !whole && !parent[n] && (verdicts[n] != "" || n == last) {
			c.skip = append(c.skip, exactly(n))
		}
	}
	return c, true
}

// exactly is the pattern of -test.skip for a test.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
