package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/widgets"
)

// press interrupts the running cell as a front end does.
func (s *server) press() {
	s.t.Helper()
	if r := s.reply(s.request(s.control, "interrupt_request", map[string]any{})); r["status"] != "ok" {
		s.t.Errorf("%v", r)
	}
}

// endless is a plain training loop, with what is usual behind it.
const endless = `%%
root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
defer root.Close()
x := amp.Randn(root, amp.Float32, 0, 1, 20, 10)
net := nn.NewLinear(root, 10, 1)
opt, scaler := optim.NewSGD(net.Parameters(), optim.LR(0.01)), amp.NewGradScaler(amp.InitScale(1024))
live := widgets.NewLive(1_000_000_000)
defer fmt.Println("deferred")
for s := range live.Steps(root) {
	half := s.Autocast(amp.Float16)
	loss := amp.Mean(half, amp.Square(half, net.Forward(half, x)))
	opt.ZeroGrad()
	scaler.Scale(s, loss).Backward()
	report := scaler.Step(opt)
	scaler.Update()
	live.Step(loss, report)
	time.Sleep(time.Millisecond)
}
widgets.Show(widgets.Decisions(root.Trace()), widgets.ScaleHistory(scaler.History()))
fmt.Println("after the loop")
`

// An interrupted training loop stops within a second, and its figures are shown.
func TestInterruptedLoop(t *testing.T) {
	s := startKernel(t, home(t), drawEnv+"=real")
	stop := func(t *testing.T) {
		m := s.submit(endless)
		behind := s.submit("%%\nfmt.Println(\"behind\")")
		s.waitStep(m, 20)
		began := time.Now()
		s.press()
		r := s.result(m)
		if d := time.Since(began); stretch.Over(d, time.Second) {
			t.Errorf("it took %v", d)
		}
		r.ok(t)
		if r.stdout != "after the loop\ndeferred\n" || !strings.Contains(r.stderr, "Interrupt again") {
			t.Errorf("%q %q", r.stdout, r.stderr)
		}
		kinds := map[string]int{}
		for _, d := range r.displays {
			if f, ok := d[widgets.MIME].(map[string]any); ok && d["image/png"] != nil {
				kinds[f["kind"].(string)]++
			}
		}
		if fmt.Sprint(kinds) != "map[decisions:1 live:1 scale_history:1]" {
			t.Errorf("figures with their images: %v", kinds)
		}
		all := s.states(m)
		if last := all[len(all)-1].figure.Live; last.State != widgets.LiveStopped {
			t.Errorf("%+v", last)
		}
		if r := s.result(behind); r.reply["status"] != "aborted" || r.stdout != "" {
			t.Errorf("the cell behind: %v %q", r.reply, r.stdout)
		}
	}
	t.Run("first", stop)
	s.run("%reset").ok(t)
	t.Run("after %reset", stop)
	s.run("%%\nfmt.Println(1)").ok(t)
}

func TestSecondInterruptKills(t *testing.T) {
	s := startKernel(t, home(t))
	for name, body := range map[string]string{
		"after a loop": "root := amp.NewScope()\nfor s := range root.Steps(1_000_000) {\n\tif s.Step() == 0 {\n\t\tfmt.Println(\"go\")\n\t}\n\ttime.Sleep(time.Millisecond)\n}\nfmt.Println(\"after\")\ntime.Sleep(time.Minute)",
		"deaf":         "signal.Ignore(os.Interrupt)\nfmt.Println(\"go\")\nfmt.Println(\"after\")\ntime.Sleep(time.Minute)",
		"saving":       "c := make(chan os.Signal, 9)\nsignal.Notify(c, os.Interrupt)\nfmt.Println(\"go\")\n<-c\nfmt.Println(\"after\")\ntime.Sleep(time.Minute)",
	} {
		t.Run(name, func(t *testing.T) {
			m := s.submit("%%\n" + body)
			s.waitOutput(m, "go")
			// A double click is one interrupt, if the machine is not so busy that it comes apart.
			clicked := time.Now()
			first, second := s.request(s.control, "interrupt_request", map[string]any{}), s.request(s.control, "interrupt_request", map[string]any{})
			s.reply(first)
			s.reply(second)
			if d := time.Since(clicked); d >= doubleClick {
				t.Logf("the clicks may have come %v apart", d)
				time.Sleep(doubleClick)
				s.press()
				s.result(m)
				return
			}
			s.waitOutput(m, "after")
			time.Sleep(700 * time.Millisecond)
			if len(s.published(m)) > 0 && isIdle(s.published(m)[len(s.published(m))-1]) {
				t.Fatal("one interrupt has killed it")
			}
			began := time.Now()
			s.press()
			r := s.result(m)
			if d := time.Since(began); stretch.Over(d, 1500*time.Millisecond) || r.reply["status"] != "error" {
				t.Errorf("%v after %v", r.reply, d)
			}
		})
	}
	s.run("%%\nfmt.Println(1)").ok(t)
}

// A program that takes long to end is not killed, but its user is told how to.
func TestInterruptedProgramHasTime(t *testing.T) {
	s := startKernel(t, home(t))
	told := filepath.Join(t.TempDir(), "told") // until then the program saves
	m := s.submit(fmt.Sprintf("%%%%\nc := make(chan os.Signal, 9)\nsignal.Notify(c, os.Interrupt)\nfmt.Println(\"go\")\n<-c\n"+
		"for {\n\tif _, err := os.Stat(%q); err == nil {\n\t\tbreak\n\t}\n\ttime.Sleep(20*time.Millisecond)\n}\nfmt.Println(\"saved\", len(c))", told))
	s.waitOutput(m, "go")
	began := time.Now()
	s.press()
	s.waitOutput(m, "Interrupt again")
	if d := time.Since(began); d < stillRuns {
		t.Errorf("told after %v", d)
	}
	if err := os.WriteFile(told, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := s.result(m).ok(t); r.stdout != "go\nsaved 0\n" || strings.Count(r.stderr, "Interrupt again") != 1 {
		t.Errorf("%q %q", r.stdout, r.stderr)
	}
}
