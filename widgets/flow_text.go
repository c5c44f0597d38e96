package widgets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// powerText writes a loss scale as a power of two where it is one, and as ScaleText does otherwise.
func powerText(v Number) string {
	if m, e := math.Frexp(float64(v)); m == 0.5 && v > 0 && v.finite() {
		return fmt.Sprintf("2^%d", e-1)
	}
	return ScaleText(v)
}

// Text writes the range: "2^12 to 2^15", "from 2^12 on" where nothing bounds it, "none" where no scale keeps enough, "–" without gradients.
func (l LossScale) Text() string {
	switch {
	case !(l.Keep > 0) || !(l.Safe > 0):
		return "–"
	case l.Keep > l.Safe:
		return "none"
	case l.Keep == l.Safe:
		return powerText(l.Keep)
	}
	return powerText(l.Keep) + " to " + powerText(l.Safe)
}

// advice says what a loss scale would do for the gradients named by whose, such as "of them".
func (l LossScale) advice(now Number, whose string) string {
	keep, from := "would keep", fmt.Sprintf("loss scales from %s to %s", powerText(l.Keep), powerText(l.Safe))
	if now >= l.Keep && now <= l.Safe {
		keep = "keep"
	}
	switch {
	case !(l.Keep > 0) || !(l.Safe > 0):
		return ""
	case l.Keep > l.Safe:
		return fmt.Sprintf("no one loss scale keeps 99.9%% %s: %s, the largest at which none overflows, keeps %s", whose, powerText(l.Safe), sharePart(l.Kept))
	case l.Keep == l.Safe:
		from = "a loss scale of " + powerText(l.Keep)
		keep = "would keep"
	}
	return fmt.Sprintf("%s %s 99.9%% %s", from, keep, whose)
}

// sharePart writes a part between 0 and 1 as a percentage.
func sharePart(v Number) string { return percent(int(math.Round(float64(v)*1e6)), 1e6) }

// finding is the figure in a sentence or two.
func (d *FlowData) finding() string {
	at := "without a loss scale"
	if d.Scale != 1 {
		at = "at loss scale " + powerText(d.Scale)
	}
	if d.Step >= 0 {
		at = fmt.Sprintf("in step %s %s", Count(d.Step), at)
	}
	ends := "the gradients that reach " + plural(len(d.Ends)+d.Rest, "parameter")
	lost := d.Zeros + d.Bad
	var s string
	switch {
	case d.Here == 0 && lost == 0:
		s = fmt.Sprintf("Nothing was lost %s: float64 finds no gradient that became zero or not finite on the way", at)
	case lost == 0:
		s = fmt.Sprintf("On the way %s were lost %s, but none of %s is zero or not finite that is not so in float64", plural(d.Here, "gradient"), at, ends)
	default:
		var parts []string
		if d.Zeros > 0 {
			parts = append(parts, percent(d.Zeros, d.Wanted)+" are zero")
		}
		if d.Bad > 0 {
			parts = append(parts, percent(d.Bad, d.Wanted)+" are not finite")
		}
		s = fmt.Sprintf("Of %s, %s %s and should not be", ends, strings.Join(parts, " and "), at)
	}
	if a := d.Fit.advice(d.Scale, "at every op"); a != "" {
		s += ". " + capital(a)
	}
	return s + "."
}

// place names an op: "mlp.go:12 linear in net/0".
func place(where, op, module string) string {
	s := strings.TrimSpace(where + " " + op)
	if module != "" {
		s += " in " + module
	}
	return s
}

// OpText is the op, of a cast with the op that it is for: "cast for softmax".
func (r *FlowRow) OpText() string {
	if r.For != "" {
		return r.Op + " for " + r.For
	}
	return r.Op
}

// What is the gradient as a derivative: "dL/dx".
func (r *FlowRow) What() string { return "dL/d" + r.Of }

// worst returns the rows that lost most here, n at most, the worst first.
func (d *FlowData) worst(n int) []*FlowRow {
	var rows []*FlowRow
	for i := range d.Rows {
		if d.Rows[i].Here() > 0 {
			rows = append(rows, &d.Rows[i])
		}
	}
	slices.SortStableFunc(rows, func(a, b *FlowRow) int { return cmp.Compare(b.Here(), a.Here()) })
	return rows[:min(n, len(rows))]
}

// Lines say of the rows that lost most, n at most, what was lost there and what would have kept it.
func (d *FlowData) Lines(n int) []string {
	var out []string
	for _, r := range d.worst(n) {
		out = append(out, r.line(d.Scale))
	}
	return out
}

