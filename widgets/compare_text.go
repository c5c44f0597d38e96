package widgets

import (
	"fmt"
	"math"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// compareText draws the figure for a terminal: a table with a sparkline of each loss curve.
func (f *Figure) compareText() string {
	d := f.Runs
	var b strings.Builder
	b.WriteString(f.Title + "\n")
	if d.Missing != "" {
		b.WriteString("  " + d.Missing + "\n")
		return b.String()
	}
	for _, text := range []string{d.Answer, d.Lengths(), f.Cost()} {
		if text != "" {
			for _, l := range wrap(text, 110) {
				line(&b, l)
			}
		}
	}
	b.WriteString("\n")
	name := width("RUN")
	for _, r := range d.Runs {
		name = max(name, width(r.Name))
	}
	name = min(name, 36) + 4
	first, final, mean := d.columnWidth(10, (*RunRow).firstText), d.columnWidth(11, (*RunRow).finalText), d.columnWidth(13, (*RunRow).EndMeanText)
	timed, sized := f.Measured(0) > 0, f.Volatile != nil && len(f.Volatile.Peaks) > 0
	b.WriteString("  " + pad("RUN", name) + pad("LOSS", 26) + padLeft("FIRST", first) + padLeft("FINAL", final) + padLeft("MEAN AT END", mean) + padLeft("VS FIRST RUN", 14) + padLeft("SKIPPED", 9))
	if timed {
		b.WriteString(padLeft("STEP", 10))
	}
	if sized {
		b.WriteString(padLeft("MEMORY", 10))
	}
	b.WriteString("\n")
	lo, hi := d.Range()
	for i := range d.Runs {
		r := &d.Runs[i]
		diff := d.EndText(i)
		if i == 0 {
			diff = "reference"
		}
		b.WriteString("  " + pad(runMark(r.DType)+" "+clip(r.Name, 36), name) + pad(r.spark(24, lo, hi), 26) +
			padLeft(r.firstText(), first) + padLeft(r.finalText(), final) + padLeft(r.EndMeanText(), mean) + padLeft(diff, 14) + padLeft(Count(r.Skipped), 9))
		if timed {
			t := "–"
			if ns := f.Measured(i); ns > 0 {
				t = Duration(ns)
			}
			b.WriteString(padLeft(t, 10))
		}
		if sized {
			m := "–"
			if n := f.Peak(i); n > 0 {
				m = Bytes(n)
			}
			b.WriteString(padLeft(m, 10))
		}
		b.WriteString("\n")
		if r.Diverged >= 0 {
			fmt.Fprintf(&b, "  %s! loss is not finite from step %s on\n", strings.Repeat(" ", name), Count(r.Diverged))
		}
	}
	if d.More > 0 {
		fmt.Fprintf(&b, "  … and %s\n", plural(d.More, "more run"))
	}
	d.opsText(&b)
	return b.String()
}

func (r *RunRow) firstText() string { return LossText(r.First) }
func (r *RunRow) finalText() string { return LossText(r.Final) }

// columnWidth is least, or what keeps the longest text of a column apart from the column before.
func (d *CompareData) columnWidth(least int, text func(*RunRow) string) int {
	for i := range d.Runs {
		least = max(least, width(text(&d.Runs[i]))+2)
	}
	return least
}

// runMark is a run's dtype as a mark, a blank for a run of none.
func runMark(d amp.DType) string {
	if d == amp.NoDType {
		return " "
	}
	return Mark(d)
}

// opsText draws the error of every op as a bar on a logarithmic axis.
func (d *CompareData) opsText(b *strings.Builder) {
	for i := range d.Runs {
		r := &d.Runs[i]
		if len(r.Ops) == 0 && r.OpsNote == "" {
			continue
		}
		b.WriteString("\n")
		if len(r.Ops) > 0 {
			line(b, fmt.Sprintf("%s op by op: largest difference from %s relative to the largest number, 1e-8 to 1", r.Name, d.Runs[0].Name))
		}
		for k := range r.Ops {
			o := &r.Ops[k]
			if k == 0 || o.Phase != r.Ops[k-1].Phase {
				line(b, "  "+o.Phase)
			}
			bar := strings.Repeat("▇", int(math.Round(32*o.Bar())))
			line(b, "    "+pad(clip(o.Name(), 42), 44)+pad(Mark(o.DType)+" "+o.DType.Short(), 8)+padLeft(o.ErrorText(), 11)+"  "+bar)
		}
		if r.OpsMore > 0 {
			line(b, fmt.Sprintf("  … and %s with smaller errors", plural(r.OpsMore, "op")))
		}
		if r.OpsNote != "" {
			line(b, "  "+r.OpsNote)
		}
	}
}

// maxDrawable is the largest loss that an axis can show.
const maxDrawable = 1e150

// Range is the smallest and largest loss of all runs that can be drawn; 0, 1 when there is none.
func (d *CompareData) Range() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, r := range d.Runs {
		for _, v := range r.Loss {
			if v.finite() && abs(v) < maxDrawable {
				lo, hi = min(lo, float64(v)), max(hi, float64(v))
			}
		}
	}
	if lo > hi {
		return 0, 1
	}
	return lo, hi
}

// Logarithmic says whether the losses are better read on a logarithmic axis: all positive, over more than two decades.
func (d *CompareData) Logarithmic() bool {
	lo, hi := d.Range()
	return lo > 0 && hi/lo > 100
}

// spark draws the loss in blocks, × where it is not finite.
func (r *RunRow) spark(n int, lo, hi float64) string {
	if len(r.Loss) == 0 {
		return "no losses"
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	out := make([]rune, 0, n)
	n = min(n, len(r.Loss))
	for c := range n {
		v := r.Loss[c*len(r.Loss)/n]
		if !v.finite() || abs(v) >= maxDrawable {
			out = append(out, '×')
			continue
		}
		level := 0
		if hi > lo {
			level = int(math.Round((float64(v) - lo) / (hi - lo) * float64(len(levels)-1)))
		}
		out = append(out, levels[level])
	}
	return string(out)
}
