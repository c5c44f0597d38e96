package kernel

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
)

// Of a cell that displays more than it may, beginning and end arrive, and what is left out is said.
func TestCellShowsTooMuch(t *testing.T) {
	s := startKernel(t, home(t))
	r := s.run(`import "github.com/janpfeifer/gonb/gonbui"

%%
for i := range 800 {
	gonbui.DisplayHTML(fmt.Sprintf("figure %d %s", i, strings.Repeat("x", 100_000)))
}
gonbui.Sync()`).ok(t)
	left := 0
	if _, after, ok := strings.Cut(r.stderr, "cell.\nhalftone: "); ok {
		_, _ = fmt.Sscan(after, &left)
	}
	if n := len(r.displays); n < 600 || n > 680 || n+left != 800 {
		t.Errorf("%d displays arrive, %d left out: %s", n, left, r.stderr)
	}
	if last := fmt.Sprint(r.displays[len(r.displays)-1]); !strings.Contains(last, "figure 799 ") {
		t.Errorf("%.200s", last)
	}
	if r := s.run("%%\nfmt.Println(1)").ok(t); r.stdout != "1\n" || r.stderr != "" {
		t.Errorf("%q %q", r.stdout, r.stderr)
	}
}

// A cell that prints for ever keeps its page small, is idle soon after it was stopped, and its newest lines are there.
func TestEndlessLoopIsStopped(t *testing.T) {
	s := startKernel(t, home(t))
	s.run("%%\nfmt.Println(1)").ok(t)
	m := s.submit("%%\nfor i := 0; ; i++ {\n\tfmt.Println(\"step\", i)\n}")
	s.wait("flood", func() bool {
		return slices.ContainsFunc(s.iopub, func(p *message) bool { return p.parentID() == m.id && p.kind == "stream" })
	})
	time.Sleep(4 * time.Second)
	began := time.Now()
	s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
	r := s.result(m)
	if d := time.Since(began); stretch.Over(d, 5*time.Second) {
		t.Errorf("idle %v after the interrupt", d)
	}
	if n := len(r.stdout); n > 8<<20 || len(r.messages) > 400 {
		t.Errorf("%d bytes in %d messages", n, len(r.messages))
	}
	if len(r.errors) != 1 || r.errors[0]["ename"] != interruptedName || !strings.Contains(r.stderr, "left out here") {
		t.Errorf("%v %q", r.errors, r.stderr)
	}
}

// The reply to a cell that floods waits for its output: what executes notebooks stops to listen a few seconds after the reply.
func TestReplyComesBehindFlood(t *testing.T) {
	s := startKernel(t, home(t))
	s.run("%%\nfmt.Println(1)").ok(t)
	m := s.submit("%%\nfor i := range 200_000 {\n\tfmt.Println(\"line\", i)\n}")
	s.reply(m)
	s.waitFor("the end of the output", 2*time.Second, func() bool {
		return slices.ContainsFunc(s.iopub, func(p *message) bool { return p.parentID() == m.id && isIdle(p) })
	})
}
