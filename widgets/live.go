package widgets

import (
	"iter"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets/internal/gonb"
)

// liveEvery is the time between two updates of a live figure: faster nobody reads, and notebook front ends draw every one.
const liveEvery = 250 * time.Millisecond

// A Live shows how a training loop goes while it runs, in one block that is updated in place: progress, the loss curve, the loss
// scale with what it skipped, speed, time left and memory. In a notebook it is an output of the cell, elsewhere one line on
// standard error.
//
//	live := widgets.NewLive(2000)
//	for s := range live.Steps(root) {
//		…
//		report := scaler.Step(opt)
//		scaler.Update()
//		live.Step(loss, report)
//	}
//
// A step costs the loop well under a microsecond on the CPU: it is only counted. Another goroutine sends what has changed, at most four times
// a second. The last state is what the notebook keeps, also when the cell is interrupted or killed.
//
// Step, StepLoss and Done are for one goroutine; several Lives may run side by side.
type Live struct {
	total int
	title string
	start time.Time
	send  func(*Figure)

	due     atomic.Bool     // what waits on a device is read by the next step
	waiting []waitingReport // of a device
	ticker  *time.Ticker
	quit    chan struct{}
	ended   chan struct{}
	once    sync.Once

	mu    sync.Mutex
	state LiveData // without Points and Skips
	curve liveCurve
	skips skipList
	speed speedometer
	stop  time.Time // of the last step of a loop that has ended
}

// NewLive begins a live figure for a loop of the given number of steps, 0 when that is not known, and shows it. The words of
// title stand above it; the default is "Training".
func NewLive(total int, title ...string) *Live {
	l := newLive(total, strings.Join(title, " "))
	if gonb.Connected() {
		l.send = notebookLine(gonb.UniqueID("live"))
	} else {
		l.send = terminalLine(os.Stderr)
	}
	l.due.Store(true)
	l.ticker = time.NewTicker(liveEvery)
	l.send(l.Figure())
	go l.update()
	return l
}

func newLive(total int, title string) *Live {
	l := &Live{total: max(total, 0), title: title, start: time.Now(), quit: make(chan struct{}), ended: make(chan struct{})}
	if title == "" {
		l.title = "Training"
	}
	none := Number(math.NaN())
	l.state = LiveData{State: LiveRunning, Total: l.total, Loss: none, First: none, Best: none, Diverged: -1}
	return l
}

// Steps is s.Steps(total) with Done at the end of the loop, however that is left: finished, interrupted, by break or by a panic.
// It panics when the number of steps is not known.
func (l *Live) Steps(s *amp.Scope) iter.Seq[*amp.Scope] {
	if l.total == 0 {
		panic("widgets: Live.Steps needs the number of steps: widgets.NewLive(steps)")
	}
	return func(yield func(*amp.Scope) bool) {
		defer l.Done()
		for step := range s.Steps(l.total) {
			if !yield(step) {
				return
			}
		}
	}
}

// Step counts one training step, with its loss, a tensor of one element, and what GradScaler.Step reported; each may be nil. Call it
// at the end of the step, while the loss is alive.
//
// On a GPU, reading a loss or a report waits for the device, so there Step reads them only when an update is due: the curve then
// has four losses for each second, and every skipped step is still counted.
func (l *Live) Step(loss *amp.Tensor, report *amp.StepReport) {
	l.take(loss, report)
	l.finish()
}

// take reads a step's loss and report, or leaves it for later.
func (l *Live) take(loss *amp.Tensor, report *amp.StepReport) {
	if loss == nil {
		l.count("", nil, report)
		return
	}
	device := loss.Device()
	if device == "cpu" {
		v := loss.Item()
		l.count(device, &v, report)
		return
	}
	if report != nil {
		l.waiting = append(l.waiting, waitingReport{l.state.Step, report})
	}
	if !l.due.Swap(false) && len(l.waiting) < maxWaiting && l.state.Step+1 != l.total {
		l.count(device, nil, nil)
		return
	}
	v := loss.Item()
	l.catchUp()
	l.count(device, &v, nil)
}

// maxWaiting bounds the reports of a device that are not read yet.
const maxWaiting = 4096

// A waitingReport is the report of a step that is not read yet.
type waitingReport struct {
	step   int
	report *amp.StepReport
}

// StepLoss counts one training step whose loss is a number already.
func (l *Live) StepLoss(loss float64, report *amp.StepReport) {
	l.count("", &loss, report)
	l.finish()
}