func (r *FlowRow) line(now Number) string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			share := percent(n, r.Wanted)
			if len(parts) == 0 {
				share += " of " + r.What()
			}
			parts = append(parts, share+" "+what)
		}
	}
	add(r.Zeros, "flushed to zero here")
	add(r.Infs, "became infinite here")
	add(r.NaNs, "became NaN here")
	add(r.Before(), "had been lost before")
	s := fmt.Sprintf("%s, %v: %s", place(r.Where, r.OpText(), r.Module), r.DType, strings.Join(parts, ", "))
	if a := r.Fit.advice(now, "of them"); a != "" {
		s += "; " + a
	}
	return s + "."
}

// Notes are what a reader must know.
func (d *FlowData) Notes() []string {
	var out []string
	if d.Note != "" {
		out = append(out, d.Note)
	}
	if d.Born > 0 {
		out = append(out, plural(d.Born, "gradient")+" are not finite in float64 either: the forward pass has such values, or the derivative is so, and no loss scale helps.")
	}
	if d.Skip > 0 {
		out = append(out, fmt.Sprintf("%s could not be compared: %s.", plural(d.Skip, "gradient tensor"), strings.TrimSuffix(d.Why, ".")))
	}
	return out
}

// Metrics are the numbers that a reader wants first.
func (d *FlowData) Metrics() []Metric {
	scale := "none"
	if d.Scale != 1 {
		scale = powerText(d.Scale)
	}
	lost := []Metric{{percent(d.Zeros, d.Wanted), "of the parameters' gradients lost to zero"}, {percent(d.Bad, d.Wanted), "of the parameters' gradients not finite"}}
	if d.Bad > d.Zeros {
		slices.Reverse(lost)
	}
	return []Metric{lost[0], lost[1],
		{d.Fit.Text(), "loss scales that keep 99.9% on the way"},
		{scale, "loss scale of this pass"},
	}
}

// The parts of a bar, in order.
const (
	FlowKept = iota
	FlowSubnormal
	FlowZero
	FlowOver
	FlowBefore
)

// FlowMarks stand for the parts of a bar where there is no color.
var FlowMarks = [...]string{FlowKept: "═", FlowSubnormal: "░", FlowZero: "○", FlowOver: "×", FlowBefore: "·"}

// FlowParts names the parts of a bar.
var FlowParts = [...]string{FlowKept: "kept", FlowSubnormal: "fewer digits", FlowZero: "flushed to zero here", FlowOver: "not finite here", FlowBefore: "lost before"}

// Parts are the numbers of a row by what became of them, as FlowParts has them.
func (r *FlowRow) Parts() [5]int {
	return [5]int{r.Kept(), r.Subnormal, r.Zeros, r.Infs + r.NaNs, r.Before()}
}

// Bar draws the parts in n columns; what there is any of has one at least.
func (r *FlowRow) Bar(n int) string {
	parts, all := r.Parts(), 0
	for _, k := range parts {
		all += k
	}
	if all == 0 {
		return strings.Repeat(" ", n)
	}
	cells, used, most := [5]int{}, 0, 0
	for i, k := range parts {
		if k > 0 {
			cells[i] = max(int(math.Round(float64(n)*float64(k)/float64(all))), 1)
		}
		used += cells[i]
		if cells[i] > cells[most] {
			most = i
		}
	}
	cells[most] += n - used
	var b strings.Builder
	for i, k := range cells {
		b.WriteString(strings.Repeat(FlowMarks[i], max(k, 0)))
	}
	return b.String()
}

// flowText draws the figure for a terminal: the finding, the worst places, and the walk from the loss to the parameters.
func (f *Figure) flowText() string {
	d := f.Flow
	var b strings.Builder
	b.WriteString(f.Title + "\n")
	for _, text := range append([]string{d.Sentence}, d.Notes()...) {
		paragraph(&b, text, "", "")
	}
	if d.Missing != "" {
		return b.String()
	}
	for _, l := range d.Lines(3) {
		paragraph(&b, l, "- ", "  ")
	}
	if len(d.Rows) > 0 {
		d.rowsText(&b)
	}
	if len(d.Ends) > 0 {
		d.endsText(&b)
	}
	return b.String()
}

// flowBar is the width of the bars in the text.
const flowBar = 20

