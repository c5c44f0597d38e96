package widgets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// ExponentsData says which magnitudes the gradients of a run had, and what float16 makes of them with and without a loss scale:
// what [Exponents] shows. Magnitudes are those of the true gradients: the loss scale of each step is taken out.
type ExponentsData struct {
	Missing  string `json:"missing,omitempty"` // why there is nothing to show
	Sentence string `json:"sentence"`          // the finding in words
	Note     string `json:"note,omitempty"`    // what a reader must know about the scale
	Scale    Number `json:"scale"`             // loss scale now; 1 without one
	Best     Number `json:"best"`              // largest power of two that keeps the largest gradient in float16 with one doubling to spare

	Steps   int `json:"steps"`            // training steps looked at; 0 outside Scope.Steps
	Results int `json:"results"`          // gradients counted: one for each input of an op and each call
	N       int `json:"n"`                // numbers in them
	Zeros   int `json:"zeros,omitempty"`  // of them zero
	Halves  int `json:"halves,omitempty"` // of them stored in 16 bits: what those lost is among the zeros
	Infs    int `json:"infs,omitempty"`
	NaNs    int `json:"nans,omitempty"`

	Amax   Number `json:"amax"`             // largest finite magnitude
	Amin   Number `json:"amin"`             // smallest that is not zero, 0 without any
	Low    int    `json:"low"`              // exponent of Counts[0]
	Counts []int  `json:"counts,omitempty"` // finite numbers that are not zero with 2^(Low+i) ≤ |g| < 2^(Low+i+1)

	Unscaled Fate `json:"unscaled"` // in float16, at scale 1
	Scaled   Fate `json:"scaled"`   // in float16, at Scale
	BFloat16 Fate `json:"bfloat16"` // in bfloat16, at scale 1

	Modules []ExponentRow `json:"modules,omitempty"` // the modules that lose most first
	More    int           `json:"more,omitempty"`    // modules left out
}

// A Fate counts what becomes of the finite numbers that are not zero in a format.
type Fate struct {
	Zero      int `json:"zero,omitempty"`      // rounded to zero: lost
	Subnormal int `json:"subnormal,omitempty"` // kept with fewer digits
	Normal    int `json:"normal,omitempty"`    // kept whole
	Overflow  int `json:"overflow,omitempty"`  // beyond the range
}

// All is the number of numbers counted.
func (f Fate) All() int { return f.Zero + f.Subnormal + f.Normal + f.Overflow }

// An ExponentRow is one module's gradients.
type ExponentRow struct {
	Module   string `json:"module,omitempty"`
	N        int    `json:"n"`
	Zeros    int    `json:"zeros,omitempty"`
	Amax     Number `json:"amax"`
	Amin     Number `json:"amin"`
	Unscaled Fate   `json:"unscaled"`
	Scaled   Fate   `json:"scaled"`
}

const (
	maxExponents = 400 // binades between the smallest and the largest gradient that a figure keeps
	maxModules   = 24
)

// Exponents shows the magnitudes of gradients against the range of float16: what is lost to zero and what overflows, at the present
// loss scale and without one. It reads the gradients of ops' inputs in a trace recorded at level Health; with the history of the
// scaler that scaled the loss the scale is taken out of them, and the gradient of the loss, which is the scale, is left out. Numbers that were float16 already had been rounded when they were
// counted: what they lost is among the zeros.
func Exponents(t *amp.Trace, scaler ...amp.ScaleHistory) *Figure {
	d := &ExponentsData{Scale: 1}
	scales := scalesOf(t, scaler, d)
	total, by := tallyGradients(t, scales, d)
	f := &Figure{Schema: Schema, Kind: KindExponents, Title: "Gradient exponents", Exponents: d}
	switch {
	case d.Results == 0 && (t == nil || t.Level != amp.Health.String()):
		d.Missing = "The trace holds no magnitudes: record it with amp.Record(amp.Health), or --trace health in a %%amp cell."
	case d.Results == 0:
		d.Missing = "No backward pass was recorded, so there are no gradients to count."
	}
	if d.Missing != "" {
		d.Sentence = d.Missing
	} else {
		d.fill(total, by)
		d.Sentence = d.finding()
	}
	f.Alt = clip(strings.TrimSpace(d.Sentence+" "+d.Rest()), maxAlt)
	f.normalize()
	return f
}

