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
	Best     Number `json:"best"`              // largest power of two that keeps the largest finite gradient in float16 with one doubling to spare; smaller than Below
	Below    Number `json:"below,omitempty"`   // smallest loss scale at which numbers that are not finite were counted: how large those would be cannot be known, so no scale from there on is safe
	Above    Number `json:"above,omitempty"`   // largest such scale
	Now      int    `json:"now,omitempty"`     // numbers counted in steps at Scale
	BadNow   int    `json:"bad_now,omitempty"` // of those not finite

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

	Unscaled Fate `json:"unscaled"` // in the first of Formats, at scale 1
	Scaled   Fate `json:"scaled"`   // in it, at Scale
	BFloat16 Fate `json:"bfloat16"` // in bfloat16, at scale 1

	Formats []FormatRow   `json:"formats,omitempty"` // what formats make of the gradients, first that of the run's autocast
	Modules []ExponentRow `json:"modules,omitempty"` // the modules that lose most first
	More    int           `json:"more,omitempty"`    // modules left out
	Ops     []OpGradients `json:"ops,omitempty"`     // the same numbers by backward op, in the order of Modules; left out where there are too many
}

// A FormatRow says what a format makes of the gradients. From 2^Zero on numbers are not lost, from 2^Normal on they keep all
// digits, and from 2^Top on they overflow.
type FormatRow struct {
	Name   string `json:"name"`
	Zero   int    `json:"zero"`
	Normal int    `json:"normal"`
	Top    int    `json:"top"`
	Best   Number `json:"best"`   // as ExponentsData.Best
	Plain  Fate   `json:"plain"`  // at scale 1
	Scaled Fate   `json:"scaled"` // at ExponentsData.Scale
}

// An OpGradients are the gradients that one kind of backward op gave in one module.
type OpGradients struct {
	Module string `json:"module,omitempty"`
	Op     string `json:"op"`
	N      int    `json:"n"`
	Zeros  int    `json:"zeros,omitempty"`
	Amax   Number `json:"amax"`
	Amin   Number `json:"amin"`
	Low    int    `json:"low"`
	Counts []int  `json:"counts,omitempty"`
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
	Low      int    `json:"low,omitempty"`    // as ExponentsData.Low
	Counts   []int  `json:"counts,omitempty"` // as ExponentsData.Counts; left out where there are too many modules
}

const (
	maxExponents = 400 // binades between the smallest and the largest gradient that a figure keeps
	maxModules   = 24
	maxOps       = 60
)

// Exponents shows the magnitudes of gradients against the range of float16, or of bfloat16 where the run was under autocast in that: what
// is lost to zero and what overflows, at the present loss scale and without one. It reads the gradients of ops' inputs in a trace recorded
// at level Health; with the history of the scaler that scaled the loss the scale is taken out of them, and the gradient of the loss, which
// is the scale, is left out. Numbers that were float16 already had been rounded when they were counted: what they lost is among the zeros.
func Exponents(t *amp.Trace, scaler ...amp.ScaleHistory) *Figure {
	d := &ExponentsData{Scale: 1}
	scales := scalesOf(t, scaler, d)
	total, by, ops := tallyGradients(t, scales, d)
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
		d.fill(total, by, ops, autocastOf(t))
		d.Sentence = d.finding()
		f.Title = d.title()
	}
	f.Alt = clip(strings.TrimSpace(d.Sentence+" "+d.Rest()), maxAlt)
	f.normalize()
	d.fit(f)
	return f
}

// fit leaves out what is by op, and then the counts of modules, where the figure's JSON would be over MaxJSON.
func (d *ExponentsData) fit(f *Figure) {
	for _, drop := range []func(){func() { d.Ops = nil }, func() {
		for i := range d.Modules {
			d.Modules[i].Low, d.Modules[i].Counts = 0, nil
		}
	}} {
		if b, err := f.MarshalJSON(); err != nil || len(b) <= MaxJSON {
			return
		}
		drop()
	}
}

