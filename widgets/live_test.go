package widgets

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/stretch"
)

// liveChild is a cell's program with a live figure; the name says how it ends.
func liveChild(how string) {
	root := amp.NewScope()
	live := NewLive(300, "A loop")
	n := 0
	for s := range live.Steps(root) {
		time.Sleep(4 * time.Millisecond)
		live.Step(amp.Full(s, amp.Float32, 2/float64(n+1)), nil)
		if n++; how == "live break" && n == 150 {
			break
		}
	}
	live.Done() // once more does no harm
	fmt.Println(amp.Full(root, amp.Float32, 1).Item())
}

func TestLiveInNotebook(t *testing.T) {
	ids := map[string]bool{}
	for how, state := range map[string]string{"live": LiveDone, "live break": LiveStopped} {
		began := time.Now()
		out, errs, outputs := shown(t, how, true)
		took := time.Since(began)
		if out != "1\n" || errs != "" {
			t.Errorf("printed %q and %q", out, errs)
		}
		if most := 3 + int(took/liveEvery); len(outputs) < 3 || len(outputs) > most {
			t.Errorf("%s: %d updates in %v, want 3 to %d", how, len(outputs), took, most)
		}
		ids[outputs[0].DisplayID] = true
		for i, o := range outputs {
			f, err := Parse([]byte(o.Data[MIME].(string)))
			if err != nil || f.Kind != KindLive || o.DisplayID != outputs[0].DisplayID || o.Data["text/plain"] != f.Text() {
				t.Fatalf("update %d: %v %+v", i, err, o)
			}
			if last := i == len(outputs)-1; f.Running() == last {
				t.Errorf("%s: update %d of %d is %s", how, i, len(outputs), f.Live.State)
			}
		}
		last, _ := Parse([]byte(outputs[len(outputs)-1].Data[MIME].(string)))
		if d := last.Live; d.State != state || d.First != 2 || d.Device != "cpu" || d.Step != map[string]int{LiveDone: 300, LiveStopped: 150}[state] {
			t.Errorf("%s: it ends with %+v", how, d)
		}
		if v := last.Volatile; v.Rate <= 0 || v.Rate > 250 || v.PeakBytes < 4 || v.LeftNS != 0 {
			t.Errorf("%s: measured %+v", how, v)
		}
	}
	if len(ids) != 2 || ids[""] {
		t.Errorf("the display ids of two runs are %v", ids)
	}
}

func TestLiveIsStableWhenAsked(t *testing.T) {
	_, _, outputs := shown(t, "live", true, StableEnv+"=1")
	if f, err := Parse([]byte(outputs[len(outputs)-1].Data[MIME].(string))); err != nil || f.Volatile != nil {
		t.Errorf("%v, %+v", err, f.Volatile)
	}
}

func TestLiveOutsideNotebooks(t *testing.T) {
	began := time.Now()
	out, errs, _ := shown(t, "live", false)
	most := 2 + int(time.Since(began)/logEvery) // on a busy machine
	lines := strings.Split(strings.TrimSpace(errs), "\n")
	last := lines[len(lines)-1]
	if out != "1\n" || len(lines) < 2 || len(lines) > most || !strings.HasPrefix(last, "A loop: ████████████████ 300/300 · loss 0.0066667 ") || !strings.HasSuffix(last, " · done") {
		t.Errorf("printed %q and %q", out, errs)
	}
}

// TestLiveSaysHowItStands: every text face says that a scale has collapsed, and only a figure that runs says "so far".
func TestLiveSaysHowItStands(t *testing.T) {
	faces := func(f *Figure) string {
		s := f.Text() + "\n" + f.liveLine() + "\n" + f.Alt + "\n"
		for _, m := range f.LiveMetrics() {
			s += m.Value + " " + m.Label + "\n"
		}
		return s
	}
	for _, c := range []struct {
		name        string
		data        LiveData
		want, never []string
	}{
		{"no scaler", LiveData{State: LiveDone, Total: 9, Step: 9}, nil, []string{"scale", "skipped", "so far"}},
		{"a scale", LiveData{State: LiveDone, Total: 9, Step: 9, Scale: 1024}, []string{"loss scale   1,024", "scale 1,024"}, []string{"collapsed", "so far"}},
		{"collapsed", LiveData{State: LiveStopped, Total: 9, Step: 8, Skipped: 7}, []string{"loss scale   0, collapsed", "7 of 8 steps", "scale 0 · 7 skipped", "has collapsed to 0.", "0 loss scale: collapsed, 7 steps skipped"}, []string{"so far"}},
		{"running", LiveData{State: LiveRunning, Total: 9, Step: 8}, []string{"so far"}, []string{"scale"}},
	} {
		f := &Figure{Kind: KindLive, Title: "T", Live: &c.data, Volatile: &Volatile{WallNS: 2e9, LeftNS: 1e9}}
		c.data.describe(f)
		got := faces(f)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in %s", c.name, w, got)
			}
		}
		for _, w := range c.never {
			if strings.Contains(got, w) {
				t.Errorf("%s: %q in %s", c.name, w, got)
			}
		}
	}
}

