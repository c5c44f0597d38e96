package widgets

import (
	"encoding/json"
	"fmt"
)

// fit merges and thins until the figure's JSON is at most MaxJSON. Every skipped step stays counted in one of the runs.
func (d *ScaleData) fit(f *Figure) {
	d.Skips = mergeSkips(d.Skips, 1)
	for gap := 2; len(d.Skips) > maxSkips; gap *= 2 {
		d.Skips = mergeSkips(d.Skips, gap)
	}
	points := d.Points
	for limit := maxPoints; limit >= 2; limit /= 2 {
		d.Points = ThinPoints(points, limit)
		if b, err := f.MarshalJSON(); err != nil || len(b) <= MaxJSON {
			return
		}
		for gap, goal := 2, len(d.Skips)/2; len(d.Skips) > max(goal, 1); gap *= 2 {
			d.Skips = mergeSkips(d.Skips, gap)
		}
	}
}

// mergeSkips joins runs that start at most gap steps after the one before ended. Only neighbors (gap 1) must agree in
// culprit; wider gaps are for histories with thousands of skips, where the first culprit stands for the run.
func mergeSkips(in []SkipRun, gap int) []SkipRun {
	var out []SkipRun
	for _, r := range in {
		if n := len(out); n > 0 {
			l := &out[n-1]
			same := l.Culprit == r.Culprit && l.Value == r.Value
			if r.First-l.Last <= gap && (same || gap > 1) {
				l.Last, l.Next = r.Last, r.Next
				l.Count += r.Count
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// ThinPoints keeps at most limit points: of each stretch of steps the lowest and the highest scale, and both ends.
func ThinPoints(in []ScalePoint, limit int) []ScalePoint {
	if len(in) <= max(limit, 2) { // both ends are always kept
		return in
	}
	buckets := max(limit/2-1, 1)
	out := []ScalePoint{in[0]}
	for b := range buckets {
		from, to := 1+b*(len(in)-2)/buckets, 1+(b+1)*(len(in)-2)/buckets
		if from == to {
			continue
		}
		lo, hi := from, from
		for i := from; i < to; i++ {
			if in[i].Scale < in[lo].Scale {
				lo = i
			}
			if in[i].Scale > in[hi].Scale {
				hi = i
			}
		}
		out = append(out, in[min(lo, hi)])
		if lo != hi {
			out = append(out, in[max(lo, hi)])
		}
	}
	return append(out, in[len(in)-1])
}

// MarshalJSON writes [step, scale].
func (p ScalePoint) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]any{p.Step, p.Scale})
}

// UnmarshalJSON reads [step, scale].
func (p *ScalePoint) UnmarshalJSON(b []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	if len(raw) != 2 {
		return fmt.Errorf("widgets: a point has %d parts instead of 2", len(raw))
	}
	if err := json.Unmarshal(raw[0], &p.Step); err != nil {
		return err
	}
	return json.Unmarshal(raw[1], &p.Scale)
}
