package widgets

import (
	"fmt"
	"math"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// Fates of a binade in a format.
const (
	FateZero = iota
	FateSubnormal
	FateNormal
	FateOverflow
)

// fateMarks stand below the bars in the text.
var fateMarks = [...]rune{'○', '░', '═', '×'}

// FateOf says what float16 makes of the numbers with 2^e ≤ |g| < 2^(e+1) when they are multiplied by scale.
func FateOf(e int, scale Number) int { return fateIn(amp.FormatFP16, e, scale) }

// FateOf says it of the format that the figure is about.
func (d *ExponentsData) FateOf(e int, scale Number) int { return fateIn(d.format(), e, scale) }

// fateIn is FateOf for any format.
func fateIn(format amp.Format, e int, scale Number) int {
	f := fate(amp.Exponents{Low: e, Counts: []int{1}}, format, float64(scale))
	switch 1 {
	case f.Zero:
		return FateZero
	case f.Subnormal:
		return FateSubnormal
	case f.Overflow:
		return FateOverflow
	}
	return FateNormal
}

// exponentsText draws the figure for a terminal: a histogram of magnitudes over what float16 makes of each, then the modules.
func (f *Figure) exponentsText() string {
	d := f.Exponents
	var b strings.Builder
	b.WriteString(f.Title)
	b.WriteString("\n")
	for _, text := range []string{d.Sentence, d.Rest(), d.Note} {
		if text == "" {
			continue
		}
		for _, l := range wrap(text, 100) {
			b.WriteString("  " + l + "\n")
		}
	}
	if len(d.Counts) == 0 {
		return b.String()
	}
	b.WriteString("\n" + d.bars())
	b.WriteString("\n")
	for _, t := range d.Facts() {
		b.WriteString("  " + pad(t[0], 20) + t[1] + "\n")
	}
	d.formatsText(&b)
	if len(d.Modules) > 1 || d.More > 0 {
		d.table(&b)
	}
	return b.String()
}

// Facts are numbers beside the finding, each with its name.
func (d *ExponentsData) Facts() [][2]string {
	counted := plural(d.N, "number") + " in " + plural(d.Results, "tensor")
	if d.Steps > 0 {
		counted += " of " + plural(d.Steps, "step")
	}
	facts := [][2]string{
		{"counted", counted},
		{"smallest, largest", magnitude(d.Amin) + ", " + magnitude(d.Amax)},
		{"fewer digits", percent(d.Scaled.Subnormal, d.Scaled.All())},
	}
	if d.Infs+d.NaNs > 0 {
		facts = append(facts, [2]string{"not finite", Count(d.Infs) + " infinite, " + Count(d.NaNs) + " NaN"})
	}
	return facts
}

// Metrics are the numbers that a reader wants first.
func (d *ExponentsData) Metrics() []Metric {
	lost := Metric{percent(d.Scaled.Zero, d.Scaled.All()), "lost to zero, unscaled"}
	var out []Metric
	if d.Scale == 1 {
		out = []Metric{lost}
	} else {
		lost.Label = "lost to zero at loss scale " + ScaleText(d.Scale)
		out = []Metric{lost, {percent(d.Unscaled.Zero, d.Unscaled.All()), "lost to zero without it"}}
	}
	if n := d.Infs + d.NaNs; n > 0 {
		out = append(out, Metric{percent(n, d.N), "infinite or NaN"})
	} else {
		out = append(out, Metric{percent(d.Scaled.Overflow, d.Scaled.All()), "overflow"})
	}
	return append(out,
		Metric{d.BestText(), "largest safe loss scale: a static one to try"},
		Metric{magnitude(d.Amax), "largest gradient"})
}

// formatsText lists what other formats lose.
func (d *ExponentsData) formatsText(b *strings.Builder) {
	if len(d.Formats) == 0 {
		return
	}
	b.WriteString("\n  AT THIS SCALE  LOST TO ZERO  OVERFLOW    LARGEST SAFE SCALE\n")
	for _, r := range d.Formats {
		b.WriteString("  " + pad(r.Name, 15) + pad(percent(r.Scaled.Zero, r.Scaled.All()), 14) + pad(percent(r.Scaled.Overflow, r.Scaled.All()), 12) + d.BestIn(&r) + "\n")
	}
}

// ZeroShare is the part of a module's gradients that was zero when it was counted.
func (m ExponentRow) ZeroShare() string { return percent(m.Zeros, m.N) }

// bars draws one column for one, two, four … binades.
func (d *ExponentsData) bars() string {
	per := 1
	for (len(d.Counts)+per-1)/per > sparkWidth {
		per *= 2
	}
	first := int(math.Floor(float64(d.Low)/float64(per))) * per
	n := (d.Low+len(d.Counts)-1-first)/per + 1
	sums, most := make([]int, n), 0
	for i, k := range d.Counts {
		c := (d.Low + i - first) / per
		sums[c] += k
		most = max(most, sums[c])
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	line, without, with := make([]rune, n), make([]rune, n), make([]rune, n)
	for c, k := range sums {
		line[c] = ' '
		if k > 0 {
			line[c] = levels[int(math.Ceil(float64(k)/float64(most)*float64(len(levels))))-1]
		}
		without[c], with[c] = fateMarks[d.FateOf(first+c*per, 1)], fateMarks[d.FateOf(first+c*per, d.Scale)]
	}
	var b strings.Builder
	label := func(s string) string { return "  " + pad(s, 20) }
	b.WriteString(label("gradients") + string(line) + "\n")
	if d.Scale != 1 {
		b.WriteString(label("× "+ScaleText(d.Scale)) + string(with) + "\n")
	}
	b.WriteString(label("without a scale") + string(without) + "\n")
	ends := []string{log2Text(float64(first)), log2Text(float64(first + n*per - 1))}
	gap := max(n-width(ends[0]), width(ends[1])+1)
	b.WriteString(label("") + ends[0] + padLeft(ends[1], gap) + "\n")
	b.WriteString(label("in "+d.In()) + "○ lost to zero  ░ fewer digits  ═ kept  × overflow\n")
	return b.String()
}

// table lists the modules.
func (d *ExponentsData) table(b *strings.Builder) {
	b.WriteString("\n  MODULE                        SMALLEST   LARGEST    LOST NOW     LOST WITHOUT\n")
	for _, m := range d.Modules {
		name := m.Module
		if name == "" {
			name = "(top level)"
		}
		line := "  " + pad(clip(name, 28), 30) + pad(magnitude(m.Amin), 11) + pad(magnitude(m.Amax), 11) + pad(lost(m.Scaled), 13) + lost(m.Unscaled)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if d.More > 0 {
		fmt.Fprintf(b, "  … and %s more\n", Count(d.More))
	}
}

// lost says how much of a module's gradients goes to zero, and whether any overflow.
func lost(f Fate) string {
	s := percent(f.Zero, f.All())
	if f.Overflow > 0 {
		s += " ×" + percent(f.Overflow, f.All())
	}
	return s
}

// Magnitude writes the size of a gradient as a power of two, for figures: "2^-14.3".
func Magnitude(v Number) string { return magnitude(v) }

// magnitude writes a gradient's size as a power of two, to a tenth.
func magnitude(v Number) string {
	if !(v > 0) || !v.finite() {
		return "0"
	}
	return log2Text(math.Round(10*math.Log2(float64(v))) / 10)
}

// Lost says how much of a module's gradients goes to zero, for figures: "4.1%"; with × what overflows.
func (f Fate) Lost() string { return lost(f) }
