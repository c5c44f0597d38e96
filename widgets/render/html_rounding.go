package render

import (
	"fmt"
	"image/color"
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// The widths of the strips and of the bars, in pixels.
const (
	roundStrip = 180
	roundBar   = 90
)

// roundingHTML writes the finding, the ops that matter most, and all ops in the program's order.
func roundingHTML(p *page, f *widgets.Figure) {
	d := f.Rounding
	p.heading(f.Title, "") // the finding names the step
	c := roundingColor(d)
	p.printf(`<div style="border-left:5px solid %s;padding:6px 12px;margin:4px 0 8px 0;background-color:rgba(%d,%d,%d,0.1);border-radius:3px"><strong>%s</strong>`,
		hex(c), c.R, c.G, c.B, powersHTML(d.Sentence))
	if d.Missing != "" {
		p.WriteString(`</div>`)
		return
	}
	for _, text := range append(d.Lines(3), d.Notes()...) {
		p.printf(`<div>%s</div>`, powersHTML(text))
	}
	p.WriteString(`</div>`)
	p.metrics(d.Metrics()...)
	roundingTable(p, d)
}

// roundingColor is red where something broke, and orange where the loss is off by more than one rounding of it to bfloat16, or would break in
// 16 bits.
func roundingColor(d *widgets.RoundingData) color.NRGBA {
	o, _ := d.In(d.Lower())
	switch {
	case d.Missing != "":
		return gray
	case d.Bad:
		return red
	case o.Over > 0 || math.Abs(float64(d.Error)) > math.Ldexp(math.Abs(float64(d.Exact)), -8):
		return orange
	}
	return green
}

func roundingTable(p *page, d *widgets.RoundingData) {
	if len(d.Rows) == 0 {
		return
	}
	p.note(d.Legend())
	a := newRoundAxis(d)
	p.table("Ops in the program's order")
	type head struct {
		words  string
		number bool
	}
	dt := d.Lower()
	heads := []head{{"Op", false}, {"Module", false}, {"Precision", false}, {"Error of the results, own ● total ○", false}, {"Own", true}, {"Total", true}, {"Part", false}}
	if dt == amp.NoDType {
		heads = append(heads, head{"Moved the loss by", true})
	}
	for _, other := range d.Columns() {
		heads = append(heads, head{"In " + other.Short(), true})
	}
	for i, h := range heads {
		style := stHead
		if h.number {
			style = stHeadNum
		}
		p.printf(`<th scope="col" style="%s">%s`, style, esc(h.words))
		if i == 3 {
			p.WriteString(a.guidesHTML())
		}
		p.WriteString(`</th>`)
	}
	p.WriteString(`</tr></thead><tbody>`)
	parts, left := d.Parts(), d.More
	for i := range d.Rows {
		if p.Len() > maxTable+8<<10 {
			left++
			continue
		}
		roundingRowHTML(p, d, &d.Rows[i], a, parts[i])
	}
	if left > 0 {
		more := "… and " + moreRows(left)
		if left == d.More {
			more = "… and " + d.MoreText()
		}
		p.printf(`<tr style="%s"><td colspan="%d" style="%s">%s</td></tr>`, stRow, len(heads), stCell, esc(more))
	}
	p.WriteString(`</tbody></table></div>`)
}

func roundingRowHTML(p *page, d *widgets.RoundingData, r *widgets.RoundingRow, a roundAxis, part float64) {
	p.printf(`<tr style="%s"><th scope="row" style="%s;font-weight:normal"><strong>%s</strong>`, stRow, stCell, esc(r.OpText()))
	if r.Calls > 1 {
		p.printf(` ×%s`, group(int64(r.Calls)))
	}
	for _, beside := range []string{r.Of, r.Where} {
		if beside != "" {
			p.printf(` <span style="%s">%s</span>`, stMuted, breakable(beside))
		}
	}
	p.printf(`</th><td style="%s">%s</td><td style="%s">%s</td><td style="%s">%s</td>`, stCell, breakable(r.Module), stCell, chip(r.DType, r.Precision()), stCell, a.stripHTML(r))
	p.printf(`<td style="%s">%s</td><td style="%s">%s</td><td style="%s">%s</td>`, stNumber, esc(r.OwnText()), stNumber, esc(r.TotalText()), stCell, partHTML(d, r, part))
	if d.Lower() == amp.NoDType {
		p.printf(`<td style="%s">%s</td>`, stNumber, esc(r.ShareText()))
	}
	for _, other := range d.Columns() {
		text := r.IfText(other)
		if o, _ := r.In(other); o.Over > 0 {
			p.printf(`<td style="%s"><strong>× %s</strong></td>`, stNumber, esc(text))
			continue
		}
		p.printf(`<td style="%s">%s</td>`, stNumber, esc(text))
	}
	p.WriteString(`</tr>`)
}

// partHTML is a row's part as a bar with its number, or what broke there.
func partHTML(d *widgets.RoundingData, r *widgets.RoundingRow, part float64) string {
	if r.Bad > 0 {
		return label(red, "× "+count(r.Bad, "result")+" not finite")
	}
	text := widgets.PartText(part)
	if text == "" {
		return ""
	}
	return fmt.Sprintf(`<div style="white-space:nowrap"><span style="display:inline-block;height:11px;width:%dpx;background-color:%s;border-radius:2px"></span> <strong>%s</strong></div>`,
		max(int(math.Round(roundBar*part)), 1), hex(dtypeColor(barDType(r, d.Lower()))), esc(text))
}

// percent is where an error stands on a strip.
func (a roundAxis) percent(e float64) float64 {
	return 100 * (min(max(e, a.lo), a.hi) - a.lo) / (a.hi - a.lo)
}

// guidesHTML names the unit roundoffs above the strips.
func (a roundAxis) guidesHTML() string {
	out, at := fmt.Sprintf(`<div style="width:%dpx;font-weight:normal;font-size:11px;white-space:nowrap">`, roundStrip), 0.0
	for i, g := range roundGuides {
		end := a.percent(g.power)
		if i == 2 { // the next guide is near: its name begins there
			out += fmt.Sprintf(`<span style="display:inline-block;padding:0 0 0 4px;border-left:2px solid %s">%s</span>`, hex(dtypeColor(g.dt)), g.dt.Short())
			break
		}
		out += fmt.Sprintf(`<span style="display:inline-block;box-sizing:border-box;text-align:right;padding:0 4px 0 0;border-right:2px solid %s;width:%.1f%%">%s</span>`,
			hex(dtypeColor(g.dt)), end-at, g.dt.Short())
		at = end
	}
	return out + `</div>`
}

// stripHTML draws the two errors of a row and what is between them; its words stand in the columns beside it.
func (a roundAxis) stripHTML(r *widgets.RoundingRow) string {
	own, ok := log2(r.Own, r.Size)
	total, all := log2(r.Total, r.Size)
	if !ok && !all {
		return ""
	}
	if !ok {
		own = total
	}
	if !all {
		total = own
	}
	col := hex(dtypeColor(r.DType))
	const mark = 9 // pixels
	span := float64(roundStrip - mark)
	from, to := span*a.percent(min(own, total))/100, span*a.percent(max(own, total))/100
	first, second := "●", "○"
	if !ok || all && total < own {
		first, second = second, first
	}
	out := fmt.Sprintf(`<div style="width:%dpx;white-space:nowrap;line-height:14px;color:%s"><span style="display:inline-block;width:%.0fpx"></span>%s`, roundStrip, col, from, first)
	if to-from >= 1 {
		if line := to - from - mark; line >= 1 {
			out += fmt.Sprintf(`<span style="display:inline-block;vertical-align:middle;width:%.0fpx;border-top:2px solid %s"></span>`, line, col)
		}
		out += second
	}
	return out + `</div>`
}
