package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// errLost ends a test binary that has lost the device: the tests behind would fail for no reason of theirs.
var errLost = errors.New("a kernel or the device failed, and the process could use it no more")

// follow runs a command and sorts its output: figures, as they come, and the log. The command is the context's.
func (st *state) follow(ctx context.Context, cmd *exec.Cmd, end func(), s stage, attempt int, log io.Writer) error {
	figures, err := st.appendFigures()
	if err != nil {
		return err
	}
	defer figures.Close()
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout = in
	sorted, lost := make(chan struct{}), false
	go func() {
		defer close(sorted)
		defer out.Close()
		to := json.NewEncoder(figures)
		to.SetEscapeHTML(false)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadBytes('\n')
			fig := figureOf{Stage: s.name, Side: s.side, Attempt: attempt}
			switch {
			case (s.side == ours || s.side == peer) && json.Unmarshal(line, &fig.figure) == nil && fig.Name != "":
				_ = to.Encode(fig)
			case lost && len(line) > 0: // no verdict of a test counts any more
				_, _ = log.Write(append([]byte("| "), line...))
			default:
				_, _ = log.Write(line)
			}
			if s.side == tests && !lost && bytes.Contains(line, []byte(driver.ErrLost.Error())) {
				lost = true
				end()
			}
			if err != nil {
				return
			}
		}
	}()
	err = cmd.Start()
	in.Close()
	s.seat.who().Started()
	if err == nil {
		err = ended(ctx, cmd, mostEnding)
	}
	select {
	case <-sorted: // a grandchild that lives on may hold the pipe
	case <-time.After(5 * time.Second):
		_ = out.SetReadDeadline(time.Now())
		<-sorted
	}
	if lost {
		return errLost
	}
	return err
}

var errUnending = errors.New("killed, and it did not end")

// mostEnding is how long a killed process may take to end: one that hangs in the driver may never.
const mostEnding = 20 * time.Second

// ended waits for a command, and for one that was killed not for ever.
func ended(ctx context.Context, cmd *exec.Cmd, most time.Duration) error {
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	select {
	case err := <-end:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-end:
		return err
	case <-time.After(most):
		return errUnending
	}
}

// appendFigures opens the file of figures for more of them: behind what a call that was killed had written of a line.
func (st *state) appendFigures() (*os.File, error) {
	f, err := os.OpenFile(st.path("figures.jsonl"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	last := []byte{'\n'}
	if info, e := f.Stat(); e == nil && info.Size() > 0 {
		_, err = f.ReadAt(last, info.Size()-1)
	}
	if err == nil && last[0] != '\n' {
		_, err = f.WriteString("\n")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var (
	verdict = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+)`)
	summary = regexp.MustCompile(`(?m)^=+ .*SUMMARY: .*$`)
	found   = regexp.MustCompile(`(?m)^=+ (Invalid|Error|Warning|Uninitialized|Barrier|Program hit|Leaked|Malloc|Double|Fatal)`) // compute-sanitizer's first lines of what it found
)

// read notes what a stage's output says.
func (e *entry) read(said []byte) {
	sums := summary.FindAll(said, -1)
	for _, m := range sums {
		e.Why = append(e.Why, strings.Trim(string(m), "= "))
	}
	if e.Side == checker && len(sums) == 0 && e.Status != done {
		e.Why = append(e.Why, fmt.Sprintf("no summary; %d errors told until then", len(found.FindAll(said, -1))))
	}
	if e.Side != tests {
		if e.Status == failed {
			lines := strings.Split(strings.TrimSpace(string(said)), "\n")
			e.Why = append(e.Why, lines[max(0, len(lines)-3):]...)
		}
		return
	}
	seen := map[string]bool{} // a test that one of its parts ended has another verdict when the others have run
	for _, at := range verdict.FindAllSubmatchIndex(said, -1) {
		name := string(said[at[4]:at[5]])
		if seen[name] {
			continue
		}
		seen[name] = true
		switch string(said[at[2]:at[3]]) {
		case "PASS":
			e.Passed++
		case "FAIL":
			e.Failed++
			e.Why = append(e.Why, name+" failed")
		default:
			e.Skipped++
			e.Why = append(e.Why, name+skippedFor+reason(said[:at[0]], name))
		}
	}
}

const skippedFor = " skipped: "

// reason is the last line with a place in a file that a test has said, before any other began: the verdicts of its parts come with its own.
func reason(before []byte, name string) string {
	said := string(before)
	if at := strings.LastIndex(said, "=== RUN   "+name+"\n"); at >= 0 {
		_, said, _ = strings.Cut(said[at:], "\n")
		said, _, _ = strings.Cut(said, "\n=== ")
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		_, why, ok := strings.Cut(lines[i], ".go:")
		if _, text, found := strings.Cut(why, ": "); ok && found {
			return text
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

func (e *entry) String() string {
	text := fmt.Sprintf("%-40s %-9s %6.1f s", e.Stage, e.Status, e.Seconds)
	if e.Side == tests {
		text += fmt.Sprintf("  %d passed, %d failed, %d skipped", e.Passed, e.Failed, e.Skipped)
	}
	why := e.wrong()
	if e.Status != done && len(why) > 0 {
		text += "  " + strings.Join(why[:min(len(why), 5)], "; ")
	}
	return text
}

// wrong is what a stage has to say but for the tests that were skipped, which the page names.
func (e *entry) wrong() []string {
	return slices.DeleteFunc(slices.Clone(e.Why), func(w string) bool { return strings.Contains(w, skippedFor) })
}
