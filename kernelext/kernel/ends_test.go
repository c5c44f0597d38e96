package kernel

import (
	"fmt"
	"strings"
	"testing"
)

// However a program ends, the error says why and where, once, without the runtime's own frames.
func TestProgramEnds(t *testing.T) {
	s := startKernel(t, home(t))
	for _, c := range []struct{ code, stderr, traceback string }{
		{"func f(n int) int { return f(n+1) + 1 }\n%%\nfmt.Println(f(1))", "", "[fatal error: stack overflow   fix: the function calls itself without end   cell 1, line 1, in f, over and over   cell 1, line 3, in main]"},
		{"%%\nvar x [][]byte\nfor {\n\tx = append(x, make([]byte, 1<<46))\n}", "", "[fatal error: runtime: out of memory"},
		{"%%\nos.Exit(3)", "", "[exit status 3]"},
	} {
		r := s.run(c.code)
		if len(r.errors) != 1 || !strings.HasPrefix(fmt.Sprint(r.errors[0]["traceback"]), c.traceback) || r.stderr != c.stderr {
			t.Errorf("%s:\n%v\n%s", c.code, r.errors, r.stderr)
		}
	}
}