// title says whether the magnitudes that it shows are multiplied by the loss scale.
func (d *ExponentsData) title() string {
	if d.Scale == 1 {
		return "Gradient exponents in " + d.In() + ", unscaled"
	}
	return "Gradient exponents in " + d.In() + ": scaled by " + ScaleText(d.Scale) + ", and unscaled"
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

// tallyGradients adds up the results of backward ops, in all and by module.
func tallyGradients(t *amp.Trace, scale func(step int) int, d *ExponentsData) (total *spread, by map[string]*spread, ops map[gradientOf]*spread) {
	total, by, ops = &spread{}, map[string]*spread{}, map[gradientOf]*spread{}
	if t == nil {
		return total, by, ops
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
		m, key := by[e.Module], gradientOf{e.Module, e.Op}
		if m == nil {
			m = &spread{}
			by[e.Module] = m
		}
		o := ops[key]
		if o == nil {
			o = &spread{}
			ops[key] = o
		}
		shift := scale(e.Step)
		d.note(e.Health, Number(math.Ldexp(1, shift)))
		total.add(e.Health, shift)
		m.add(e.Health, shift)
		o.add(e.Health, shift)
	}
	d.Steps = len(steps)
	return total, by, ops
}

// note keeps at which loss scales numbers were not finite, and how many at the present one: a scale is not to blame for what others did.
func (d *ExponentsData) note(h *amp.Exponents, at Number) {
	bad := h.Infs + h.NaNs
	if bad > 0 {
		d.Above = max(d.Above, at)
		if d.Below == 0 || at < d.Below {
			d.Below = at
		}
	}
	if Power(at) == Power(d.Scale) {
		d.Now, d.BadNow = d.Now+h.N, d.BadNow+bad
	}
}

// TooLarge says that numbers were not finite at the present loss scale or, where no step was at it, at none that is larger.
func (d *ExponentsData) TooLarge() bool {
	if d.Now == 0 { // so do figures that do not know Above
		return d.Below > 0 && d.Scale >= max(d.Below, d.Above)
	}
	return d.BadNow > 0
}

// gradientOf names the gradients that one kind of backward op gave in one module.
type gradientOf struct{ module, op string }

// ofLoss tells the gradient of the loss itself, which GradScaler.Scale's product gives: the scale, in float32.
func ofLoss(e *amp.Event) bool { return e.Module == "scaler" && e.Health.N == 1 }

// fill sets what the figure shows from the counts.
func (d *ExponentsData) fill(total *spread, by map[string]*spread, ops map[gradientOf]*spread, about amp.Format) {
	formats := slices.Clone(whatIf)
	slices.SortStableFunc(formats, func(a, b formatName) int { return b2i(b.format == about) - b2i(a.format == about) })
	for _, f := range formats {
		_, top := math.Frexp(f.format.Max())
		d.Formats = append(d.Formats, FormatRow{Name: f.name, Zero: int(math.Log2(f.format.MinSubnormal())) - 1, Normal: int(math.Log2(f.format.MinNormal())), Top: top})
	}
	h := total.done(maxExponents)
	d.N, d.Zeros, d.Infs, d.NaNs = h.N, h.Zeros, h.Infs, h.NaNs
	d.Amax, d.Amin, d.Low, d.Counts = number(h.Amax), number(h.Amin), h.Low, h.Counts
	d.Best = d.safe(h, about)
	d.Unscaled, d.Scaled = fate(h, about, 1), fate(h, about, float64(d.Scale))
	d.BFloat16 = fate(h, amp.FormatBF16, 1)
	for i, f := range formats {
		r := &d.Formats[i]
		r.Best, r.Plain, r.Scaled = d.safe(h, f.format), fate(h, f.format, 1), fate(h, f.format, float64(d.Scale))
	}
	for name, m := range by {
		h := m.done(maxExponents)
		d.Modules = append(d.Modules, ExponentRow{
			Module: name, Low: h.Low, Counts: h.Counts, N: h.N, Zeros: h.Zeros, Amax: number(h.Amax), Amin: number(h.Amin),
			Unscaled: fate(h, about, 1), Scaled: fate(h, about, float64(d.Scale)),
		})
	}
	slices.SortFunc(d.Modules, func(a, b ExponentRow) int {
		return cmp.Or(cmp.Compare(b.Scaled.Overflow, a.Scaled.Overflow), cmp.Compare(share(b.Scaled), share(a.Scaled)),
			cmp.Compare(share(b.Unscaled), share(a.Unscaled)), cmp.Compare(a.Module, b.Module))
	})
	if more := len(d.Modules) - maxModules; more > 0 {
		d.Modules, d.More = d.Modules[:maxModules], more
	}
	d.byOp(ops)
}

// safe is the largest loss scale that may be safe in a format: what overflowed at Below in the range of In does so in any smaller one.
func (d *ExponentsData) safe(h amp.Exponents, f amp.Format) Number {
	best := number(h.SuggestScale(f, 1))
	if d.Below > 0 && f.Max() <= d.format().Max() {
		best = min(best, d.Below/2)
	}
	return best
}

// BestText writes the largest safe loss scale of In; "≤ 2^11" where only that is known.
func (d *ExponentsData) BestText() string {
	if d.Below > 0 {
		return "≤ " + powerText(d.Best)
	}
	return powerText(d.Best)
}

// BestIn is BestText for any of the formats. What was too large for the first may fit into one of a larger range, or not.
func (d *ExponentsData) BestIn(r *FormatRow) string {
	switch {
	case d.Below == 0:
		return powerText(r.Best)
	case len(d.Formats) > 0 && r.Top <= d.Formats[0].Top:
		return "≤ " + powerText(r.Best)
	}
	return "not known"
}

// whatIf are the formats that the figure asks about.
var whatIf = []formatName{{"float16", amp.FormatFP16}, {"bfloat16", amp.FormatBF16}, {"e5m2", amp.FormatE5M2}, {"e4m3", amp.FormatE4M3}}

type formatName struct {
	name   string
	format amp.Format
}

// In names the format that the figure is about, the first of Formats: that of the run's autocast, float16 where it had none.
func (d *ExponentsData) In() string {
	if d.format() == amp.FormatBF16 {
		return "bfloat16"
	}
	return "float16"
}

func (d *ExponentsData) format() amp.Format {
	if len(d.Formats) > 0 && d.Formats[0].Name == "bfloat16" {
		return amp.FormatBF16
	}
	return amp.FormatFP16
}

// autocastOf is the format that a run computed in under autocast: bfloat16 where it had that and no float16.
func autocastOf(t *amp.Trace) amp.Format {
	of := func(d amp.DType) bool {
		return slices.ContainsFunc(t.Events, func(e amp.Event) bool { return e.Autocast == d })
	}
	if of(amp.BFloat16) && !of(amp.Float16) {
		return amp.FormatBF16
	}
	return amp.FormatFP16
}

// byOp lists the gradients by op within the modules that are listed.
func (d *ExponentsData) byOp(ops map[gradientOf]*spread) {
	rank := map[string]int{}
	for i, m := range d.Modules {
		rank[m.Module] = i + 1
	}
	for key, o := range ops {
		if rank[key.module] == 0 {
			continue
		}
		h := o.done(maxExponents)
		d.Ops = append(d.Ops, OpGradients{Module: key.module, Op: key.op, N: h.N, Zeros: h.Zeros, Amax: number(h.Amax), Amin: number(h.Amin), Low: h.Low, Counts: h.Counts})
	}
	slices.SortFunc(d.Ops, func(a, b OpGradients) int {
		return cmp.Or(cmp.Compare(rank[a.Module], rank[b.Module]), cmp.Compare(a.Op, b.Op))
	})
	d.Ops = d.Ops[:min(len(d.Ops), maxOps)]
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

// FateAt says what the format of In makes of the gradients at loss scale 2^k.
func (d *ExponentsData) FateAt(k int) Fate {
	return fate(amp.Exponents{Low: d.Low, Counts: d.Counts}, d.format(), math.Ldexp(1, k))
}

// Share writes a part of the gradients that are not zero: "0.2%".
func (d *ExponentsData) Share(n int) string { return percent(n, d.Scaled.All()) }

// Power is the exponent of a loss scale.
func Power(scale Number) int { return int(math.Round(math.Log2(float64(scale)))) }
