package widgets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// Precision writes how a site's dtypes went: "fp32 → fp16 ▮" when the op computed in another dtype than its inputs had,
// "fp16 ▮" when not, with " ⇒ fp32" behind it when the result has yet another.
func (s *Site) Precision() string {
	text := s.Compute.Short() + " " + Mark(s.Compute)
	if from := s.From(); from != "" {
		text = from + " → " + text
	}
	if to := s.To(); to != "" {
		text += " ⇒ " + to
	}
	return text
}

// From names the float dtypes that the inputs had, "" when they all had the dtype the op computed in.
func (s *Site) From() string {
	var from []string
	for _, t := range s.In {
		if t.IsFloat() && !slices.Contains(from, t.Short()) {
			from = append(from, t.Short())
		}
	}
	if len(from) == 1 && from[0] == s.Compute.Short() {
		return ""
	}
	return strings.Join(from, "+")
}

// To names the dtype of the result, "" when the op computed in it.
func (s *Site) To() string {
	if s.Out == s.Compute || s.Out == amp.NoDType {
		return ""
	}
	return s.Out.Short()
}

// Times writes how often a site runs per step: "" for once, " ×2" for twice, " ×4 in 3 steps" where steps differ.
func (d *DecisionsData) Times(s *Site) string {
	steps := max(d.Steps, 1)
	switch {
	case s.Calls == steps:
		return ""
	case s.Calls%steps != 0:
		return " ×" + Count(int64(s.Calls)) + " in " + plural(steps, "step")
	}
	return " ×" + Count(int64(s.Calls/steps))
}

// maxText bounds the text in bytes; the table of the HTML has more rows.
const maxText = 10 << 10

// columns of the text table.
const (
	colOp       = 24
	colForward  = 17
	colWhy      = 40
	colBackward = 28
)

// decisionsText draws the figure for a terminal.
func (f *Figure) decisionsText() string {
	d := f.Decisions
	var b strings.Builder
	b.WriteString(strings.Join(append([]string{f.Title}, d.Strip()...), " · ") + "\n")
	if d.Note != "" {
		b.WriteString("note: " + d.Note + "\n")
	}
	if d.Missing != "" {
		b.WriteString(d.Missing + "\n")
		return b.String()
	}
	b.WriteString("  " + d.Calls() + "\n")
	for _, m := range d.Metrics() {
		b.WriteString("  " + m.Value + " " + m.Label + "\n")
	}
	b.WriteString("\n")
	row(&b, "OP", "FORWARD", "WHY", "BACKWARD", "LINE")
	b.WriteString(strings.Repeat("─", colOp+colForward+colWhy+colBackward+8) + "\n")
	more := d.More
	for _, m := range d.Modules() {
		if b.Len() > maxText {
			more += max(len(m.Rows), 1)
			continue
		}
		b.WriteString(m.Name() + "\n")
		for _, r := range m.Rows {
			if b.Len() > maxText {
				more++
				continue
			}
			d.textRow(&b, r)
		}
		if len(m.Backward) > 0 {
			row(&b, "  (backward)", "", "", d.backwardText(m.Backward), "")
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "… and %s\n", plural(more, "more row"))
	}
	if d.Format != "" {
		fmt.Fprintf(&b, "\n    2^%-7d %s  2^%d: what %s makes of each: ○ lost to zero  ░ fewer digits  ═ kept  × overflow\n", StripLow, d.HealthAxis(), StripHigh, d.Format)
	}
	b.WriteString("\n▮ float16  ▯ bfloat16  ■ float32  ▢ other")
	if o := f.Overhead(); o != "" {
		b.WriteString("     " + o)
	}
	b.WriteString("\n")
	if forces := d.Forces(); len(forces) > 0 {
		b.WriteString("To decide otherwise: " + d.Override(forces[0]) + "\n")
	}
	return b.String()
}

