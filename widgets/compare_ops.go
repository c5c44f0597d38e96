package widgets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// An OpError is how far the results of one op of a run are from those of the reference, in the first step that both traces looked at:
// there the weights are still the same.
type OpError struct {
	Phase  string    `json:"phase"` // "forward" or "backward"
	Module string    `json:"module,omitempty"`
	Op     string    `json:"op"`
	DType  amp.DType `json:"dtype"` // the run computed it in
	Calls  int       `json:"calls"`
	Error  Number    `json:"error"` // largest difference of the numbers looked at, relative to the largest of them; +Inf where one is not finite
}

// maxOpErrors bounds the op errors of all runs together.
const maxOpErrors = 60

// opKey names calls that belong together.
type opKey struct{ phase, module, op string }

// A looked is what a trace says of the calls of an op in one step.
type looked struct {
	order []opKey
	calls map[opKey][]*amp.Event
	scale float64 // that the loss was multiplied by
}

// lookAt collects the events of a step whose results were looked at.
func lookAt(t *amp.Trace, step int) looked {
	l := looked{calls: map[opKey][]*amp.Event{}, scale: 1}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Step != step || e.Health == nil || e.Cast != nil || e.Op == "cast" || e.Op == "to_device" || e.Phase == amp.PhaseOptimizer {
			continue
		}
		if ofLoss(e) && e.Health.Amax > 0 { // the gradient of the loss: the scale, which no op has rounded yet
			l.scale = e.Health.Amax
			continue
		}
		// Of a backward pass only gradients are scaled for sure: what they are made of on the way is not compared.
		if len(e.Health.Sample) == 0 || strings.HasPrefix(e.Module, "scaler") || e.Phase == amp.PhaseBackward && !e.Gradient {
			continue
		}
		k := opKey{e.Phase, e.Module, e.Op}
		if l.calls[k] == nil {
			l.order = append(l.order, k)
		}
		l.calls[k] = append(l.calls[k], e)
	}
	return l
}

// firstLooked is the first step with results that both traces looked at, and false for none.
func firstLooked(a, b *amp.Trace) (step int, ok bool) {
	steps := map[int]bool{}
	for i := range a.Events {
		if e := &a.Events[i]; e.Health != nil && len(e.Health.Sample) > 0 {
			steps[e.Step] = true
		}
	}
	for i := range b.Events {
		e := &b.Events[i]
		if e.Health != nil && len(e.Health.Sample) > 0 && steps[e.Step] && (!ok || e.Step < step) {
			step, ok = e.Step, true
		}
	}
	return step, ok
}

// opErrors compares the results of two traces call by call; the note says what kept it from that.
func opErrors(ref, run *amp.Trace) (out []OpError, note string) {
	switch {
	case ref == nil || run == nil:
		return nil, ""
	case ref.Level != amp.Health.String() || run.Level != amp.Health.String():
		return nil, "Ops are compared where both traces were recorded with amp.Record(amp.Health)."
	}
	step, ok := firstLooked(ref, run)
	if !ok {
		return nil, "The traces have no step in common whose results were looked at."
	}
	a, b := lookAt(ref, step), lookAt(run, step)
	other := 0
	for _, k := range b.order {
		x, y := a.calls[k], b.calls[k]
		row := OpError{Phase: k.phase, Module: clip(k.module, maxName), Op: clip(k.op, maxName), DType: y[0].Compute, Error: -1}
		sx, sy := 1.0, 1.0
		if k.phase == amp.PhaseBackward {
			sx, sy = a.scale, b.scale
		}
		for i := range min(len(x), len(y)) {
			if e, ok := sampleError(x[i].Health, y[i].Health, sx, sy); ok {
				row.Calls++
				row.Error = max(row.Error, digits(e, 3))
			}
		}
		if row.Calls == 0 {
			other++
			continue
		}
		out = append(out, row)
	}
	if other > 0 {
		note = fmt.Sprintf("%s of this run %s no match in the reference.", plural(other, "op"), map[bool]string{true: "has", false: "have"}[other == 1])
	}
	return out, note
}

// sampleError is the largest difference of two results at the places looked at, relative to the largest number there; false for results
// that cannot be compared.
func sampleError(x, y *amp.Exponents, sx, sy float64) (float64, bool) {
	if x.N != y.N || len(x.Sample) != len(y.Sample) {
		return 0, false
	}
	most, off := 0.0, 0.0
	for i := range x.Sample {
		a, b := float64(x.Sample[i])/sx, float64(y.Sample[i])/sy
		if a != a || math.IsInf(a, 0) {
			continue // the reference itself is not finite
		}
		if b != b || math.IsInf(b, 0) {
			return math.Inf(1), true
		}
		most, off = math.Max(most, math.Abs(a)), math.Max(off, math.Abs(a-b))
	}
	if most == 0 {
		return 0, off == 0
	}
	return off / most, true
}

// keepWorst keeps the n ops with the largest errors, in the order in which they ran.
func keepWorst(ops []OpError, n int) ([]OpError, int) {
	if len(ops) <= n {
		return ops, 0
	}
	index := make([]int, len(ops))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(ops[b].Error, ops[a].Error) })
	index = index[:n]
	slices.Sort(index)
	out := make([]OpError, n)
	for i, k := range index {
		out[i] = ops[k]
	}
	return out, len(ops) - n
}

// Name is the op with its module, for people.
func (o *OpError) Name() string {
	if o.Module != "" {
		return o.Module + " " + o.Op
	}
	return o.Op
}

// ErrorText writes the error: "3.1e-4", "0", "not finite".
func (o *OpError) ErrorText() string {
	if !o.Error.finite() {
		return "not finite"
	}
	return decimal(float64(o.Error), 2)
}

// Bar is the length of the op's bar, from 0 to 1, on a logarithmic axis from OpErrorLow to 1.
func (o *OpError) Bar() float64 {
	if !o.Error.finite() {
		return 1
	}
	if o.Error <= 0 {
		return 0
	}
	low := math.Log10(OpErrorLow)
	return min(max((math.Log10(float64(o.Error))-low)/-low, 0.02), 1)
}

// OpErrorLow is where the bars of op errors begin: half of float32's last digit is about there.
const OpErrorLow = 1e-8
