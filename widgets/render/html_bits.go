package render

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

// The colors of the fields, as tints that text of any theme is read on.
var (
	signTint     = color.NRGBA{purple.R, purple.G, purple.B, 0x59}
	exponentTint = color.NRGBA{orange.R, orange.G, orange.B, 0x47}
	fractionTint = color.NRGBA{sky.R, sky.G, sky.B, 0x47}
)

// bitsHTML writes the finding and a table: a row for each format, its bits in three fields that stand below each other.
func bitsHTML(p *page, f *widgets.Figure) {
	d := f.Bits
	p.heading(f.Title, "")
	p.printf(`<div style="margin:4px 0"><strong>%s</strong></div>`, esc(d.Sentence))
	if d.Missing != "" {
		return
	}
	p.note("Rounded to nearest, ties to even. A ulp is the gap between neighbors.")
	p.printf(`<div style="%s"><table class="halftone-bits" style="%s"><caption style="%s">Bits by format</caption><thead><tr style="%s">`, stScroll, stTable, stCaption, stSub)
	for _, h := range [...][2]string{{"Format", stHead}, {"Becomes", stHead}, {"Sign", stHeadNum}, {"Exponent", stHeadNum}, {"Fraction", stHead}, {"Error", stHeadNum}, {"Relative", stHeadNum}, {"Neighbors", stHead}} {
		p.printf(`<th scope="col" style="%s">%s</th>`, h[1], h[0])
	}
	p.WriteString(`</tr></thead>`)
	for i := range d.Values {
		v := &d.Values[i]
		p.WriteString(`<tbody>`)
		if len(d.Values) > 1 {
			p.printf(`<tr style="%s"><th colspan="8" scope="rowgroup" style="text-align:left;padding:12px 8px 4px 8px;font-size:14px">%s</th></tr>`, stRow, esc(widgets.DecimalText(float64(v.Value))))
		}
		for k := range v.Rows {
			bitsRow(p, &v.Rows[k])
		}
		p.WriteString(`</tbody>`)
	}
	p.WriteString(`</table></div>`)
	if d.More > 0 {
		p.printf(`<div style="%s">… and %s more</div>`, stMuted, group(int64(d.More)))
	}
}

// bitsRow writes a number in one format; what is unusual stands below its value.
func bitsRow(p *page, r *widgets.BitsRow) {
	sign, exponent, fraction := r.Fields()
	p.printf(`<tr style="%s"><th scope="row" style="text-align:left;padding:4px 8px;white-space:nowrap;font-weight:normal">%s</th><td style="text-align:left;padding:4px 8px"><strong>%s</strong><div style="font-size:11px;max-width:150px">%s</div></td>`,
		stRow, r.Label(), esc(r.Text(r.Value)), esc(r.Note()))
	for _, field := range [...]struct {
		bits, align string
		tint        color.NRGBA
	}{{sign, "right", signTint}, {exponent, "right", exponentTint}, {fraction, "left", fractionTint}} {
		p.printf(`<td style="text-align:%s;padding:4px 2px;white-space:nowrap"><samp style="background-color:%s;padding:2px 4px;font-size:13px">%s</samp></td>`, field.align, rgba(field.tint), field.bits)
	}
	for _, c := range []string{r.ErrorText(), r.RelativeError()} {
		p.printf(`<td style="text-align:right;padding:4px 8px;white-space:nowrap">%s</td>`, esc(c))
	}
	p.printf(`<td style="text-align:left;padding:4px 8px;white-space:nowrap;font-size:11px;line-height:1.3">%s</td></tr>`, strings.Replace(esc(r.Neighbors()), " · ", "<br>", 1))
}

// rgba writes a color with its opacity as a literal.
func rgba(c color.NRGBA) string {
	return fmt.Sprintf("rgba(%d,%d,%d,%.2f)", c.R, c.G, c.B, float64(c.A)/255)
}
