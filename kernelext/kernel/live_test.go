package kernel

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/widgets"
)

// loop is a cell with a live figure whose steps take about the given time.
const loop = `%%%%
fmt.Println("pid", os.Getpid())
root := amp.NewScope()
defer root.Close()
live := widgets.NewLive(%d)
for s := range live.Steps(root) {
	time.Sleep(%d * time.Millisecond)
	live.Step(amp.Full(s, amp.Float32, 1/float64(s.Step()+1)), nil)
}
fmt.Println("after the loop")
widgets.Show(widgets.Decisions(root.Trace()))`

// A state is one state of a live figure as the front end got it.
type state struct {
	kind, id, text string
	faces          int
	figure         *widgets.Figure
}

// states lists what arrived of live figures for a request.
func (c *client) states(m *message) (list []state) {
	for _, p := range c.published(m) {
		f, ok := figureContent(p)
		if !ok {
			continue
		}
		fig, err := widgets.Parse(f.figure)
		if err != nil {
			c.t.Errorf("%v: %.200s", err, p.content)
			continue
		}
		if fig.Live != nil {
			v := content(p)
			list = append(list, state{p.kind, v["transient"].(map[string]any)["display_id"].(string), v["data"].(map[string]any)["text/plain"].(string), len(f.data), fig})
		}
	}
	return list
}

// waitStep waits until a live figure has arrived that has made n steps.
func (c *client) waitStep(m *message, n int) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if all := c.states(m); len(all) > 0 && all[len(all)-1].figure.Live.Step >= n {
			return
		}
	}
	c.t.Fatal("the loop does not come to step ", n)
}

// check fails unless the states are one block, updated in place at most four times a second, with images at the end alone.
func check(t *testing.T, all []state, end string, took time.Duration) {
	t.Helper()
	if most := 4 + int(took/liveEvery); len(all) < 2 || len(all) > most {
		t.Fatalf("%d states in %v", len(all), took)
	}
	for i, s := range all {
		last := i == len(all)-1
		want := map[bool]int{false: 3, true: 5}[last] // text, HTML and JSON; SVG and PNG at the end
		if s.id != all[0].id || (s.kind == "display_data") != (i == 0) || s.faces != want || s.figure.Running() == last || s.text != s.figure.Text() {
			t.Errorf("state %d of %d: %s %s with %d faces, %s", i, len(all), s.kind, s.id, s.faces, s.figure.Live.State)
		}
	}
	if last := all[len(all)-1].figure.Live; last.State != end {
		t.Errorf("it ends as %s at step %d", last.State, last.Step)
	}
}

func TestLive(t *testing.T) {
	s := startKernel(t, home(t), drawEnv+"=real")
	ids := map[string]bool{}
	for range 2 { // run again, the cell shows its figure again: the display id is another
		began := time.Now()
		m := s.submit(fmt.Sprintf(loop, 100, 10))
		s.result(m).ok(t)
		all := s.states(m)
		check(t, all, widgets.LiveDone, time.Since(began))
		ids[all[0].id] = true
	}
	if len(ids) != 2 {
		t.Errorf("display ids %v", ids)
	}
}

func TestLiveEndsWithItsCell(t *testing.T) {
	for name, kill := range map[string]func(s *server, pid int){
		"program": func(s *server, pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) },
		"GoNB":    func(s *server, _ int) { _ = syscall.Kill(s.gonb(), syscall.SIGKILL) },
		"kernel": func(s *server, _ int) {
			s.idle(s.request(s.control, "shutdown_request", map[string]any{"restart": true})) // after which nothing comes
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := startKernel(t, home(t), drawEnv+"=real")
			began := time.Now()
			m := s.submit(fmt.Sprintf(loop, 1000, 10))
			s.waitOutput(m, "pid ")
			s.waitStep(m, 50)
			kill(s, s.printedPid(m))
			if name == "kernel" {
				s.waitExit()
			} else {
				s.result(m)
			}
			check(t, s.states(m), widgets.LiveStopped, time.Since(began))
			if last := s.states(m); last[len(last)-1].figure.Live.Step < 50 || !strings.Contains(last[len(last)-1].figure.Alt, "Stopped after") {
				t.Errorf("%+v", last[len(last)-1].figure)
			}
			// The final state comes before the cell is idle: what executes notebooks stops listening then.
			if list := s.published(m); name != "kernel" && !isIdle(list[len(list)-1]) {
				t.Errorf("idle is not last but %s", list[len(list)-1].kind)
			}
		})
	}
}

// printedPid is the process id that a cell has printed.
func (c *client) printedPid(m *message) (pid int) {
	for _, p := range c.published(m) {
		if p.kind == "stream" {
			_, _ = fmt.Sscanf(content(p)["text"].(string), "pid %d", &pid)
		}
	}
	if pid == 0 {
		c.t.Fatal("the cell has printed no process id")
	}
	return pid
}

