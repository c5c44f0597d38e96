// Package notebook executes notebooks without a browser, through the installed kernel, with nbclient.
package notebook

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/halftone-ml/halftone/widgets"
)

//go:embed run.py
var runPy string

// A Runner executes notebooks with one interpreter.
type Runner struct {
	Python  string    // interpreter with nbclient and nbconvert
	Env     []string  // its environment
	Kernel  string    // name of the kernelspec
	Display string    // display name that written notebooks carry
	Draw    []string  // command that reads a figure's JSON and prints its faces as JSON, for Options.Stable
	Out     io.Writer // progress
	TTY     bool      // whether Out is a terminal
}

// Options say what becomes of an executed notebook.
type Options struct {
	Timeout time.Duration // per cell; 0 for none
	Output  string        // written when all cells ran; "" for nothing
	HTML    string        // page written also when a cell failed; "" for none
	Stable  bool          // keep the saved measurements of figures that have not changed otherwise
	Dir     string        // where cells run; "" for the notebook's folder
}

// A CellError is a notebook that did not run to its end.
type CellError struct {
	Notebook  string
	Cell, Of  int // code cells, from 1
	Kind      string
	Text      string
	Source    string
	Traceback string
	Stderr    string
}

func (e *CellError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", e.Notebook)
	if e.Cell > 0 {
		fmt.Fprintf(&b, "cell %d of %d: ", e.Cell, e.Of)
	}
	b.WriteString(plain(e.Text))
	if e.Source != "" {
		b.WriteString("\n" + indent(number(plain(e.Source))))
	}
	traceback := plain(e.Traceback)
	if traceback != "" {
		b.WriteString("\n" + indent(traceback))
	}
	if s := strings.TrimSpace(plain(e.Stderr)); s != "" && !strings.Contains(traceback, s) {
		b.WriteString("\n" + indent(s))
	}
	if e.Kind == "timeout" {
		b.WriteString("\nGive it more with --timeout, or make the cell do less.")
	}
	return b.String()
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}

// number puts line numbers before the lines of a cell, as its errors count them.
func number(source string) string {
	lines := strings.Split(strings.TrimRight(source, "\n"), "\n")
	for i, l := range lines {
		lines[i] = fmt.Sprintf("%3d  %s", i+1, l)
	}
	return strings.Join(lines, "\n")
}

type event struct {
	Event   string
	K, N    int
	Line    string
	Seconds float64
	Error   bool // the cell raised; the run goes on only if the cell is tagged raises-exception
	Path    string
	Failed  *struct{ Kind, Text, Source, Traceback, Stderr string }
}

// Run executes one notebook. The error is a *CellError when it was the notebook's.
func (r Runner) Run(ctx context.Context, path string, o Options) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := os.Stat(abs); err != nil {
		return fmt.Errorf("no such notebook: %w", err)
	}
	if err := forKernel(path, r.Kernel); err != nil {
		return err
	}
	if o.Dir == "" {
		o.Dir = filepath.Dir(abs)
	}
	if err := errors.Join(writable(o.Output), writable(o.HTML)); err != nil {
		return err
	}
	order, err := json.Marshal(map[string]any{
		"notebook": abs, "dir": o.Dir, "kernel": r.Kernel, "display": r.Display, "timeout": int(math.Ceil(o.Timeout.Seconds())), // 0 is no limit
		"output": o.Output, "html": o.HTML, "stable": o.Stable, "draw": r.Draw, "figure": widgets.MIME, "keep_failed": false,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "%s\n", path)
	cmd := exec.Command(r.Python, "-", string(order))
	cmd.Env = r.Env
	cmd.Stdin = strings.NewReader(runPy)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	stopped := stopWith(ctx, cmd)
	last, running := r.follow(stdout)
	err = cmd.Wait()
	close(stopped)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case last == nil:
		return fmt.Errorf("%s: the runner ended without a result (%v): %s", path, err, lastLines(stderr.String()))
	case last.Failed != nil:
		f := last.Failed
		if f.Kind == "write" { // not the last cell's fault
			return fmt.Errorf("%s: %s; make room, or write elsewhere with --output", path, plain(f.Text))
		}
		return &CellError{Notebook: path, Cell: running.K, Of: running.N, Kind: f.Kind, Text: f.Text, Source: f.Source,
			Traceback: f.Traceback, Stderr: f.Stderr}
	}
	fmt.Fprintf(r.Out, "  ran in %.1f s\n", time.Since(began).Seconds())
	return nil
}

// follow prints the progress and returns the last event, and the cell that was started last.
func (r Runner) follow(stdout io.Reader) (last *event, running event) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Event == "" {
			continue // a library's chatter
		}
		switch e.Event {
		case "start":
			running = e
			running.Line = plain(e.Line)
			if r.TTY {
				fmt.Fprintf(r.Out, "  %2d/%d  %-60s …", e.K, e.N, running.Line)
			}
		case "end":
			if r.TTY {
				fmt.Fprint(r.Out, "\r\x1b[K")
			}
			mark := ""
			if e.Error {
				mark = "  raised"
			}
			fmt.Fprintf(r.Out, "  %2d/%d  %-60s %6.1f s%s\n", e.K, e.N, running.Line, e.Seconds, mark)
			running.Event = "end"
		case "wrote":
			fmt.Fprintf(r.Out, "  wrote %s\n", e.Path)
		case "done":
			last = &e
		}
	}
	_, _ = io.Copy(io.Discard, stdout) // after a line beyond what is read: a runner that can't write would not end
	if running.Event == "start" && r.TTY {
		fmt.Fprintln(r.Out)
	}
	return last, running
}

// stopWith ends the command gently when ctx is done, so that nbclient shuts its kernel down, and hard if that takes long.
func stopWith(ctx context.Context, cmd *exec.Cmd) chan struct{} {
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}()
	return ended
}

func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-6):], "\n")
}
