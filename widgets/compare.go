package widgets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// A Run is one training run to compare: its loss of every step.
type Run struct {
	Name    string    // e.g. "float16 + scaler"
	DType   amp.DType // dtype of its autocast scope; NoDType, for none, is float32 beside runs that have one, and no dtype where none has
	Loss    []float64 // loss per step; NaN and infinities are kept and reported
	StepNS  []int64   // optional: duration of each step in nanoseconds
	Skipped int       // optimizer steps skipped for overflow
	// Bytes is the most tensor memory that the run had in use (amp.MemStats), optional.
	Bytes int64
	// Trace is what the run recorded, optional. With traces at level amp.Health of the first run and of others, their results are
	// compared op by op, in the first step that both looked at.
	Trace *amp.Trace
}

// CompareData sets runs beside each other: what [Compare] shows.
type CompareData struct {
	Missing string   `json:"missing,omitempty"` // why there is nothing to show
	Answer  string   `json:"answer"`            // whether the runs end where the first one does
	Runs    []RunRow `json:"runs"`              // the first one is the reference
	More    int      `json:"more,omitempty"`    // runs left out
}

// A RunRow is one run.
type RunRow struct {
	Name    string    `json:"name"`
	DType   amp.DType `json:"dtype"`
	Steps   int       `json:"steps"`
	Skipped int       `json:"skipped,omitempty"`
	First   Number    `json:"first"`              // loss of the first step
	Final   Number    `json:"final"`              // loss of the last step
	Best    Number    `json:"best"`               // smallest finite loss
	Common  int       `json:"common"`             // steps that it has in common with the reference
	EndMean Number    `json:"end_mean,omitempty"` // mean loss over the last tenth of the common steps; NaN where it is not finite, 0 where a stored figure lacks it
	Verdict string    `json:"verdict"`            // RunSame, RunClose …
	End     Number    `json:"end"`                // relative difference of EndMean from the reference's over the same steps; NaN where there is none
	// Behind is how many skipped steps explain that the run ends elsewhere: as many steps before, the reference was BehindEnd from its end.
	Behind    int    `json:"behind,omitempty"`
	BehindEnd Number `json:"behind_end,omitempty"`

	Noise    Number    `json:"noise"`        // how far single steps of the reference lie from their neighbors there, relative to its mean
	Relative Number    `json:"relative"`     // (loss - reference's loss) / |reference's loss| at the last common step
	Worst    Number    `json:"worst"`        // largest relative difference from the reference at any common step
	WorstAt  int       `json:"worst_at"`     // its step
	Diverged int       `json:"diverged"`     // first step whose loss is not finite; -1: none
	At       []int     `json:"at,omitempty"` // steps of Loss when it was thinned; else Loss[i] is step i
	Loss     []Number  `json:"loss"`
	Diff     []Number  `json:"diff,omitempty"`     // (loss - reference's loss) / |reference's loss| at the steps of Loss, three digits; NaN where there is none
	Ops      []OpError `json:"ops,omitempty"`      // op by op, in the order in which they ran
	OpsMore  int       `json:"ops_more,omitempty"` // ops with smaller errors, left out
	OpsNote  string    `json:"ops_note,omitempty"` // what kept ops from being compared
}

const (
	maxRuns       = 12
	maxLossPoints = 1500 // over all runs
)

