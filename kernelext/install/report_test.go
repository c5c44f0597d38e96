package install

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLogHasOneLinePerPhase(t *testing.T) {
	var out strings.Builder
	r := NewReporter(&out)
	if err := r.Phase("first", func(p *Progress) (string, error) {
		p.Bar(1, 2)
		p.Status("halfway")
		return "v1", nil
	}); err != nil {
		t.Fatal(err)
	}
	bad := errors.New("no")
	if err := r.Phase("second", func(*Progress) (string, error) { return "", bad }); err != bad {
		t.Fatal(err)
	}
	r.Say("and a %s", "word")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "✓ first") || !strings.Contains(lines[0], "v1") || !strings.HasSuffix(lines[0], " s") ||
		!strings.HasPrefix(lines[1], "✗ second") || lines[2] != "and a word" {
		t.Errorf("%q", lines)
	}
}

// TestTerminalShowsWhatRuns has a clock of its own: on a busy machine 0.4 seconds are 0.5.
func TestTerminalShowsWhatRuns(t *testing.T) { synctest.Test(t, terminalShowsWhatRuns) }

func terminalShowsWhatRuns(t *testing.T) {
	var out strings.Builder
	r := &Reporter{w: &out, tty: true}
	r.Phase("warm-up", func(p *Progress) (string, error) {
		p.Bar(5, 10)
		p.Status("compiling net/http")
		time.Sleep(400 * time.Millisecond)
		return "done", nil
	})
	r.mu.Lock()
	text := out.String()
	r.mu.Unlock()
	if !strings.Contains(text, "warm-up [██████████░░░░░░░░░░] compiling net/http") {
		t.Errorf("no moving line: %q", text)
	}
	if !strings.HasSuffix(text, "\r\x1b[K✓ warm-up        done  0.4 s\n") {
		t.Errorf("the moving line is not cleared: %q", text)
	}
	for part := range strings.SplitSeq(text, "\r") {
		if n := len([]rune(strings.TrimPrefix(part, "\x1b[K"))); n > r.width()+2 {
			t.Errorf("a line of %d characters wraps", n)
		}
	}
}
