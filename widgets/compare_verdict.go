package widgets

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// What a comparison says of a run against the reference.
const (
	RunSame     = "same"     // every common loss is the same number
	RunClose    = "close"    // it ends where the reference does, as far as the loss of single steps tells, or did as many steps before as it skipped
	RunHigher   = "higher"   // it ends with a higher loss
	RunLower    = "lower"    // it ends with a lower loss
	RunDiverged = "diverged" // its loss is not finite where the reference's is
	RunUnknown  = "unknown"  // there are no common steps to tell by
)

// The end of a run is the mean over the last tenth of the common steps, at most maxTail; ends closer than leastChange are the same to
// people.
const (
	maxTail     = 50
	leastChange = 0.01
)

// judge compares the ends of a run and of the reference over their common steps.
func (r *RunRow) judge(run, ref Run) {
	nan := Number(math.NaN())
	r.Common = min(len(run.Loss), len(ref.Loss))
	r.Verdict, r.EndMean, r.End, r.Noise = RunUnknown, nan, nan, nan
	if r.Common == 0 {
		return
	}
	a, b := ref.Loss[:r.Common], run.Loss[:r.Common]
	tail := min(max(r.Common/10, 1), maxTail)
	r.EndMean = number(mean(b[r.Common-tail:]))
	if !r.EndMean.finite() {
		r.EndMean = nan
	}
	if slices.Equal(a, b) {
		r.Verdict, r.End, r.Noise = RunSame, 0, 0
		return
	}
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	if lost := slices.IndexFunc(b, func(v float64) bool { return !finite(v) }); lost >= 0 {
		if finite(a[lost]) {
			r.Verdict = RunDiverged
		}
		return
	}
	all := a
	a, b = a[r.Common-tail:], b[r.Common-tail:]
	ma, mb := mean(a), mean(b)
	if !finite(ma) {
		return
	}
	change := relative(mb, ma)
	if !change.finite() {
		return
	}
	r.End, r.Noise = digits(float64(change), 3), digits(jitter(a)/math.Abs(ma), 3)
	switch limit := math.Max(leastChange, float64(r.Noise)); {
	case math.Abs(float64(change)) <= limit:
		r.Verdict = RunClose
	case r.explained(all, mb, tail, limit):
		r.Verdict = RunClose
	case change > 0:
		r.Verdict = RunHigher
	default:
		r.Verdict = RunLower
	}
}