// scalesOf returns the loss scale of each step, as a power of two.
func scalesOf(t *amp.Trace, scaler []amp.ScaleHistory, d *ExponentsData) func(step int) int {
	if t == nil || len(scaler) == 0 || !scaler[0].Enabled || !(scaler[0].Scale > 0) || math.IsInf(scaler[0].Scale, 0) {
		return func(int) int { return 0 }
	}
	h := scaler[0]
	d.Scale = number(h.Scale)
	power := func(s float64) int {
		if !(s > 0) || math.IsInf(s, 0) {
			return 0
		}
		return int(math.Round(math.Log2(s)))
	}
	now := power(h.Scale)
	constant := !slices.ContainsFunc(h.Steps, func(s amp.ScaleStep) bool { return power(s.Scale) != now })
	if constant {
		return func(int) int { return now }
	}
	if h.Nominal != t.Steps {
		d.Note = fmt.Sprintf("The scale moved, and its %s do not match the %s of the trace: magnitudes are taken at the present scale.", plural(h.Nominal, "step"), plural(t.Steps, "step"))
		return func(int) int { return now }
	}
	return func(step int) int {
		i, found := slices.BinarySearchFunc(h.Steps, step, func(s amp.ScaleStep, step int) int { return cmp.Compare(s.Step, step) })
		if !found {
			i-- // thinned: the scale of the step before holds, since skips are kept
		}
		if i < 0 || i >= len(h.Steps) {
			return now
		}
		return power(h.Steps[i].Scale)
	}
}

// A binades is an Exponents that is still being counted, by exponent of the true gradient.
type binades struct {
	amp.Exponents
	by map[int]int
}

// add counts a result whose numbers were multiplied by 2^shift.
func (b *binades) add(h *amp.Exponents, shift int) {
	b.N += h.N
	b.Zeros += h.Zeros
	b.Infs += h.Infs
	b.NaNs += h.NaNs
	if h.Amax > 0 {
		b.Amax = max(b.Amax, math.Ldexp(h.Amax, -shift))
	}
	if low := math.Ldexp(h.Amin, -shift); h.Amin > 0 && (b.Amin == 0 || low < b.Amin) {
		b.Amin = low
	}
	for i, n := range h.Counts {
		if n > 0 {
			b.by[h.Low+i-shift] += n
		}
	}
}

// done turns the counts into a row of bins.
func (b *binades) done() amp.Exponents {
	lo, hi := math.MaxInt, math.MinInt
	for e := range b.by {
		lo, hi = min(lo, e), max(hi, e)
	}
	if lo > hi {
		return b.Exponents
	}
	lo = max(lo, hi-maxExponents+1) // what is smaller still goes to the lowest bin
	b.Low, b.Counts = lo, make([]int, hi-lo+1)
	for e, n := range b.by {
		b.Counts[max(e, lo)-lo] += n
	}
	return b.Exponents
}

// tallyGradients adds up the results of backward ops, in all and by module.
func tallyGradients(t *amp.Trace, scale func(step int) int, d *ExponentsData) (total *binades, by map[string]*binades) {
	total, by = &binades{by: map[int]int{}}, map[string]*binades{}
	if t == nil {
		return total, by
	}
	steps := map[int]bool{}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Phase != amp.PhaseBackward || e.Health == nil || !e.Gradient || ofLoss(e) {
			continue
		}
		d.Results++
		if e.Out.DType.IsHalf() {
			d.Halves += e.Health.N
		}
		if e.Step >= 0 {
			steps[e.Step] = true
		}
		m := by[e.Module]
		if m == nil {
			m = &binades{by: map[int]int{}}
			by[e.Module] = m
		}
		shift := scale(e.Step)
		total.add(e.Health, shift)
		m.add(e.Health, shift)
	}
	d.Steps = len(steps)
	return total, by
}

// ofLoss tells the gradient of the loss itself, which GradScaler.Scale's product gives: the scale, in float32.
func ofLoss(e *amp.Event) bool { return e.Module == "scaler" && e.Health.N == 1 }

