package widgets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// Verdicts on a loss scale.
const (
	VerdictDisabled    = "disabled"    // no scaling needed
	VerdictEmpty       = "empty"       // no step yet
	VerdictCalibrating = "calibrating" // still looking for the scale
	VerdictSteady      = "steady"
	VerdictCollapsing  = "collapsing" // backing off without end
)

const (
	cleanToSettle  = 50 // clean steps in a row after which a scale counts as found
	skipsToDespair = 8  // skipped steps in a row, at the end, that no search for a scale, which comes down to the default first one, explains
	maxPoints      = 1000
	maxSkips       = 500
	maxCulprits    = 12
)

// ScaleData says how a loss scale moved: what [ScaleHistory] shows.
type ScaleData struct {
	Verdict  string `json:"verdict"`         // one of the Verdict constants
	Sentence string `json:"sentence"`        // the verdict in words, with its numbers
	Fixes    []Fix  `json:"fixes,omitempty"` // ways out of a collapse, the likeliest first
	Note     string `json:"note,omitempty"`  // what a reader must know, e.g. that %amp set the first scale
	Enabled  bool   `json:"enabled"`

	InitScale      Number `json:"init_scale"`
	Scale          Number `json:"scale"` // now
	GrowthFactor   Number `json:"growth_factor"`
	BackoffFactor  Number `json:"backoff_factor"`
	GrowthInterval int    `json:"growth_interval"`
	MinScale       Number `json:"min_scale,omitempty"` // floor; 0: none
	Ceiling        Number `json:"ceiling,omitempty"`   // of figures that were saved by older versions: no scaler has one

	Nominal    int `json:"nominal_steps"`
	Skipped    int `json:"skipped_steps"`
	Effective  int `json:"effective_steps"`
	NextGrowth int `json:"next_growth,omitempty"` // clean steps until the scale grows
	Settled    int `json:"settled"`               // first step of the first long clean run; -1: not yet
	Since      int `json:"since"`                 // first step at the present scale

	Points   []ScalePoint `json:"points"`             // first step, every change, last step
	Skips    []SkipRun    `json:"skips,omitempty"`    // every skipped step, neighbors merged
	Culprits []Culprit    `json:"culprits,omitempty"` // parameters that overflowed, most often first
	Warnings []string     `json:"warnings,omitempty"` // the scaler's own, each once
}

// A ScalePoint is the scale from a step on. Its JSON form is [step, scale].
type ScalePoint struct {
	Step  int
	Scale Number
}

// A SkipRun is one skipped step, or several that followed each other with the same culprit.
type SkipRun struct {
	First   int    `json:"first"`
	Last    int    `json:"last"`
	Count   int    `json:"count"`
	Culprit string `json:"culprit,omitempty"` // first parameter with a non-finite gradient
	Value   string `json:"value,omitempty"`   // what was there: "+Inf", "-Inf", "NaN"
	Scale   Number `json:"scale"`             // of the first
	Next    Number `json:"next"`              // after the last
}

// A Fix is one way out of a collapse.
type Fix struct {
	Do   string `json:"do"`             // what to do
	Why  string `json:"why"`            // why it helps
	Code string `json:"code,omitempty"` // the Go to paste
}

// A Culprit is a parameter whose gradient was not finite.
type Culprit struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	NaN   int    `json:"nan,omitempty"` // how often it was NaN rather than an infinity
}

// ScaleHistory shows how a loss scale moved: a verdict first, then the scale per step, every skipped step with the parameter
// that overflowed, the floor, and how many clean steps remain until the scale grows.
func ScaleHistory(h amp.ScaleHistory) *Figure {
	d := &ScaleData{
		Note: h.Note, Enabled: h.Enabled,
		InitScale: number(h.InitScale), Scale: number(h.Scale), GrowthFactor: number(h.GrowthFactor), BackoffFactor: number(h.BackoffFactor),
		GrowthInterval: h.GrowthInterval, MinScale: number(h.MinScale),
		Nominal: h.Nominal, Skipped: h.Skipped, Effective: h.Nominal - h.Skipped, Settled: -1, Points: []ScalePoint{},
	}
	if h.Enabled && h.GrowthInterval > 0 {
		d.NextGrowth = max(h.GrowthInterval-h.GrowthTracker, 0)
	}
	h.Steps = slices.DeleteFunc(slices.Clone(h.Steps), func(s amp.ScaleStep) bool { return s.Step < 0 || s.Step > maxCount })
	slices.SortStableFunc(h.Steps, func(a, b amp.ScaleStep) int { return cmp.Compare(a.Step, b.Step) })
	d.points(h)
	d.skips(h)
	d.settle()
	d.judge()
	f := &Figure{Schema: Schema, Kind: KindScaleHistory, Title: "Loss scale", Scale: d}
	f.Alt = clip(d.finding(), maxAlt)
	d.fit(f)
	f.normalize()
	return f
}