// explained says whether skipped steps alone make the difference: whether the run ends where the reference was as many steps before.
func (r *RunRow) explained(ref []float64, end float64, tail int, limit float64) bool {
	from := len(ref) - tail - r.Skipped
	if r.Skipped == 0 || from < 0 {
		return false
	}
	before := mean(ref[from : from+tail])
	change := relative(end, before)
	if !change.finite() || math.Abs(float64(change)) > limit {
		return false
	}
	r.Behind, r.BehindEnd = r.Skipped, digits(float64(change), 3)
	return true
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// jitter is how far single steps lie from their neighbors, as a standard deviation: half of the mean square of the differences, which a
// trend does not enter; 0 for fewer than three.
func jitter(v []float64) float64 {
	if len(v) < 3 {
		return 0
	}
	sum := 0.0
	for i := range len(v) - 1 {
		sum += float64((v[i+1] - v[i]) * (v[i+1] - v[i])) // rounded before it is added: the same on every processor
	}
	return math.Sqrt(sum / float64(len(v)-1) / 2)
}

// asksAMP says whether the figure answers what autocast did: a float32 run against others under autocast.
func (d *CompareData) asksAMP() bool {
	return len(d.Runs) > 1 && d.Runs[0].DType == amp.Float32 && !slices.ContainsFunc(d.Runs[1:], func(r RunRow) bool { return !r.DType.IsHalf() })
}

// answer says in a sentence whether the runs end where the reference does.
func (d *CompareData) answer() string {
	if d.Missing != "" {
		return d.Missing
	}
	if len(d.Runs) == 1 {
		return "One run, and nothing to compare it with."
	}
	var changed, close, unknown []string
	noise, times := Number(0), slices.ContainsFunc(d.Runs[1:], func(r RunRow) bool { return r.Verdict == RunHigher && r.End >= manyTimes && d.positive() })
	for i := range d.Runs[1:] {
		r := &d.Runs[i+1]
		if text := r.against(d.Runs[0].Name, times); r.Verdict == RunSame || r.Verdict == RunClose {
			close = append(close, text)
			noise = max(noise, r.Noise)
		} else if r.Verdict == RunUnknown {
			unknown = append(unknown, text)
		} else {
			changed = append(changed, text)
		}
	}
	yes, no := "Yes: ", "No: "
	if !d.asksAMP() {
		yes, no = "They differ: ", "They agree: "
	}
	all := slices.Concat(changed, close, unknown)
	const most = 4
	if more := len(all) - most; more > 0 {
		all = append(all[:most], plural(more+d.More, "more run"))
	}
	s := strings.Join(all, "; ") // names of runs have commas
	switch {
	case len(changed) > 0:
		s = yes + s
	case len(close) > 0:
		s = no + s
		if noise > leastChange {
			s += fmt.Sprintf("; from step to step the loss itself moves by %s", shareText(noise))
		}
	default:
		s = "Nobody can tell: " + s
	}
	return s + "."
}

// against says in a few words how a run ends, by what factor where another of the same sentence does.
func (r *RunRow) against(ref string, times bool) string {
	switch r.Verdict {
	case RunSame:
		return fmt.Sprintf("%s has the same losses as %s, bit for bit", r.Name, ref)
	case RunClose:
		if r.Behind > 0 {
			return fmt.Sprintf("%s ends within %s of where %s was %s before, and it skipped as many", r.Name, shareText(max(abs(r.BehindEnd), 1e-4)), ref, plural(r.Behind, "step"))
		}
		return fmt.Sprintf("%s ends within %s of %s", r.Name, shareText(max(abs(r.End), 1e-4)), ref)
	case RunHigher, RunLower:
		if times {
			return fmt.Sprintf("%s ends at %s times %s", r.Name, timesText(float64(r.End)+1), ref)
		}
		if r.End < 0 {
			return fmt.Sprintf("%s ends %s below %s", r.Name, shareText(abs(r.End)), ref)
		}
		return fmt.Sprintf("%s ends %s above %s", r.Name, shareText(abs(r.End)), ref)
	case RunDiverged:
		return fmt.Sprintf("the loss of %s is not finite from step %s on", r.Name, Count(r.Diverged))
	}
	if r.Common == 0 {
		return fmt.Sprintf("%s has no step in common with %s", r.Name, ref)
	}
	return fmt.Sprintf("%s cannot be held against %s, whose loss is not finite", r.Name, ref)
}

// EndMeanText writes the mean loss at the end, which EndText is the difference of; "–" where it is not known.
func (r *RunRow) EndMeanText() string {
	if !r.EndMean.finite() || r.EndMean == 0 && r.Final != 0 {
		return "–"
	}
	return LossText(r.EndMean)
}

// shareText writes a share of a loss for people: "0.12%", "under 0.01%", "1,200%".
func shareText(n Number) string {
	switch v := float64(n); {
	case v == 0:
		return "0%"
	case v < 10:
		return decimal(100*v, 2) + "%"
	default:
		return strings.TrimPrefix(RelativeText(n), "+")
	}
}

// Lengths says what steps the runs are compared over where their lengths differ; "" where all are of a length.
func (d *CompareData) Lengths() string {
	if len(d.Runs) < 2 {
		return ""
	}
	var parts []string
	for _, r := range d.Runs[1:] {
		if r.Steps > 0 && r.Steps != d.Runs[0].Steps && r.Common > 0 {
			parts = append(parts, fmt.Sprintf("%s has %s", r.Name, plural(r.Steps, "step")))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s has %s, %s: each is compared over the steps that both have.", d.Runs[0].Name, plural(d.Runs[0].Steps, "step"), strings.Join(parts, ", "))
}

// Cost says what the runs took against the reference: time and memory; "" where neither was measured.
func (f *Figure) Cost() string {
	if f.Volatile == nil || f.Runs == nil || len(f.Runs.Runs) < 2 {
		return ""
	}
	var parts []string
	for i := range f.Runs.Runs[1:] {
		var of []string
		if t := ratio(f.Measured(i+1), f.Measured(0)); t != "" {
			of = append(of, t+" the time of a step")
		}
		if m := ratio(f.Peak(i+1), f.Peak(0)); m != "" {
			of = append(of, m+" the memory")
		}
		if len(of) > 0 {
			parts = append(parts, f.Runs.Runs[i+1].Name+" takes "+strings.Join(of, " and "))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts[:min(len(parts), 4)], "; ") + "."
}

// ratio writes a / b for people, "" where one was not measured.
func ratio(a, b int64) string {
	if a <= 0 || b <= 0 {
		return ""
	}
	return decimal(float64(a)/float64(b), 2) + "×"
}

// Peak returns the most tensor memory that the i-th run had in use, in bytes; 0 when that is not known.
func (f *Figure) Peak(i int) int64 {
	if f.Volatile == nil || i < 0 || i >= len(f.Volatile.Peaks) {
		return 0
	}
	return f.Volatile.Peaks[i]
}