func TestLiveCurve(t *testing.T) {
	var c liveCurve
	const steps = 1_000_000
	for i := range steps {
		c.add(i, float64(i))
	}
	points := c.points()
	if len(points) > maxLivePoints || len(points) < maxLivePoints/2-1 {
		t.Fatalf("%d points", len(points))
	}
	for i, p := range points {
		if i > 0 && p.Step <= points[i-1].Step || math.Abs(float64(p.Loss)-float64(p.Step)) > float64(p.Step)*1e-3+1 {
			t.Errorf("point %d is %+v", i, p)
		}
	}
	var s skipList
	for i := range 10_000 {
		s.add(i)
	}
	if n := len(s.at); n > maxLiveSkips || n < maxLiveSkips/2 || s.at[0] != 0 || s.at[n-1] < 9000 {
		t.Errorf("%d skips: %v", n, s.at)
	}
	// What is not finite is never averaged away.
	c.add(steps, math.NaN())
	c.add(steps+1, 1)
	if p := c.points(); p[len(p)-1].Loss.finite() {
		t.Errorf("%+v", p[len(p)-1])
	}
}

func TestDigits(t *testing.T) {
	for in, want := range map[float64]float64{0.123456: 0.1235, 123456: 123500, -2.00004: -2, 0: 0, 1e300: 1e300, math.Inf(1): math.Inf(1)} {
		if got := digits(in, 4); got != number(want) {
			t.Errorf("%g became %g", in, got)
		}
	}
}

func TestStopped(t *testing.T) {
	running := liveSample(2000, 412)
	f := running.Stopped()
	if f.Live.State != LiveStopped || !running.Running() || running.Volatile.LeftNS == 0 || f.Volatile.LeftNS != 0 {
		t.Errorf("%+v from %+v", f.Live, running.Live)
	}
	if !strings.Contains(f.Alt, "Stopped after 412 of 2,000 steps") || f.Stopped() != f {
		t.Error(f.Alt)
	}
	if d := liveSample(412, 411); d.Stopped().Live.State != LiveStopped {
		t.Error(d.Alt)
	}
	whole := liveSample(412, 412)
	whole.Live.State = LiveRunning
	if g := whole.Stopped(); g.Live.State != LiveDone {
		t.Error(g.Alt)
	}
	if other := Compare(threeRuns()...); other.Stopped() != other || (*Figure)(nil).Running() {
		t.Error("a figure that is not live was changed")
	}
}

func TestLiveStepsNeedTheirNumber(t *testing.T) {
	err := func() (err any) {
		defer func() { err = recover() }()
		l := newLive(0, "")
		l.Steps(nil)
		return nil
	}()
	if !strings.Contains(fmt.Sprint(err), "widgets.NewLive(steps)") {
		t.Error(err)
	}
}

// A device's reports are read when an update is due, and none is lost.
func TestLiveReadsWaitingReports(t *testing.T) {
	l := newLive(0, "")
	for i := range 10 {
		l.waiting = append(l.waiting, waitingReport{i, &amp.StepReport{ScaleStep: amp.ScaleStep{Applied: i%4 != 1, Next: 1024, Culprit: "w"}}})
		l.count("cuda:0", nil, nil)
	}
	l.catchUp()
	if d := l.Figure().Live; d.Skipped != 3 || fmt.Sprint(d.Skips) != "[1 5 9]" || d.Culprit != "w" || d.Scale != 1024 || d.Step != 10 || len(l.waiting) != 0 {
		t.Errorf("%+v", d)
	}
}

func BenchmarkLiveStep(b *testing.B) {
	root := amp.NewScope()
	loss := amp.Full(root, amp.Float32, 0.5)
	report := &amp.StepReport{ScaleStep: amp.ScaleStep{Applied: true, Next: 65536}}
	l := newLive(0, "")
	b.ReportAllocs()
	for b.Loop() {
		l.Step(loss, report)
	}
}

// A step is counted in far less than what training takes, without new memory.
func TestLiveStepIsCheap(t *testing.T) {
	r := testing.Benchmark(BenchmarkLiveStep)
	if r.AllocsPerOp() > 0 || stretch.Over(time.Duration(r.NsPerOp()), 5*time.Microsecond) {
		t.Errorf("a step costs %s %s", r, r.MemString())
	}
	t.Log(r)
}
