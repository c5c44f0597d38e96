package render

import (
	"fmt"

	"github.com/halftone-ml/halftone/widgets"
)

// exponentsHTML writes the finding, the chart, and the modules that lose most.
func exponentsHTML(p *page, f *widgets.Figure, chart string) {
	d := f.Exponents
	p.heading(f.Title, "")
	c := green
	switch {
	case d.Missing != "":
		c = gray
	case d.Scaled.Overflow > 0, d.TooLarge():
		c = red
	case 100*d.Scaled.Zero > d.Scaled.All() || d.Scale > d.Best && d.Scale > 1: // more than one in a hundred, or no room to grow
		c = orange
	}
	p.printf(`<div style="border-left:5px solid %s;padding:6px 12px;margin:4px 0 8px 0;background-color:rgba(%d,%d,%d,0.1);border-radius:3px"><strong>%s</strong>`,
		hex(c), c.R, c.G, c.B, powersHTML(d.Sentence))
	for _, text := range []string{d.Rest(), d.Note} {
		if text != "" {
			p.printf(`<div>%s</div>`, powersHTML(text))
		}
	}
	p.WriteString(`</div>`)
	if d.Missing != "" || len(d.Counts) == 0 {
		return
	}
	p.metrics(d.Metrics()...)
	p.WriteString(chart)
	p.WriteString(`<div style="margin:6px 0">`)
	for i, t := range d.Facts() {
		if i > 0 {
			p.WriteString(` <span style="opacity:0.75">·</span> `)
		}
		p.printf(`<span style="%s">%s</span> <strong>%s</strong>`, stMuted, esc(t[0]), powersHTML(t[1]))
	}
	p.WriteString(`</div>`)
	scaleTable(p, d)
	if len(d.Modules) > 0 {
		moduleTable(p, d)
	}
}

// scaleTable writes what the slider and the choice of formats show one at a time: other formats, and other loss scales.
func scaleTable(p *page, d *widgets.ExponentsData) {
	if len(d.Formats) == 0 {
		return
	}
	p.printf(`<details><summary style="%s">Other formats and loss scales</summary>`, stSummary)
	p.note("What a format loses of the gradients that are not zero: to zero ○, to fewer digits ░, and to overflow ×.")
	p.table("Formats and loss scales")
	for i, h := range []string{"Format, loss scale", "○ Zero", "░ Fewer digits", "× Overflow", "Largest safe scale"} {
		style := stHeadNum
		if i == 0 {
			style = stHead
		}
		p.printf(`<th scope="col" style="%s">%s</th>`, style, h)
	}
	p.WriteString(`</tr></thead><tbody>`)
	row := func(name string, f widgets.Fate, best string) {
		p.printf(`<tr style="%s"><th scope="row" style="%s;font-weight:normal;white-space:nowrap">%s</th>`, stRow, stCell, powersHTML(name))
		for _, v := range []string{d.Share(f.Zero), d.Share(f.Subnormal), d.Share(f.Overflow), best} {
			p.printf(`<td style="%s">%s</td>`, stNumber, powersHTML(v))
		}
		p.WriteString(`</tr>`)
	}
	for _, r := range d.Formats {
		row(r.Name+", unscaled", r.Plain, d.BestIn(&r))
		if d.Scale != 1 {
			row(r.Name+", × "+widgets.ScaleText(d.Scale), r.Scaled, "")
		}
	}
	for k := 4; k <= 24; k += 4 {
		row(fmt.Sprintf("%s, × 2^%d", d.In(), k), d.FateAt(k), "")
	}
	p.WriteString(`</tbody></table></div></details>`)
}

// moduleTable writes what each module's gradients lose.
func moduleTable(p *page, d *widgets.ExponentsData) {
	p.printf(`<details><summary style="%s">Modules</summary>`, stSummary)
	p.note("Those that lose most come first; × is what overflows.")
	p.table("Gradients of modules")
	for i, h := range []string{"Module", "Smallest", "Largest", "Zeros", "Lost now", "Lost without a scale"} {
		style := stHeadNum
		if i == 0 {
			style = stHead
		}
		p.printf(`<th scope="col" style="%s">%s</th>`, style, h)
	}
	p.WriteString(`</tr></thead><tbody>`)
	for _, m := range d.Modules {
		name := m.Module
		if name == "" {
			name = "(top level)"
		}
		p.printf(`<tr style="%s"><th scope="row" style="%s;font-weight:normal">%s</th>`, stRow, stCell, esc(name))
		for _, v := range []string{widgets.Magnitude(m.Amin), widgets.Magnitude(m.Amax), m.ZeroShare(), m.Scaled.Lost(), m.Unscaled.Lost()} {
			p.printf(`<td style="%s">%s</td>`, stNumber, powersHTML(v))
		}
		p.WriteString(`</tr>`)
	}
	if d.More > 0 {
		p.printf(`<tr><td colspan="6" style="%s">… and %s more</td></tr>`, stCell, group(int64(d.More)))
	}
	p.WriteString(`</tbody></table></div></details>`)
}