// A thousand updates of a display of the user's own all arrive, in order.
func TestUpdatesAllArrive(t *testing.T) {
	s := startKernel(t, home(t), drawEnv+"=real")
	r := s.run(`import "github.com/janpfeifer/gonb/gonbui"

%%
id := gonbui.UniqueId()
for i := range 1000 {
	gonbui.UpdateHTML(id, fmt.Sprint(i))
}
gonbui.Sync()`).ok(t)
	if len(r.displays) != 1000 {
		t.Fatalf("%d of 1000 arrived", len(r.displays))
	}
	for i, d := range r.displays {
		if d["text/html"] != fmt.Sprint(i) {
			t.Fatalf("update %d is %v", i, d)
		}
	}
}

// leftOut adds up the lines that a cell's notes say are left out, and how many notes stand in what it printed itself: where a cell goes on for
// a second the newest lines are shown there.
func leftOut(r result) (lines, among int) {
	note := regexp.MustCompile(`(\d+) lines (?:of std\w+|that were on their way)[^\n]* left out`)
	for _, m := range note.FindAllStringSubmatch(r.stderr+r.stdout, -1) {
		n, _ := strconv.Atoi(m[1])
		lines += n
	}
	return lines, len(note.FindAllString(r.stdout, -1))
}

// Of fifty megabytes of output the beginning and the end arrive, every line is shown or counted, and what follows arrives whole.
func TestFiftyMegabytes(t *testing.T) {
	s := startKernel(t, home(t))
	r := s.run("%%\nfor i := range 50000 {\n\tfmt.Printf(\"%0999d\\n\", i)\n}").ok(t)
	left, notes := leftOut(r)
	shown := strings.Count(r.stdout, "\n") - notes
	if n := len(r.stdout); n < paceBurst/2 || n > floodText+2*floodLast || !strings.HasPrefix(r.stdout, strings.Repeat("0", 999)+"\n") || !strings.HasSuffix(r.stdout, "049999\n") {
		t.Errorf("%d bytes, %.20q to %q", n, r.stdout, r.stdout[max(0, n-20):])
	}
	if shown+left < 49998 || shown+left > 50003+3*notes { // a line may be cut in two at each end of a gap, which has a line of its own
		t.Errorf("%d lines shown, %d said to be left out: %s", shown, left, r.stderr)
	}
	if r := s.run("%%\nfmt.Println(1)").ok(t); r.stdout != "1\n" {
		t.Errorf("%q", r.stdout)
	}
}

// Of a cell that prints more than it may, beginning and end arrive, and what is left out is said.
func TestCellPrintsTooMuch(t *testing.T) {
	const limit = 1 << 20
	s := startKernel(t, home(t), floodEnv+"=1")
	r := s.run("%%\nfor i := range 100000 {\n\tfmt.Printf(\"%030d\\n\", i)\n}").ok(t)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	left, notes := leftOut(r)
	if n := len(r.stdout); n < limit/8 || n > limit+2*floodLast || lines[0] != strings.Repeat("0", 30) || !strings.HasSuffix(r.stdout, "099999\n") {
		t.Errorf("%d bytes of output, %q to %q", n, lines[0], lines[len(lines)-1])
	}
	if shown := len(lines) - notes + left; shown < 99999 || shown > 100003+3*notes { // a line may be cut in two at each end of a gap
		t.Errorf("%d lines shown, %d said to be left out: %s", len(lines), left, r.stderr)
	}
	if r := s.run("%%\nfmt.Println(1)").ok(t); r.stdout != "1\n" || r.stderr != "" {
		t.Errorf("%q %q", r.stdout, r.stderr)
	}
}

// A cell may show figures and use gonbui, too: its displays and ours take turns on one pipe.
func TestFiguresBesideGonbui(t *testing.T) {
	s := startKernel(t, home(t), drawEnv+"=real")
	r := s.run(`import "github.com/janpfeifer/gonb/gonbui"

%%
for i := range 5 {
	gonbui.DisplayHTML(fmt.Sprint("theirs ", i))
	widgets.Show(widgets.Compare(widgets.Run{Name: "a", Loss: []float64{1, 0.5}}))
}
live := widgets.NewLive(200)
for i := range 200 {
	gonbui.DisplayHTML(strings.Repeat("x", 3000))
	live.StepLoss(1/float64(i+1), nil)
	time.Sleep(time.Millisecond)
}
gonbui.Sync()`).ok(t)
	var words []string
	for _, d := range r.displays[:10] {
		word := "ours"
		if d[widgets.MIME] == nil {
			word = d["text/html"].(string)
		}
		words = append(words, word)
	}
	if got := strings.Join(words, ", "); got != "theirs 0, ours, theirs 1, ours, theirs 2, ours, theirs 3, ours, theirs 4, ours" {
		t.Error(got)
	}
	n, last := 0, ""
	for _, d := range r.displays[10:] {
		if f, ok := d[widgets.MIME].(map[string]any); ok {
			last = f["data"].(map[string]any)["state"].(string)
		} else {
			n++
		}
	}
	if n != 200 || last != widgets.LiveDone || r.stderr != "" {
		t.Errorf("%d displays, the figure is %s, %s", n, last, r.stderr)
	}
}
