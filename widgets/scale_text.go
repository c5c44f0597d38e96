package widgets

import (
	"fmt"
	"math"
	"strings"
)

// sparkWidth is the number of columns of the sparkline.
const sparkWidth = 64

// scaleText draws the figure for a terminal: verdict, a sparkline of log2(scale) with its skips below, the skipped steps.
func (f *Figure) scaleText() string {
	d := f.Scale
	var b strings.Builder
	fmt.Fprintf(&b, "%s · %s\n", f.Title, d.Verdict)
	for _, l := range wrap(d.Sentence, 100) {
		b.WriteString("  " + l + "\n")
	}
	if d.Note != "" {
		b.WriteString("  note: " + d.Note + "\n")
	}
	if d.Enabled && len(d.Points) > 0 {
		b.WriteString("\n" + d.spark())
		fmt.Fprintf(&b, "\n  effective steps %s of %s nominal\n", Count(d.Effective), Count(d.Nominal))
	}
	if len(d.Culprits) > 0 {
		var names []string
		for _, c := range d.Culprits {
			names = append(names, fmt.Sprintf("%s ×%s", c.Name, Count(c.Count)))
		}
		for i, l := range wrap("overflowed first: "+strings.Join(names, ", "), 98) {
			b.WriteString("  " + strings.Repeat("  ", b2i(i > 0)) + l + "\n")
		}
	}
	if len(d.Skips) > 0 {
		b.WriteString("\n  STEP         SKIPPED   SCALE → NEXT                  CULPRIT\n")
		for _, r := range d.Skips[:min(len(d.Skips), 12)] {
			line := "  " + pad(r.Steps(), 13) + pad("× "+Count(r.Count), 10) + pad(ScaleText(r.Scale)+" → "+ScaleText(r.Next), 30) + r.Blame()
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		if more := len(d.Skips) - 12; more > 0 {
			fmt.Fprintf(&b, "  … and %s more\n", Count(more))
		}
	}
	for _, w := range d.Warnings {
		b.WriteString("  ! " + w + "\n")
	}
	if len(d.Fixes) > 0 {
		b.WriteString("\n  What helps:\n")
		for i, x := range d.Fixes {
			for j, l := range wrap(x.Do+" "+x.Why, 96) {
				b.WriteString([]string{fmt.Sprintf("  %d. ", i+1), "     "}[b2i(j > 0)] + l + "\n")
			}
			if x.Code != "" {
				b.WriteString("       " + x.Code + "\n")
			}
		}
	}
	return b.String()
}

// Steps names the steps of the run: "812" or "3–5".
func (r SkipRun) Steps() string {
	if r.First == r.Last {
		return Count(r.First)
	}
	return Count(r.First) + "–" + Count(r.Last)
}

// Blame names what overflowed: "fc2.weight (+Inf)".
func (r SkipRun) Blame() string {
	switch {
	case r.Culprit == "":
		return r.Value
	case r.Value == "":
		return r.Culprit
	}
	return r.Culprit + " (" + r.Value + ")"
}

// spark draws log2(scale) over the steps in blocks, and below it a × where steps were skipped.
func (d *ScaleData) spark() string {
	last := d.Points[len(d.Points)-1].Step
	n := min(sparkWidth, last+1)
	column := func(step int) int { return min(int(int64(step)*int64(n)/int64(last+1)), n-1) }
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range d.Points {
		lo, hi = min(lo, p.Log2()), max(hi, p.Log2())
	}
	marks := []rune(strings.Repeat(" ", n))
	for _, r := range d.Skips {
		for c := column(r.First); c <= column(r.Last); c++ {
			marks[c] = '×'
		}
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	line := make([]rune, n)
	at := 0
	for c := range n {
		// A column shows the scale at its last step: what a skip in it led to.
		for at+1 < len(d.Points) && column(d.Points[at+1].Step) <= c {
			at++
		}
		level := 3
		if hi > lo {
			level = int(math.Round((d.Points[at].Log2() - lo) / (hi - lo) * float64(len(levels)-1)))
		}
		line[c] = levels[level]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %s  %s\n", padLeft(log2Text(hi), 6), string(line))
	if len(d.Skips) > 0 {
		fmt.Fprintf(&b, "  %s  %s  skips\n", padLeft(log2Text(lo), 6), string(marks))
	}
	end := Count(last)
	fmt.Fprintf(&b, "  %s  0%s\n", padLeft("step", 6), padLeft(end, max(n-1, len(end)+1)))
	return b.String()
}

// log2Text writes an exponent: "2^16", "2^15.3".
func log2Text(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("2^%d", int(v))
	}
	return fmt.Sprintf("2^%.1f", v)
}