// Compare sets runs beside each other and says whether they end where the first one, the reference, does: widgets.Compare(fp32, amp)
// answers "did AMP change my result?". It shows the loss curves and how far each is from the reference step by step, what a step took in
// time and memory, and, where the runs bring their traces, the error of every op. Runs of different lengths are compared over the
// steps that both have; runs without losses are shown as such.
func Compare(runs ...Run) *Figure {
	d := &CompareData{Runs: []RunRow{}, More: max(len(runs)-maxRuns, 0)}
	shown := runs[:min(len(runs), maxRuns)]
	f := &Figure{Schema: Schema, Kind: KindCompare, Title: "Loss of runs side by side", Runs: d}
	times, peaks := make([]int64, len(shown)), make([]int64, len(shown))
	typed := slices.ContainsFunc(shown, func(r Run) bool { return knownDType(r.DType) != amp.NoDType })
	traced := 0
	for _, r := range shown[min(1, len(shown)):] {
		if r.Trace != nil && shown[0].Trace != nil {
			traced++
		}
	}
	for i, r := range shown {
		row := summarize(r, shown[0], maxLossPoints/len(shown))
		if row.DType == amp.NoDType && typed { // no autocast
			row.DType = amp.Float32
		}
		if row.Name == "" && row.DType != amp.NoDType {
			row.Name = row.DType.String()
		} else if row.Name == "" {
			row.Name = fmt.Sprintf("run %d", i+1)
		}
		if i == 0 {
			row.Diff = nil // against itself
		} else if traced > 0 {
			ops, note := opErrors(shown[0].Trace, r.Trace)
			row.Ops, row.OpsMore = keepWorst(ops, maxOpErrors/traced)
			row.OpsNote = note
		}
		d.Runs = append(d.Runs, row)
		times[i], peaks[i] = median(r.StepNS), max(r.Bytes, 0)
	}
	measured := func(n int64) bool { return n > 0 }
	if slices.ContainsFunc(times, measured) || slices.ContainsFunc(peaks, measured) {
		f.Volatile = &Volatile{NS: times}
		if slices.ContainsFunc(peaks, measured) {
			f.Volatile.Peaks = peaks
		}
	}
	if !slices.ContainsFunc(shown, func(r Run) bool { return len(r.Loss) > 0 }) {
		d.Missing = "No losses to compare: give widgets.Compare runs with their Loss per step."
	}
	d.Answer = d.answer()
	if d.asksAMP() {
		f.Title = "Did AMP change the result?"
	}
	f.Alt = d.Answer
	if d.Missing == "" {
		f.Alt = clip(d.Answer+" "+d.finding(), maxAlt)
	}
	for limit := maxLossPoints / max(len(shown), 1) / 2; limit >= 2; limit /= 2 {
		if b, err := f.MarshalJSON(); err != nil || len(b) <= MaxJSON {
			break
		}
		for i := range d.Runs {
			d.Runs[i].thin(shown[i], shown[0], limit)
			if i == 0 {
				d.Runs[i].Diff = nil
			}
		}
	}
	f.normalize()
	return f
}

// summarize makes the row of a run against the reference.
func summarize(r, ref Run, limit int) RunRow {
	nan := Number(math.NaN())
	row := RunRow{
		Name: clip(r.Name, maxName), DType: knownDType(r.DType), Steps: len(r.Loss), Skipped: max(r.Skipped, 0),
		First: nan, Final: nan, Best: nan, Relative: nan, Worst: nan, Diverged: -1,
	}
	for i, v := range r.Loss {
		n := number(v)
		if !n.finite() {
			if row.Diverged < 0 {
				row.Diverged = i
			}
			continue
		}
		if !row.Best.finite() || n < row.Best {
			row.Best = n
		}
		if i < len(ref.Loss) {
			if rel := relative(v, ref.Loss[i]); rel.finite() && (!row.Worst.finite() || abs(rel) > abs(row.Worst)) {
				row.Worst, row.WorstAt = rel, i
			}
		}
	}
	if n := len(r.Loss); n > 0 {
		row.First, row.Final = number(r.Loss[0]), number(r.Loss[n-1])
		if k := min(n, len(ref.Loss)); k > 0 {
			row.Relative = relative(r.Loss[k-1], ref.Loss[k-1])
		}
	}
	row.judge(r, ref)
	row.thin(r, ref, limit)
	return row
}