// textRow draws a forward site with its casts.
func (d *DecisionsData) textRow(b *strings.Builder, r SiteRow) {
	s := &d.Sites[r.Forward]
	why := d.Rule(s)
	if s.Dims != nil {
		why += " (tensor cores: " + s.Dims.Text() + ")"
	}
	if s.Saved > 0 {
		why += "; saves " + Bytes(d.StepBytes(s.Saved))
	}
	row(b, "  "+s.Op+d.Times(s), s.Precision(), why, d.backwardText(r.Backward), s.Where)
	for _, c := range s.Casts {
		row(b, "    ↳ cast "+s.CastLabel(c), c.From.Short()+" → "+c.ToText(), d.CastText(c), "", "")
	}
	what := "forward"
	if s.Phase == amp.PhaseOptimizer {
		what = "result"
	}
	healthLine(b, what, s.Health, s.Out.IsHalf())
	back, narrow := d.BackwardHealth(r.Backward)
	healthLine(b, "backward", back, narrow)
}

// healthLine draws the magnitudes of a result, forward above backward.
func healthLine(b *strings.Builder, what string, h *Health, narrow bool) {
	if h != nil {
		b.WriteString("    " + pad(what, 10) + h.Strip() + "  " + strings.Join(h.Facts(narrow), " · ") + "\n")
	}
}

// CastLabel names what was cast: the tensor's name, without the module's path where it begins with that, or which input of the
// op it was.
func (s *Site) CastLabel(c CastSite) string {
	if c.Name == "" {
		return fmt.Sprintf("input %d", c.Operand)
	}
	if rest, ok := strings.CutPrefix(c.Name, s.Module); ok && len(s.Module) > 8 && len(rest) > 1 && strings.ContainsAny(rest[:1], "./") {
		return rest[1:]
	}
	return c.Name
}

// backwardText lists backward sites: "matmul ×2 fp16 ▮, sum fp16 ▮".
func (d *DecisionsData) backwardText(sites []int) string {
	var out []string
	for _, i := range sites {
		s := &d.Sites[i]
		// No-break spaces keep the parts of one op on one line.
		out = append(out, strings.ReplaceAll(s.Op+d.Times(s)+" "+s.Precision(), " ", "\u00a0"))
	}
	return strings.Join(out, ", ")
}

// row writes one table row; cells that are too long go on below in their column.
func row(b *strings.Builder, cells ...string) {
	widths := []int{colOp, colForward, colWhy, colBackward, maxName}
	var lines [][]string
	indent := len(cells[0]) - len(strings.TrimLeft(cells[0], " "))
	for i, c := range cells {
		w := widths[i] - 2
		if i > 0 {
			indent = 0
		}
		l := wrapCell(c, w-indent)
		for j := range l {
			l[j] = strings.Repeat(" ", indent) + l[j]
		}
		lines = append(lines, l)
	}
	height := 0
	for _, l := range lines {
		height = max(height, len(l))
	}
	for k := range height {
		var line strings.Builder
		for i, l := range lines {
			cell := ""
			if k < len(l) {
				cell = l[k]
			}
			line.WriteString(pad(cell, widths[i]))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// wrapCell wraps at spaces but not at no-break spaces, which it turns into spaces.
func wrapCell(s string, n int) []string {
	const hold = '\uE000' // private use: stands for a space that must not break
	lines := wrap(strings.ReplaceAll(s, "\u00a0", string(hold)), n)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], string(hold), " ")
	}
	return lines
}

// Strip is the headline in parts: autocast, device, steps. Where nothing was recorded, nothing is known of autocast.
func (d *DecisionsData) Strip() []string {
	var out []string
	if d.Missing == "" {
		out = append(out, strings.ToLower(d.heading()[:1])+d.heading()[1:])
	}
	if d.Device != "" {
		out = append(out, d.Device)
	}
	if d.Steps > 0 {
		out = append(out, plural(d.Steps, "step"))
	}
	return out
}

// Lead is the number that a reader wants first: how much of the program ran in 16 bits.
func (d *DecisionsData) Lead() Metric {
	half, names := 0, []string{}
	for _, c := range d.Summary.Ops {
		if c.DType.IsHalf() {
			half += c.Calls
			names = append(names, c.DType.String())
		}
	}
	label := oneOf(d.PerStepText(d.Summary.Calls), "op call", "op calls")
	if d.Steps > 0 {
		label += " per step"
	}
	if half == 0 {
		return Metric{"none", "of " + d.PerStepText(d.Summary.Calls) + " " + label + " ran in 16 bits"}
	}
	return Metric{d.PerStepText(half) + " of " + d.PerStepText(d.Summary.Calls), label + " ran in " + strings.Join(names, " or ")}
}

