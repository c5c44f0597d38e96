package widgets

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// States of a live figure.
const (
	LiveRunning = "running" // more updates follow
	LiveDone    = "done"    // every step was made
	LiveStopped = "stopped" // the loop, the cell or its process ended before
)

const (
	maxLivePoints = 240 // of the loss curve: a column of pixels each
	maxLiveSkips  = 200
)

// LiveData says how far a training loop is: what a [Live] shows.
type LiveData struct {
	State    string      `json:"state"`             // one of the Live constants
	Sentence string      `json:"sentence"`          // where it stands, in words
	Total    int         `json:"total,omitempty"`   // steps asked for; 0: not known
	Step     int         `json:"step"`              // steps made
	Device   string      `json:"device,omitempty"`  // where the loss was computed, e.g. "cpu"
	Loss     Number      `json:"loss"`              // of the last step; NaN before the first
	First    Number      `json:"first"`             // of the first step
	Best     Number      `json:"best"`              // smallest finite one
	BestAt   int         `json:"best_at"`           // its step
	Diverged int         `json:"diverged"`          // first step whose loss is not finite; -1: none
	Scale    Number      `json:"scale,omitempty"`   // loss scale now; 0: no scaler
	Skipped  int         `json:"skipped,omitempty"` // optimizer steps that did not move the weights
	Culprit  string      `json:"culprit,omitempty"` // parameter that overflowed last
	Skips    []int       `json:"skips,omitempty"`   // steps that were skipped, thinned when many
	MeanOver int         `json:"mean_of,omitempty"` // steps whose mean one point is, when more than 1
	Points   []LossPoint `json:"points"`            // the loss curve
}

// A LossPoint is one point of a loss curve. Its JSON form is [step, loss].
type LossPoint struct {
	Step int
	Loss Number
}

// MarshalJSON writes [step, loss].
func (p LossPoint) MarshalJSON() ([]byte, error) {
	loss, err := p.Loss.MarshalJSON()
	return fmt.Appendf(nil, "[%d,%s]", p.Step, loss), err
}

// UnmarshalJSON reads [step, loss].
func (p *LossPoint) UnmarshalJSON(b []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	if len(raw) != 2 {
		return fmt.Errorf("widgets: a point of a loss curve has %d parts instead of 2", len(raw))
	}
	if err := json.Unmarshal(raw[0], &p.Step); err != nil {
		return err
	}
	return json.Unmarshal(raw[1], &p.Loss)
}

// Running says whether updates of a figure follow: it is a live one that has not ended.
func (f *Figure) Running() bool { return f != nil && f.Live != nil && f.Live.State == LiveRunning }

// Stopped returns the figure as it is to be kept when no update follows any more: a live one that runs has stopped, or is done
// when it had made all of its steps. Any other figure is returned as it is. The kernel does this when a cell ends, however it does.
func (f *Figure) Stopped() *Figure {
	if !f.Running() {
		return f
	}
	g, d := *f, *f.Live
	d.State = LiveStopped
	if d.Total > 0 && d.Step >= d.Total {
		d.State = LiveDone
	}
	g.Live = &d
	if f.Volatile != nil {
		v := *f.Volatile
		v.LeftNS = 0
		g.Volatile = &v
	}
	d.describe(&g)
	return &g
}

// Scaled says whether there is a loss scale. Nothing but skipped steps brings one to 0, and where there is no scaler none are.
func (d *LiveData) Scaled() bool { return d.Scale != 0 || d.Skipped > 0 }

// Collapsed says that skipped steps have brought the loss scale to 0: gradients are lost, and no step can repair that.
func (d *LiveData) Collapsed() bool { return d.Scaled() && d.Scale == 0 }

// describe sets the texts that follow from the data.
func (d *LiveData) describe(f *Figure) {
	d.Sentence = d.say()
	f.Alt = clip(f.Title+": "+d.Sentence, maxAlt)
}