func (d *FlowData) rowsText(b *strings.Builder) {
	table := [][]string{{"FROM THE LOSS ON", "GRADIENT", "DTYPE", "WHAT BECAME OF IT", "LOST HERE", "BEFORE", "KEEPS 99.9%"}}
	for i := range d.Rows {
		r := &d.Rows[i]
		table = append(table, []string{clip(place(r.Where, r.OpText(), r.Module), 44), clip(r.What(), 18), r.DType.Short(), r.Bar(flowBar), r.HereText(), r.BeforeText(), r.FitText()})
	}
	writeTable(b, table)
	if d.More > 0 {
		fmt.Fprintf(b, "  … and %s that lost less\n", plural(d.More, "more row"))
	}
	for i, m := range FlowMarks {
		b.WriteString("  " + m + " " + FlowParts[i])
	}
	b.WriteString("\n")
}

// HereText is the share lost here, "" without any.
func (r *FlowRow) HereText() string { return shareOr(r.Here(), r.Wanted) }

// BeforeText is the share that arrived lost, "" without any.
func (r *FlowRow) BeforeText() string { return shareOr(r.Before(), r.Wanted) }

func shareOr(n, all int) string {
	if n == 0 {
		return ""
	}
	return percent(n, all)
}

// FitText is the range of loss scales of a row that a loss scale matters to.
func (r *FlowRow) FitText() string {
	if !r.DType.IsHalf() && r.Here() == 0 {
		return ""
	}
	return r.Fit.Text()
}

func (d *FlowData) endsText(b *strings.Builder) {
	table := [][]string{{"PARAMETER", "ZERO", "NOT FINITE", "ERROR", "FIRST LOST AT"}}
	for i := range d.Ends {
		e := &d.Ends[i]
		table = append(table, []string{clip(e.Label(), 34), percent(e.Zeros, e.Wanted), percent(e.Bad, e.Wanted), e.ErrorText(), e.First})
	}
	writeTable(b, table)
	if d.Rest > 0 {
		fmt.Fprintf(b, "  … and %s more\n", Count(d.Rest))
	}
}

// Label is the parameter's name.
func (e *FlowEnd) Label() string {
	if e.Name == "" {
		return "(no name)"
	}
	return e.Name
}

// ErrorText writes the relative error of the whole gradient: "3.1e-4".
func (e *FlowEnd) ErrorText() string {
	if e.Error == 0 {
		return "0"
	}
	return decimal(float64(e.Error), 2)
}

// writeTable writes rows in columns as wide as they need, with an empty line before.
func writeTable(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], width(c))
		}
	}
	b.WriteString("\n")
	for _, r := range rows {
		line := " "
		for i, c := range r {
			line += " " + pad(c, widths[i]+1)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func (d *FlowData) normalize() {
	d.Missing, d.Sentence, d.Note, d.Device, d.Why = clip(d.Missing, maxRule), clip(d.Sentence, maxAlt), clip(d.Note, maxRule), clip(d.Device, maxName), clip(d.Why, maxRule)
	clamp(&d.Step, -1)
	for _, n := range []*int{&d.Wanted, &d.Zeros, &d.Bad, &d.Born, &d.Later, &d.Here, &d.More, &d.Rest, &d.Skip} {
		clamp(n, 0)
	}
	if !(d.Scale > 0) || !d.Scale.finite() {
		d.Scale = 1
	}
	d.Fit.normalize()
	d.cut(maxFlowRows, maxFlowEnds)
	for i := range d.Rows {
		r := &d.Rows[i]
		r.Op, r.For, r.Of, r.Module, r.Where = clip(r.Op, maxName), clip(r.For, maxName), clip(r.Of, maxName), clip(r.Module, maxName), clip(r.Where, maxName)
		r.DType = knownDType(r.DType)
		clamp(&r.Calls, 0)
		for _, n := range []*int{&r.Wanted, &r.Zeros, &r.Gone, &r.Subnormal, &r.Infs, &r.NaNs, &r.Spread, &r.Born} {
			clamp(n, 0)
		}
		r.Fit.normalize()
	}
	for i := range d.Ends {
		e := &d.Ends[i]
		e.Name, e.First = clip(e.Name, maxName), clip(e.First, maxName)
		for _, n := range []*int{&e.Wanted, &e.Zeros, &e.Bad} {
			clamp(n, 0)
		}
	}
}

func (l *LossScale) normalize() {
	for _, s := range []*Number{&l.Keep, &l.Safe, &l.Kept} {
		if !(*s > 0) || !s.finite() {
			*s = 0
		}
	}
}