// ByText says what decided a site's precision: "by its class".
func (s *Site) ByText() string {
	switch s.By {
	case ByClass:
		return "by its class"
	case ByInput:
		return "by its inputs"
	case ByOverride:
		return "by an override"
	case ByRule:
		return "by a rule"
	case ByProgram:
		return "by the program"
	}
	return ""
}

// oneOf is the first word for the number 1, and the second for others.
func oneOf(n, one, many string) string {
	if n == "1" {
		return one
	}
	return many
}

// A Metric is one number of the summary.
type Metric struct{ Value, Label string }

// Metrics are the numbers of the summary beside the calls by dtype.
func (d *DecisionsData) Metrics() []Metric {
	u := d.Summary
	per := ""
	if d.Steps > 0 {
		per = " per step"
	}
	var out []Metric
	if u.Changed > 0 {
		out = append(out, Metric{d.PerStepText(u.Changed), oneOf(d.PerStepText(u.Changed), "op", "ops") + per + " changed by autocast"})
	}
	if u.Casts > 0 {
		out = append(out, Metric{d.PerStepText(u.Casts), oneOf(d.PerStepText(u.Casts), "cast"+per+" moves ", "casts"+per+" move ") + Bytes(d.StepBytes(u.CastBytes)) + ", " + cached(u) + " come from the cache"})
	}
	if u.BytesFP32 != u.Bytes {
		out = append(out, Metric{Bytes(d.StepBytes(u.Bytes)), "of forward results" + per + ", " + Bytes(d.StepBytes(u.BytesFP32)) + " in float32"})
	}
	if u.TensorOps > 0 {
		out = append(out, Metric{d.PerStepText(u.TensorOK) + " of " + d.PerStepText(u.TensorOps), "16-bit matrix products fit tensor cores (÷8)"})
	}
	if d.Dropped > 0 {
		out = append(out, Metric{Count(d.Dropped), "older events dropped by the recorder, not counted here"})
	}
	return out
}

// cached is the share of casts that the cache served.
func cached(u Summary) string {
	if u.CastHits == 0 {
		return "none"
	}
	return percent(u.CastHits, u.Casts)
}

// CallsTitle says how many ops ran, those of the optimizer aside: "57 op calls per step before the optimizer".
func (d *DecisionsData) CallsTitle() string {
	s := d.PerStepText(d.Summary.Calls) + " op calls"
	if d.Steps > 0 {
		s += " per step"
	}
	for i := range d.Sites {
		if d.Sites[i].Phase == amp.PhaseOptimizer {
			return s + " before the optimizer"
		}
	}
	return s
}

// Calls adds the dtypes they ran in: "57 op calls per step   ▮ 32 fp16   ■ 25 fp32".
func (d *DecisionsData) Calls() string {
	s := d.CallsTitle()
	for _, c := range d.Summary.Ops {
		s += fmt.Sprintf("   %s %s %s", Mark(c.DType), d.PerStepText(c.Calls), c.DType.Short())
	}
	return s
}

// Override writes the scope that takes one option of Forces, in the dtype that the trace ran in.
func (d *DecisionsData) Override(option string) string {
	dtype := "Float16"
	if len(d.Autocast) > 0 && d.Autocast[0] == amp.BFloat16 {
		dtype = "BFloat16"
	}
	return "s.Autocast(amp." + dtype + ", " + option + ")"
}

// Forces lists the options that would take ops out of 16 bits, each once, in order.
func (d *DecisionsData) Forces() []string {
	var out []string
	for i := range d.Sites {
		if o := d.Sites[i].Force; o != "" && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// Overhead says what recording cost, "" when that was not measured.
func (f *Figure) Overhead() string {
	v := f.Volatile
	if v == nil || v.OverheadNS <= 0 {
		return ""
	}
	if v.WallNS <= 0 {
		return "tracing took " + Duration(v.OverheadNS)
	}
	return fmt.Sprintf("tracing cost %s of %s (%s)", Duration(v.OverheadNS), Duration(v.WallNS), percent(int(v.OverheadNS), int(v.WallNS)))
}