// say is where the loop stands, in words.
func (d *LiveData) say() string {
	var b strings.Builder
	of := plural(d.Step, "step")
	if d.Total > 0 {
		of = Count(d.Step) + " of " + plural(d.Total, "step")
	}
	switch d.State {
	case LiveDone:
		b.WriteString("Done after " + plural(d.Step, "step"))
	case LiveStopped:
		b.WriteString("Stopped after " + of)
	default:
		b.WriteString(of + " made")
		if d.Total > 0 {
			b.WriteString(" (" + percent(d.Step, d.Total) + ")")
		}
	}
	switch {
	case d.Diverged >= 0:
		fmt.Fprintf(&b, "; the loss is not finite since step %s", Count(d.Diverged))
	case d.Loss.finite() && d.Step > 1:
		fmt.Fprintf(&b, "; loss %s, from %s", LossText(d.Loss), LossText(d.First))
	case d.Loss.finite():
		fmt.Fprintf(&b, "; loss %s", LossText(d.Loss))
	}
	if d.Skipped > 0 {
		fmt.Fprintf(&b, "; %s skipped (%s)", plural(d.Skipped, "step"), percent(d.Skipped, d.Step))
		if d.Culprit != "" {
			b.WriteString(", last for " + d.Culprit)
		}
	}
	if d.Collapsed() {
		b.WriteString("; the loss scale has collapsed to 0")
	}
	return b.String() + "."
}

// Logarithmic says whether the losses are shown on a logarithmic axis: all positive and over a factor of ten apart.
func (d *LiveData) Logarithmic() bool {
	lo, hi := d.Range()
	return lo > 0 && hi > 10*lo
}

// Range is the smallest and the largest finite loss of the curve, 0 and 1 when there is none.
func (d *LiveData) Range() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, p := range d.Points {
		if p.Loss.finite() {
			lo, hi = min(lo, float64(p.Loss)), max(hi, float64(p.Loss))
		}
	}
	if lo > hi {
		return 0, 1
	}
	return lo, hi
}

// Level is where a loss lies between the smallest (0) and the largest (1) of the curve, on its axis; false when it is not finite.
func (d *LiveData) Level(n Number) (float64, bool) {
	lo, hi := d.Range()
	v := float64(n)
	if !n.finite() {
		return 0, false
	}
	if d.Logarithmic() {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	if !(hi > lo) {
		return .5, true
	}
	return min(max((v-lo)/(hi-lo), 0), 1), true
}

// Columns spreads the curve over n columns, each with the mean of its points; NaN where there are none.
func (d *LiveData) Columns(n int) []Number {
	end := 0
	if k := len(d.Points); k > 0 {
		end = d.Points[k-1].Step
	}
	n = min(n, end+1, max(len(d.Points), 1))
	sum, count := make([]float64, n), make([]int, n)
	for _, p := range d.Points {
		c := min(int(int64(p.Step)*int64(n)/int64(end+1)), n-1)
		sum[c] += float64(p.Loss)
		count[c]++
	}
	out := make([]Number, n)
	for i := range out {
		out[i] = Number(sum[i] / float64(count[i]))
	}
	return out
}

func (d *LiveData) normalize() {
	if d.State != LiveRunning && d.State != LiveDone {
		d.State = LiveStopped
	}
	d.Sentence, d.Device, d.Culprit = clip(d.Sentence, maxAlt), clip(d.Device, maxName), clip(d.Culprit, maxName)
	for _, n := range []*int{&d.Total, &d.Step, &d.BestAt, &d.Skipped, &d.MeanOver} {
		clamp(n, 0)
	}
	clamp(&d.Diverged, -1)
	d.Points = ordered(d.Points[:min(len(d.Points), maxLivePoints)], func(p *LossPoint) (int, int) { return p.Step, p.Step })
	d.Skips = ordered(d.Skips[:min(len(d.Skips), maxLiveSkips)], func(k *int) (int, int) { return *k, *k })
	if d.Points == nil {
		d.Points = []LossPoint{}
	}
}
