package widgets

import (
	"fmt"
	"math"
	"strings"
)

// barWidth is the number of columns of the progress bar in texts.
const barWidth = 40

// liveText draws the figure for a terminal: where it stands, a bar, a sparkline of the loss, the loss scale, speed and memory.
func (f *Figure) liveText() string {
	d := f.Live
	var b strings.Builder
	fmt.Fprintf(&b, "%s · %s\n", f.Title, d.State)
	if d.Total > 0 {
		fmt.Fprintf(&b, "  %s  %s of %s (%s)\n", bar(d.Step, d.Total, barWidth), Count(d.Step), plural(d.Total, "step"), percent(d.Step, d.Total))
	} else {
		fmt.Fprintf(&b, "  %s\n", plural(d.Step, "step"))
	}
	if line := d.spark(barWidth); line != "" {
		fmt.Fprintf(&b, "  %s  loss %s", pad(line, barWidth), LossText(d.Loss))
		if d.Step > 1 {
			fmt.Fprintf(&b, ", from %s, best %s at step %s", LossText(d.First), LossText(d.Best), Count(d.BestAt))
		}
		b.WriteString("\n")
	}
	if d.Diverged >= 0 {
		fmt.Fprintf(&b, "  ! the loss is not finite since step %s\n", Count(d.Diverged))
	}
	for _, fact := range f.liveFacts() {
		fmt.Fprintf(&b, "  %s %s\n", pad(fact[0], 12), fact[1])
	}
	return b.String()
}

// LiveMetrics are the numbers of a live figure that a reader looks for, the loss first.
func (f *Figure) LiveMetrics() []Metric {
	if f == nil || f.Live == nil {
		return nil // of a figure that is not live
	}
	d, v := f.Live, f.Volatile
	var out []Metric
	if d.Step > 0 && len(d.Points) > 0 {
		label := "loss"
		if d.Step > 1 && d.Best.finite() {
			label += ", from " + LossText(d.First) + "; best " + LossText(d.Best) + " at step " + Count(d.BestAt)
		}
		out = append(out, Metric{LossText(d.Loss), label})
	}
	if d.Scaled() {
		label := "loss scale, no step skipped"
		if d.Skipped > 0 {
			label = "loss scale, " + plural(d.Skipped, "step") + " skipped"
		}
		if d.Collapsed() {
			label = "loss scale: collapsed, " + plural(d.Skipped, "step") + " skipped"
		}
		if d.Culprit != "" {
			label += ", last for " + clip(d.Culprit, 40)
		}
		out = append(out, Metric{ScaleText(d.Scale), label})
	}
	if v == nil {
		return out
	}
	if v.Rate > 0 {
		out = append(out, Metric{rateText(float64(v.Rate)), "speed"})
	}
	switch {
	case d.State == LiveRunning && v.LeftNS > 0:
		out = append(out, Metric{clock(v.LeftNS), "left, " + clock(v.WallNS) + " so far"})
	case v.WallNS > 0:
		out = append(out, Metric{clock(v.WallNS), "time"})
	}
	if v.PeakBytes > 0 {
		label := "memory, peak " + Bytes(v.PeakBytes)
		if d.Device != "" {
			label += ", " + d.Device
		}
		out = append(out, Metric{Bytes(v.Bytes), label})
	}
	return out
}

// liveFacts lists what the text shows beside its bar and curve: pairs of label and value.
func (f *Figure) liveFacts() [][2]string {
	d := f.Live
	var facts [][2]string
	if d.Scaled() {
		scale := ScaleText(d.Scale)
		if d.Collapsed() {
			scale += ", collapsed"
		}
		facts = append(facts, [2]string{"loss scale", scale})
		skipped := Count(d.Skipped) + " of " + plural(d.Step, "step")
		if d.Culprit != "" {
			skipped += " (" + d.Culprit + ")"
		}
		facts = append(facts, [2]string{"skipped", skipped})
	}
	v := f.Volatile
	if v == nil {
		return facts
	}
	if v.Rate > 0 {
		facts = append(facts, [2]string{"speed", rateText(float64(v.Rate))})
	}
	if d.State == LiveRunning && v.LeftNS > 0 {
		facts = append(facts, [2]string{"time left", clock(v.LeftNS)})
	}
	if v.WallNS > 0 {
		facts = append(facts, [2]string{"time", clock(v.WallNS)})
	}
	if v.PeakBytes > 0 {
		facts = append(facts, [2]string{"memory", fmt.Sprintf("%s, peak %s", Bytes(v.Bytes), Bytes(v.PeakBytes))})
	}
	return facts
}

// liveLine is the figure in one line of at most 100 columns, for a terminal.
func (f *Figure) liveLine() string {
	d := f.Live
	var parts []string
	if d.Total > 0 {
		parts = append(parts, fmt.Sprintf("%s %s/%s", bar(d.Step, d.Total, 16), Count(d.Step), Count(d.Total)))
	} else {
		parts = append(parts, plural(d.Step, "step"))
	}
	if d.Step > 0 && !math.IsNaN(float64(d.First)) || d.Diverged >= 0 {
		parts = append(parts, "loss "+LossText(d.Loss)+" "+d.spark(12))
	}
	if d.Scaled() {
		parts = append(parts, "scale "+ScaleText(d.Scale))
	}
	if d.Skipped > 0 {
		parts = append(parts, Count(d.Skipped)+" skipped")
	}
	if v := f.Volatile; v != nil && v.Rate > 0 {
		parts = append(parts, rateText(float64(v.Rate)))
		if d.State == LiveRunning && v.LeftNS > 0 {
			parts = append(parts, clock(v.LeftNS)+" left")
		} else if d.State != LiveRunning {
			parts = append(parts, clock(v.WallNS))
		}
	}
	if d.State != LiveRunning {
		parts = append(parts, d.State)
	}
	line := []rune(strings.Join(parts, " · "))
	return string(line[:min(len(line), 100)])
}

// bar draws progress in eighths of a column.
func bar(done, total, width int) string {
	eighths := int(min(int64(done), int64(total)) * int64(8*width) / int64(max(total, 1)))
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return s + strings.Repeat("░", width-eighths/8-b2i(eighths%8 > 0))
}

// spark draws the loss curve in blocks, × where it is not finite.
func (d *LiveData) spark(width int) string {
	if len(d.Points) == 0 {
		return ""
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range d.Columns(width) {
		if level, ok := d.Level(v); ok {
			b.WriteRune(levels[int(math.Round(level*float64(len(levels)-1)))])
		} else {
			b.WriteRune('×')
		}
	}
	return b.String()
}

// rateText writes a throughput for people: "153 steps/s", "0.42 steps/s".
func rateText(perSecond float64) string {
	switch {
	case perSecond >= 999.5:
		return Count(int64(math.Round(perSecond))) + " steps/s"
	case perSecond >= 1:
		return significant(perSecond) + " steps/s"
	}
	return fmt.Sprintf("%.2g steps/s", perSecond)
}

// clock writes a time that passes: "0.4 s", "12 s", "3 min 05 s", "2 h 07 min". Less would flicker.
func clock(ns int64) string {
	s := (ns + 5e8) / 1e9
	switch {
	case ns < 9.95e9:
		return fmt.Sprintf("%.1f s", float64(ns)/1e9)
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %02d min", s/3600, s%3600/60)
}
