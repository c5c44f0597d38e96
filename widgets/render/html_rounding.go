package render

import (
	"fmt"
	"image/color"
	"math"
	"regexp"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// The widths of the strips and of the bars, in pixels.
const (
	roundStrip = 160
	roundBar   = 90
)

// maxRoundingTable is the number of rows of the table; the JSON has all. The other faces need room in the bundle, too.
const maxRoundingTable = 24

// roundingHTML writes the finding, the ops that matter most, and all ops in the program's order.
func roundingHTML(p *page, f *widgets.Figure) {
	d := f.Rounding
	p.heading(f.Title, "") // the finding names the step
	c := roundingColor(d)
	p.printf(`<div style="border-left:5px solid %s;padding:6px 12px;margin:4px 0 8px 0;background-color:rgba(%d,%d,%d,0.1);border-radius:3px"><strong>%s</strong>`,
		hex(c), c.R, c.G, c.B, errorsHTML(d.Sentence))
	if d.Missing != "" {
		p.WriteString(`</div>`)
		return
	}
	for _, text := range append(d.Lines(3), d.Notes()...) {
		p.printf(`<div>%s</div>`, errorsHTML(text))
	}
	p.WriteString(`</div>`)
	p.metrics(d.Metrics()...)
	roundingTable(p, d)
	recipesHTML(p, d)
}

// errorsHTML is powersHTML, of a text with errors in it: behind the sign of their exponents no line is to break.
func errorsHTML(s string) string { return errorExponent.ReplaceAllString(powersHTML(s), "$1−") }

var errorExponent = regexp.MustCompile(`(\de)-`)

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
	heads := []head{{"Op", false}, {"Module", false}, {"Precision", false}, {a.title, false}, {"Own → total", true}, {"Part", false}}
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
			for k, name := range a.names {
				p.printf(` <span style="font-weight:normal;white-space:nowrap">%s %s</span>`, a.keyHTML(k), esc(name))
			}
			p.WriteString(a.guidesHTML())
		}
		p.WriteString(`</th>`)
	}
	p.WriteString(`</tr></thead><tbody>`)
	parts, rows := d.Parts(), roundingRows(d, maxRoundingTable)
	for _, k := range rows {
		roundingRowHTML(p, d, &d.Rows[k], a, parts[k])
	}
	if left := len(d.Rows) - len(rows) + d.More; left > 0 {
		p.printf(`<tr style="%s"><td colspan="%d" style="%s">… and %s that matter less</td></tr>`, stRow, len(heads), stCell, moreRows(left))
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
			p.printf(` <span style="%s">%s</span>`, stMuted, unbroken(beside))
		}
	}
	p.printf(`</th><td style="%s">%s</td><td style="%s">%s</td><td style="%s">%s</td>`, stCell, unbroken(r.Module), stCell, chip(r.DType, r.Precision()), stCell, a.stripHTML(r))
	errors := r.OwnText()
	if total := r.TotalText(); total != errors {
		errors += " → " + total
	}
	p.printf(`<td style="%s">%s</td><td style="%s">%s</td>`, stNumber, esc(errors), stCell, partHTML(d, r, part))
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

// unbroken is breakable, of names that are too long for one line.
func unbroken(name string) string {
	if len(name) < 20 {
		return `<span style="white-space:nowrap">` + esc(name) + `</span>`
	}
	return breakable(name)
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
	return fmt.Sprintf(`<div style="white-space:nowrap"><span title="%[3]s" style="display:inline-block;height:11px;width:%[1]dpx;background-color:%[2]s;border-radius:2px"></span> <strong>%[3]s</strong></div>`,
		max(int(math.Round(roundBar*part)), 1), hex(dtypeColor(barDType(r, d.Lower()))), esc(text))
}