// thin sets the stored losses, at most limit of them, and their differences from the reference.
func (r *RunRow) thin(run, ref Run, limit int) {
	r.At, r.Loss = thinLoss(run.Loss, limit)
	r.Diff = nil
	if len(ref.Loss) == 0 {
		return
	}
	for i := range r.Loss {
		d := Number(math.NaN())
		if k := r.Step(i); k < len(ref.Loss) {
			d = relative(run.Loss[k], ref.Loss[k])
		}
		if d.finite() {
			d = digits(float64(d), 3)
		} else {
			d = Number(math.NaN())
		}
		r.Diff = append(r.Diff, d)
	}
}

// digits rounds to n significant digits: what a picture is read to, in few bytes.
func digits(v float64, n int) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number(v)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', n-1, 64), 64)
	if err != nil {
		return number(v)
	}
	return number(short)
}

// relative is (v - ref) / |ref|; two equal values differ by 0 also where ref is 0.
func relative(v, ref float64) Number {
	if v == ref {
		return 0
	}
	return number((v - ref) / math.Abs(ref))
}

func abs(n Number) Number { return Number(math.Abs(float64(n))) }

// thinLoss keeps at most limit points: of each stretch the lowest and the highest loss, and both ends. A value that is not
// finite counts as the highest, so that a divergence is never thinned away.
func thinLoss(v []float64, limit int) ([]int, []Number) {
	if len(v) <= limit {
		return nil, numbers(v)
	}
	rank := func(x float64) float64 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return math.Inf(1)
		}
		return x
	}
	keep := []int{0}
	buckets := max(limit/2-1, 1)
	for b := range buckets {
		from, to := 1+b*(len(v)-2)/buckets, 1+(b+1)*(len(v)-2)/buckets
		if from >= to {
			continue
		}
		lo, hi := from, from
		for i := from; i < to; i++ {
			if rank(v[i]) < rank(v[lo]) {
				lo = i
			}
			if rank(v[i]) > rank(v[hi]) {
				hi = i
			}
		}
		keep = append(keep, min(lo, hi))
		if lo != hi {
			keep = append(keep, max(lo, hi))
		}
	}
	keep = append(keep, len(v)-1)
	out := make([]Number, len(keep))
	for i, k := range keep {
		out[i] = number(v[k])
	}
	return keep, out
}

// Step returns the step of the i-th stored loss.
func (r *RunRow) Step(i int) int {
	if i < len(r.At) {
		return r.At[i]
	}
	return i
}

// median of the durations, 0 for none.
func median(ns []int64) int64 {
	if len(ns) == 0 {
		return 0
	}
	s := slices.Clone(ns)
	slices.Sort(s)
	return s[len(s)/2]
}

// LossText writes a loss with five significant digits.
func LossText(n Number) string {
	if !n.finite() {
		return strings.TrimPrefix(fmt.Sprint(float64(n)), "+")
	}
	return fmt.Sprintf("%.5g", float64(n))
}

// finding is the figure in a sentence or two.
func (d *CompareData) finding() string {
	if d.Missing != "" {
		return d.Missing
	}
	ref := d.Runs[0]
	parts := []string{fmt.Sprintf("Mean loss at the end of %s: %s %s", plural(ref.Steps, "step"), ref.Name, ref.EndMeanText())}
	shown := d.Runs[1:min(len(d.Runs), 6)]
	for _, r := range shown {
		p := fmt.Sprintf("%s %s", r.Name, r.EndMeanText())
		switch {
		case r.Diverged >= 0:
			p += fmt.Sprintf(" (not finite from step %s)", Count(r.Diverged))
		}
		if r.Skipped > 0 {
			p += fmt.Sprintf(" with %s skipped", plural(r.Skipped, "step"))
		}
		parts = append(parts, p)
	}
	s := strings.Join(parts, ", ") + "."
	if more := len(d.Runs) - 1 - len(shown) + d.More; more > 0 {
		s += " And " + plural(more, "more run") + "."
	}
	return s
}
