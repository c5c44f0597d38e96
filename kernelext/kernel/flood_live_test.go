package kernel

import (
	"fmt"
	"strings"
	"testing"
)

// Of a cell that displays more than it may, beginning and end arrive, and what is left out is said.
func TestCellShowsTooMuch(t *testing.T) {
	s := startKernel(t, home(t), floodEnv+"=1")
	r := s.run(`import "github.com/janpfeifer/gonb/gonbui"

%%
for i := range 2000 {
	gonbui.DisplayHTML(fmt.Sprintf("figure %d %s", i, strings.Repeat("x", 2000)))
}
gonbui.Sync()`).ok(t)
	left := 0
	if _, after, ok := strings.Cut(r.stderr, "cell.\nhalftone: "); ok {
		_, _ = fmt.Sscan(after, &left)
	}
	if n := len(r.displays); n < 300 || n > 600 || n+left != 2000 {
		t.Errorf("%d displays arrive, %d left out: %s", n, left, r.stderr)
	}
	if last := fmt.Sprint(r.displays[len(r.displays)-1]); !strings.Contains(last, "figure 1999 ") {
		t.Errorf("%.200s", last)
	}
	if r := s.run("%%\nfmt.Println(1)").ok(t); r.stdout != "1\n" || r.stderr != "" {
		t.Errorf("%q %q", r.stdout, r.stderr)
	}
}