// points keeps the first step, every change of scale and the last step.
func (d *ScaleData) points(h amp.ScaleHistory) {
	add := func(step int, scale float64) {
		n := len(d.Points)
		switch {
		case n > 0 && d.Points[n-1].Scale == number(scale):
		case n > 0 && d.Points[n-1].Step == step:
			d.Points[n-1].Scale = number(scale)
		default:
			d.Points = append(d.Points, ScalePoint{step, number(scale)})
		}
	}
	for i, s := range h.Steps {
		if i > 0 && h.Steps[i-1].Step == s.Step { // of another optimizer
			continue
		}
		add(s.Step, s.Scale)
		add(s.Step+1, s.Next)
	}
	if n := len(d.Points); n > 0 {
		d.Since = d.Points[n-1].Step
		if last := max(h.Steps[len(h.Steps)-1].Step, h.Nominal-1); last > d.Since {
			d.Points = append(d.Points, ScalePoint{last, d.Points[n-1].Scale})
		}
	}
}

// ofOptimizer stands between the names of a parameter and its optimizer, where there are several.
const ofOptimizer = " of "

// skips collects the skipped steps.
func (d *ScaleData) skips(h amp.ScaleHistory) {
	by := map[string]*Culprit{}
	several := slices.ContainsFunc(h.Steps, func(s amp.ScaleStep) bool { return s.Optimizer != h.Steps[0].Optimizer })
	for _, s := range h.Steps {
		if s.Warning != "" && len(d.Warnings) < 3 {
			if w := clip(s.Warning, maxRule); !slices.Contains(d.Warnings, w) {
				d.Warnings = append(d.Warnings, w)
			}
		}
		if s.Applied {
			continue
		}
		if several && s.Culprit != "" {
			s.Culprit += ofOptimizer + s.Optimizer
		}
		run := SkipRun{s.Step, s.Step, 1, clip(s.Culprit, maxName), clip(s.Value, 8), number(s.Scale), number(s.Next)}
		if run.Culprit != "" {
			c := by[run.Culprit]
			if c == nil {
				c = &Culprit{Name: run.Culprit}
				by[run.Culprit] = c
			}
			c.Count++
			c.NaN += b2i(s.Value == "NaN")
		}
		if n := len(d.Skips); n == 0 || d.Skips[n-1].Last != s.Step { // else several optimizers were skipped in one step
			d.Skips = append(d.Skips, run)
		}
	}
	for _, c := range by {
		d.Culprits = append(d.Culprits, *c)
	}
	slices.SortFunc(d.Culprits, func(a, b Culprit) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	d.Culprits = d.Culprits[:min(len(d.Culprits), maxCulprits)]
}

// settle finds the first run of clean steps long enough to call the scale found. Skips are all kept by the scaler, so the
// gaps between them are clean even where its history was thinned.
func (d *ScaleData) settle() {
	from := 0
	for _, r := range d.Skips {
		if r.First-from >= cleanToSettle {
			break
		}
		from = r.Last + 1
	}
	if d.Nominal-from >= cleanToSettle {
		d.Settled = from
	}
}

// trailing counts the skipped steps in a row at the end.
func (d *ScaleData) trailing() int {
	n, next := 0, d.Nominal
	for i := len(d.Skips) - 1; i >= 0 && d.Skips[i].Last == next-1; i-- {
		n += d.Skips[i].Count
		next = d.Skips[i].First
	}
	return n
}

// judge sets the verdict, its sentence and the ways out.
func (d *ScaleData) judge() {
	trailing := d.trailing()
	atFloor := d.MinScale > 0 && d.Scale <= d.MinScale && trailing > 0
	switch {
	case !d.Enabled:
		d.Verdict = VerdictDisabled
		d.Sentence = "No scaling needed: the scaler is disabled, as it should be for bfloat16 and float32, whose exponents reach as far as gradients do."
	case d.Nominal == 0:
		d.Verdict = VerdictEmpty
		d.Sentence = fmt.Sprintf("No optimizer step yet: the scale starts at %s.", ScaleText(cmp.Or(d.Scale, d.InitScale)))
	case trailing >= skipsToDespair && d.Scale <= amp.DefaultInitScale || atFloor || d.Scale < 1 && d.Skipped > 0 || !d.Scale.finite():
		d.Verdict = VerdictCollapsing
		d.Sentence = d.collapse(trailing, atFloor)
		d.Fixes = d.fixes()
	case d.Settled >= 0 && d.recent() > 1:
		d.Verdict = VerdictCalibrating
		d.Sentence = fmt.Sprintf("Calibrating again: %s, %s of the last %s skipped, %s of %s in all (%s); it counts as steady while at most one of %d is.",
			d.nowAt(), Count(d.recent()), plural(min(cleanToSettle, d.Nominal), "step"), Count(d.Skipped), Count(d.Nominal), percent(d.Skipped, d.Nominal), cleanToSettle)
	case d.Settled < 0:
		d.Verdict = VerdictCalibrating
		d.Sentence = fmt.Sprintf("Calibrating: %s, %s of %s skipped (%s); it counts as steady after %d clean steps in a row.",
			d.nowAt(), Count(d.Skipped), plural(d.Nominal, "step"), percent(d.Skipped, d.Nominal), cleanToSettle)
	default:
		d.Verdict = VerdictSteady
		d.Sentence = fmt.Sprintf("Steady%s; %s of %s skipped (%s)%s.",
			d.steadyAt(), Count(d.Skipped), plural(d.Nominal, "step"), percent(d.Skipped, d.Nominal), d.growth())
	}
}

// recent counts the skipped steps among the last cleanToSettle ones.
func (d *ScaleData) recent() int {
	from, n := d.Nominal-cleanToSettle, 0
	for _, r := range d.Skips {
		if steps := r.Last + 1 - max(r.First, from); steps > 0 {
			n += min(steps, r.Count)
		}
	}
	return n
}

// steadyAt says at what scale: what the last step led to, no step has tried.
func (d *ScaleData) steadyAt() string {
	at := " at " + ScaleText(d.Scale) + " since step " + Count(d.Since)
	if d.Since < d.Nominal || len(d.Points) < 2 {
		return at
	}
	if last := len(d.Skips) - 1; last >= 0 && d.Skips[last].Last == d.Nominal-1 {
		return ", but the last step was skipped, and the scale went down to " + ScaleText(d.Scale)
	}
	return ", and after the last step the scale grew to " + ScaleText(d.Scale)
}

// nowAt says where the scale stands: "scale 65,536 unchanged so far".
func (d *ScaleData) nowAt() string {
	if d.Skipped == 0 && d.Scale == d.InitScale {
		return "scale " + ScaleText(d.Scale) + " unchanged so far"
	}
	return "scale now " + ScaleText(d.Scale) + ", from " + ScaleText(d.InitScale)
}

// growth says when the scale grows next: "; next growth in 413".
func (d *ScaleData) growth() string {
	if d.NextGrowth == 0 {
		return ""
	}
	return "; next growth in " + plural(d.NextGrowth, "clean step")
}

// collapse is the sentence for a scale that backs off without end.
func (d *ScaleData) collapse(trailing int, atFloor bool) string {
	s := fmt.Sprintf("Collapsing: scale %s, from %s", ScaleText(d.Scale), ScaleText(d.InitScale))
	if atFloor {
		s += fmt.Sprintf(", at its floor %s", ScaleText(d.MinScale))
	}
	if trailing > 1 {
		s += fmt.Sprintf("; the last %s were all skipped", plural(trailing, "step"))
	} else {
		s += fmt.Sprintf("; %s of %s skipped (%s)", Count(d.Skipped), plural(d.Nominal, "step"), percent(d.Skipped, d.Nominal))
	}
	if len(d.Culprits) > 0 {
		s += fmt.Sprintf("; %s overflowed first in %s of %s", d.Culprits[0].Name, Count(d.Culprits[0].Count), plural(d.Skipped, "skip"))
	}
	return s + "."
}

// fixes lists ways out of a collapse.
func (d *ScaleData) fixes() []Fix {
	first := Fix{"Run the op whose gradient overflows in float32.", "float32 reaches to 2^127 where float16 ends at 65,504.", ""}
	if len(d.Culprits) > 0 {
		c := d.Culprits[0]
		first.Do = "Run the op that makes the gradient of " + c.Name + " in float32."
		if op := opOf(c.Name); op != "" {
			first.Code = "half := s.Autocast(amp.Float16, amp.Force(\"" + op + "\", amp.FP32))"
		}
		if 2*c.NaN > c.Count {
			return []Fix{d.lookAtLoss(c.Name),
				{"Let the loop stop there.", "With a floor under the scale a report says when backing off can't help.", "scaler := amp.NewGradScaler(amp.MinScale(1)); …; if err := scaler.Step(opt).Err(); err != nil { break }"},
			}
		}
	}
	return []Fix{
		first,
		{"Lower the learning rate, or clip gradients.", "Weights may be growing without bound.", "scaler.Unscale(opt); optim.ClipGradNorm(net.Parameters(), 1.0)"},
		{"Use bfloat16.", "It has float32's range and needs no scaler.", "half := s.Autocast(amp.BFloat16)"},
	}
}

// lookAtLoss is what to do about a gradient that is NaN. At a large scale that may be an overflow too: of infinities that cancel.
func (d *ScaleData) lookAtLoss(parameter string) Fix {
	const code = "root := amp.NewScope(amp.Record(amp.Health)); …; widgets.Show(widgets.Decisions(root.Trace()))"
	const forward = "an op of the forward pass left float16's range or met log 0, x/0 or NaN in the data, and Decisions shows which."
	if d.Scale > 1 {
		return Fix{"Print the loss: is it Inf or NaN as the gradient of " + parameter + " is?", "If it is finite, gradients overflow, and the scale goes down until they fit. If not, " + forward, code}
	}
	return Fix{"Print the loss, and look for what makes the gradient of " + parameter + " NaN.", "No smaller scale heals a NaN. If the loss is Inf or NaN too, " + forward, code}
}

// opOf guesses the op from a parameter's name: layers with a weight are linear ones, unless their name says otherwise.
func opOf(parameter string) string {
	name, _, _ := strings.Cut(strings.ToLower(parameter), ofOptimizer)
	switch {
	case strings.Contains(name, "norm") || strings.Contains(name, "embed") || strings.Contains(name, "bn"):
		return "" // float32 already, or exact
	case strings.Contains(name, "conv"):
		return "conv2d"
	case strings.HasSuffix(name, "weight") || strings.HasSuffix(name, "bias"):
		return "linear"
	}
	return ""
}

// SkippedShare is the part of the steps that was skipped: "0.3%".
func (d *ScaleData) SkippedShare() string { return percent(d.Skipped, d.Nominal) }

// maxStairs is up to how many skipped steps each is a stair of its own in [ScaleData.Behind].
const maxStairs = 600

// Behind is the number of steps skipped before each step where it changes, nominal minus effective: a stair for every skipped step, or one
// for each run of them where there are very many, and one for runs that were merged across steps that were not skipped.
func (d *ScaleData) Behind() []ScalePoint {
	out, n := []ScalePoint{{0, 0}}, 0
	for _, r := range d.Skips {
		if each := r.Count == r.Last-r.First+1 && d.Skipped <= maxStairs; each {
			for i := range r.Count - 1 {
				out = append(out, ScalePoint{r.First + i + 1, Number(n + i + 1)})
			}
		}
		n += r.Count
		out = append(out, ScalePoint{r.Last + 1, Number(n)})
	}
	return append(out, ScalePoint{max(d.Nominal-1, out[len(out)-1].Step), Number(n)})
}

// finding is the figure in a sentence or two.
func (d *ScaleData) finding() string {
	s := d.Sentence
	if d.Enabled && d.Skipped > 0 && len(d.Culprits) > 0 && d.Verdict != VerdictCollapsing {
		var names []string
		for _, c := range d.Culprits[:min(3, len(d.Culprits))] {
			names = append(names, fmt.Sprintf("%s ×%s", c.Name, Count(c.Count)))
		}
		s += " Overflowed: " + strings.Join(names, ", ") + "."
	}
	if d.Enabled && d.Nominal > 0 {
		s += fmt.Sprintf(" %s effective of %s nominal steps.", Count(d.Effective), Count(d.Nominal))
	}
	return s
}

// Log2 is the binary logarithm that the figure's axis shows; 0 and what is not finite go to the axis' ends.
func (p ScalePoint) Log2() float64 {
	v := float64(p.Scale)
	switch {
	case math.IsNaN(v) || v <= 0:
		return -149
	case math.IsInf(v, 1):
		return 128
	}
	return math.Log2(v)
}