// Done ends the figure: what it shows then is what the notebook keeps. It may be called more than once.
func (l *Live) Done() {
	l.once.Do(func() {
		l.ticker.Stop()
		close(l.quit)
		<-l.ended
		l.catchUp()
		l.mu.Lock()
		l.stop = time.Now()
		l.state.State = LiveDone
		if l.state.Step < l.total {
			l.state.State = LiveStopped
		}
		l.mu.Unlock()
		l.send(l.Figure())
		if gonb.Connected() {
			report(gonb.Sync(syncPatience))
		}
	})
}

// count adds a step.
func (l *Live) count(device string, loss *float64, report *amp.StepReport) {
	l.mu.Lock()
	d := &l.state
	step := d.Step
	d.Step++
	if device != "" {
		d.Device = device
	}
	if loss != nil {
		l.lost(step, *loss)
	}
	if report != nil {
		l.scaled(step, report)
	}
	l.mu.Unlock()
}

// finish ends a figure all of whose steps are made.
func (l *Live) finish() {
	if l.state.Step == l.total {
		l.Done()
	}
}

// lost notes a loss.
func (l *Live) lost(step int, loss float64) {
	d := &l.state
	n := number(loss)
	d.Loss = n
	if l.curve.n == 0 {
		d.First = n
	}
	l.curve.add(step, loss)
	switch {
	case !n.finite():
		if d.Diverged < 0 {
			d.Diverged = step
		}
	case !(n >= d.Best):
		d.Best, d.BestAt = n, step
	}
}

// catchUp reads the reports that wait on a device.
func (l *Live) catchUp() {
	for i, w := range l.waiting {
		w.report.Applied() // waits for the device, and whoever draws must not wait with it
		l.mu.Lock()
		l.scaled(w.step, w.report)
		l.mu.Unlock()
		l.waiting[i] = waitingReport{}
	}
	l.waiting = l.waiting[:0]
}

// scaled notes what the scaler did.
func (l *Live) scaled(step int, r *amp.StepReport) {
	d := &l.state
	applied := r.Applied()
	d.Scale = number(r.Next)
	if !applied {
		d.Skipped++
		d.Culprit = r.Culprit()
		l.skips.add(step)
	}
}

// update sends what has changed until the figure ends.
func (l *Live) update() {
	defer close(l.ended)
	shown := -1
	for {
		select {
		case <-l.quit:
			return
		case <-l.ticker.C:
		}
		l.due.Store(true)
		l.mu.Lock()
		l.speed.note(time.Now(), l.state.Step)
		changed := l.state.Step != shown
		shown = l.state.Step
		l.mu.Unlock()
		if changed {
			l.send(l.Figure())
		}
	}
}

// Figure returns the present state as a figure, which may be kept and shown again.
func (l *Live) Figure() *Figure {
	l.mu.Lock()
	d := l.state
	d.Points = l.curve.points()
	d.Skips = append([]int(nil), l.skips.at...)
	if l.curve.width > 1 {
		d.MeanOver = l.curve.width
	}
	v := l.measured()
	l.mu.Unlock()
	d.Culprit = clip(d.Culprit, maxName)
	f := &Figure{Schema: Schema, Kind: KindLive, Title: l.title, Live: &d, Volatile: v}
	f.normalize()
	d.describe(f)
	return f
}

// measured are the measurements of the present moment.
func (l *Live) measured() *Volatile {
	v := &Volatile{}
	now := time.Now()
	done := l.state.State != LiveRunning
	if done {
		now = l.stop
	}
	wall := now.Sub(l.start)
	v.WallNS = int64(wall)
	rate := l.speed.rate()
	if done || rate == 0 {
		rate = float64(l.state.Step) / wall.Seconds()
	}
	v.Rate = number(rate)
	if left := l.total - l.state.Step; !done && left > 0 && rate > 0 {
		v.LeftNS = int64(min(float64(left)/rate, 1e9) * 1e9)
	}
	for name, m := range amp.MemStats() {
		if name == l.state.Device || l.state.Device == "" && m.Peak > v.PeakBytes {
			v.Bytes, v.PeakBytes = m.Bytes, m.Peak
		}
	}
	return v
}

// notebookLine sends figures to the notebook as updates of one output.
func notebookLine(id string) func(*Figure) {
	return func(f *Figure) {
		if os.Getenv(StableEnv) != "" {
			f = f.Stable()
		}
		report(gonb.Display(bundle(f), id))
	}
}
