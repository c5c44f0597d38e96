package amp

import (
	"fmt"
	"reflect"
	"slices"
)

// A StepReport says what became of one GradScaler.Step.
//
// A device that works behind the host's back is waited for when a method is called, and only then are the fields filled in, but for
// Step and Optimizer.
type StepReport struct {
	ScaleStep
	far  *GradScaler // to ask; nil for a scaler that the host can read
	last *StepReport // of a captured step: the report of its last replay
}

// wait fills in the fields.
func (r *StepReport) wait() {
	if g := r.far; g != nil {
		g.mu.Lock()
		defer g.mu.Unlock() // a device that is lost panics
		g.resolve()
		if r.last != nil {
			r.ScaleStep = r.last.ScaleStep
		}
	}
}

// Applied says whether the weights moved.
func (r *StepReport) Applied() bool { r.wait(); return r.ScaleStep.Applied }

// Culprit returns the name of the first parameter, in the optimizer's order, with a non-finite gradient; "" if there is none.
func (r *StepReport) Culprit() string { r.wait(); return r.ScaleStep.Culprit }

// Err returns an error for a skipped step that backing off can't help: the scale is at its floor, or beyond what can be inverted.
func (r *StepReport) Err() error {
	r.wait()
	if r.fatal == "" {
		return nil
	}
	return &Error{Op: "GradScaler.Step", Kind: ErrScaler, Detail: r.fatal, Fix: advice(r.ScaleStep.Culprit, r.Value)}
}

// String returns one line.
func (r *StepReport) String() string {
	r.wait()
	if r.ScaleStep.Applied {
		return fmt.Sprintf("step %d applied at scale %g", r.Step, float32(r.Scale)) // which it is: fewer digits tell it apart
	}
	return fmt.Sprintf("step %d skipped at scale %g: gradient of %s is %s", r.Step, float32(r.Scale), r.ScaleStep.Culprit, r.Value)
}

// advice is what helps at the end of backing off. A value that is still NaN at so small a scale did not overflow.
func advice(culprit, value string) string {
	if value == "NaN" {
		return "print the loss; if it is Inf or NaN too, amp.Force the op that made it so to amp.FP32, or look for log 0, x/0 or NaN in the data"
	}
	return fmt.Sprintf("look at the op that makes %s: amp.Force it to amp.FP32, lower the learning rate, or use amp.BFloat16", culprit)
}

// scaleHistory collects reports, thinned when it grows long.
type scaleHistory struct {
	reports []*StepReport
	open    []*StepReport // since the last Update
	round   int           // Updates after a Step so far
	nominal int           // rounds with a Step
	skipped int           // of them with a skipped one
	last    int           // the last of those, from 1
}

// maxHistory bounds the clean steps that are kept; skips always are.
const maxHistory = 1 << 14

func (h *scaleHistory) step(g *GradScaler, opt Optimizer, st *optimizerState) *StepReport {
	r := h.begin(g.optimizerName(opt))
	h.judge(g, r, float64(g.current()), st)
	h.keep(r)
	h.open = append(h.open, r)
	return r
}

// begin is the report of a Step that is not judged yet.
func (h *scaleHistory) begin(optimizer string) *StepReport {
	h.nominal = h.round + 1
	return &StepReport{ScaleStep: ScaleStep{Step: h.round, Optimizer: optimizer}}
}

// close ends the round, at an Update.
func (h *scaleHistory) close() { h.round = h.nominal }

// updateOf counts the Updates, from 1, of the scaler whose scale a loss was multiplied by, up to the next; 0 if it is none of the root's.
func (r *root) updateOf(scale *Tensor) int {
	r.mu.Lock()
	scalers := slices.Clone(r.scalers)
	r.mu.Unlock()
	for _, g := range scalers {
		g.mu.Lock()
		at, own := g.history.round+1, g.scale == scale
		g.mu.Unlock()
		if own {
			return at
		}
	}
	return 0
}

// judge fills in what became of a step.
func (h *scaleHistory) judge(g *GradScaler, r *StepReport, scale float64, st *optimizerState) {
	r.Scale, r.Next, r.Tracker = scale, scale, g.tracker
	r.ScaleStep.Applied, r.ScaleStep.Culprit, r.Value = !st.found, st.culprit, st.value
	if st.found {
		if h.last != r.Step+1 { // several optimizers may skip in one round
			h.last = r.Step + 1
			h.skipped++
		}
		switch {
		case st.culprit == "loss scale":
			r.fatal = fmt.Sprintf("the scale fell to %g, whose inverse is infinite in float32", scale)
		case g.floor > 0 && scale <= g.floor:
			r.fatal = fmt.Sprintf("gradient of %s is %s even at the smallest scale allowed, %g", st.culprit, st.value, scale)
		case scale*g.backoff < 1:
			r.Warning = fmt.Sprintf("the scale collapses below 1: gradient of %s stays %s; %s", st.culprit, st.value, advice(st.culprit, st.value))
		}
		if r.fatal != "" {
			r.Warning = r.fatal
		}
	}
}

func (h *scaleHistory) keep(r *StepReport) {
	h.reports = append(h.reports, r)
	if len(h.reports) > 2*maxHistory {
		h.thin()
	}
}

// thin drops every second clean step of the older half.
func (h *scaleHistory) thin() {
	kept := h.reports[:0]
	half := len(h.reports) / 2
	for i, r := range h.reports {
		if i >= half || i%2 == 0 || !r.ScaleStep.Applied {
			kept = append(kept, r)
		}
	}
	clear(h.reports[len(kept):])
	h.reports = kept
}

// update closes the reports since the last one.
func (h *scaleHistory) update(g *GradScaler) {
	for i, r := range h.open {
		r.Next, r.Tracker = float64(g.current()), g.tracker
		h.open[i] = nil
	}
	h.open = h.open[:0]
	h.close()
}

// optimizerName is the optimizer's type, numbered from the second on.
func (g *GradScaler) optimizerName(opt Optimizer) string {
	if name, ok := g.names[opt]; ok {
		return name
	}
	t := reflect.TypeOf(opt)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := t.Name()
	if n := len(g.names); n > 0 {
		name = fmt.Sprintf("%s %d", name, n+1)
	}
	g.names[opt] = name
	return name
}

// History returns the settings and what became of every step, as plain data for figures and logs.
func (g *GradScaler) History() ScaleHistory {
	scale := g.known("History").CurrentScale()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.resolve()
	h := ScaleHistory{
		Schema: ScaleHistorySchema, Enabled: g.enabled, InitScale: g.init, GrowthFactor: g.growth, BackoffFactor: g.backoff,
		GrowthInterval: g.interval, MinScale: g.floor, Scale: scale, GrowthTracker: g.tracker,
		Note: g.note, Nominal: g.history.nominal, Skipped: g.history.skipped, Steps: make([]ScaleStep, len(g.history.reports)),
	}
	for i, r := range g.history.reports {
		h.Steps[i] = r.ScaleStep
	}
	return h
}