// fill sets what the figure shows from the counts.
func (d *ExponentsData) fill(total *binades, by map[string]*binades) {
	h := total.done()
	d.N, d.Zeros, d.Infs, d.NaNs = h.N, h.Zeros, h.Infs, h.NaNs
	d.Amax, d.Amin, d.Low, d.Counts = number(h.Amax), number(h.Amin), h.Low, h.Counts
	d.Best = number(h.SuggestScale(amp.FormatFP16, 1))
	d.Unscaled, d.Scaled = fate(h, amp.FormatFP16, 1), fate(h, amp.FormatFP16, float64(d.Scale))
	d.BFloat16 = fate(h, amp.FormatBF16, 1)
	for name, m := range by {
		h := m.done()
		d.Modules = append(d.Modules, ExponentRow{
			Module: name, N: h.N, Zeros: h.Zeros, Amax: number(h.Amax), Amin: number(h.Amin),
			Unscaled: fate(h, amp.FormatFP16, 1), Scaled: fate(h, amp.FormatFP16, float64(d.Scale)),
		})
	}
	slices.SortFunc(d.Modules, func(a, b ExponentRow) int {
		return cmp.Or(cmp.Compare(b.Scaled.Overflow, a.Scaled.Overflow), cmp.Compare(share(b.Scaled), share(a.Scaled)),
			cmp.Compare(share(b.Unscaled), share(a.Unscaled)), cmp.Compare(a.Module, b.Module))
	})
	if more := len(d.Modules) - maxModules; more > 0 {
		d.Modules, d.More = d.Modules[:maxModules], more
	}
}

// share is the part of the numbers that is lost to zero.
func share(f Fate) float64 {
	if f.All() == 0 {
		return 0
	}
	return float64(f.Zero) / float64(f.All())
}

func fate(h amp.Exponents, f amp.Format, scale float64) Fate {
	x := h.Fate(f, math.Exp2(math.Round(math.Log2(scale))))
	return Fate{x.Zero, x.Subnormal, x.Normal, x.Overflow}
}

// finding is what float16 makes of the gradients, with the scale and without.
func (d *ExponentsData) finding() string {
	all := d.Scaled.All()
	switch {
	case all == 0:
		return fmt.Sprintf("All %s gradients counted are zero or not finite.", Count(d.N))
	case d.Scale == 1:
		return fmt.Sprintf("Without a loss scale float16 keeps %s of the gradients whole and %s with fewer digits, and loses %s to zero and %s to overflow.",
			percent(d.Unscaled.Normal, all), percent(d.Unscaled.Subnormal, all), percent(d.Unscaled.Zero, all), percent(d.Unscaled.Overflow, all))
	}
	s := fmt.Sprintf("At loss scale %s float16 keeps %s of the gradients whole and %s with fewer digits, and loses %s to zero", ScaleText(d.Scale),
		percent(d.Scaled.Normal, all), percent(d.Scaled.Subnormal, all), percent(d.Scaled.Zero, all))
	if d.Scaled.Overflow > 0 {
		s += " and " + percent(d.Scaled.Overflow, all) + " to overflow"
	}
	return s + fmt.Sprintf("; without it %s would be lost to zero.", percent(d.Unscaled.Zero, all))
}

// Rest is what else the finding needs to be understood; "" where there is nothing.
func (d *ExponentsData) Rest() string {
	if d.Missing != "" || d.N == 0 {
		return ""
	}
	s := fmt.Sprintf("Largest gradient %s; loss scales up to %s are safe.", magnitude(d.Amax), ScaleText(d.Best))
	if d.Zeros > 0 {
		s += fmt.Sprintf(" %s of the numbers are zero", percent(d.Zeros, d.N))
		if d.Halves > 0 {
			s += fmt.Sprintf("; %s were 16 bits wide, and what those had lost before is among the zeros", percent(d.Halves, d.N))
		}
		s += "."
	}
	return s
}

// magnitude writes a gradient's size as a power of two, to a tenth.
func magnitude(v Number) string {
	if !(v > 0) || !v.finite() {
		return "0"
	}
	return log2Text(math.Round(10*math.Log2(float64(v))) / 10)
}
