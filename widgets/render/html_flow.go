package render

import (
	"fmt"
	"image/color"

	"github.com/halftone-ml/halftone/widgets"
)

// flowColors tell what became of gradients, in the order of widgets.FlowParts.
var flowColors = [...]color.NRGBA{widgets.FlowKept: green, widgets.FlowSubnormal: sky, widgets.FlowZero: purple, widgets.FlowOver: red,
	widgets.FlowBefore: {0xb0, 0xb6, 0xbd, 0xff}}

// flowBar is the width of the bars in pixels.
const flowBar = 190

// flowHTML writes the finding, the ops that lost most, the walk from the loss, and what the parameters got.
func flowHTML(p *page, f *widgets.Figure) {
	d := f.Flow
	p.heading(f.Title, "") // the finding names the step
	c := flowColor(d)
	p.printf(`<div style="border-left:5px solid %s;padding:6px 12px;margin:4px 0 8px 0;background-color:rgba(%d,%d,%d,0.1);border-radius:3px"><strong>%s</strong>`,
		hex(c), c.R, c.G, c.B, powersHTML(d.Sentence))
	for _, text := range append(d.Lines(3), d.Notes()...) {
		p.printf(`<div>%s</div>`, powersHTML(text))
	}
	p.WriteString(`</div>`)
	if d.Missing != "" {
		return
	}
	p.metrics(d.Metrics()...)
	flowRows(p, d)
	flowEnds(p, d)
}

// flowColor is green where all arrived, red where something overflowed.
func flowColor(d *widgets.FlowData) color.NRGBA {
	switch {
	case d.Missing != "":
		return gray
	case d.Bad > 0:
		return red
	case d.Here > 0 || d.Born > 0:
		return orange
	}
	return green
}

// flowRows writes the walk: a bar for every gradient.
func flowRows(p *page, d *widgets.FlowData) {
	if len(d.Rows) == 0 {
		return
	}
	p.WriteString(`<div style="margin:8px 0 0 0">From the loss on, what became of the gradients that float64 has:`)
	for i, name := range widgets.FlowParts {
		p.printf(` <span style="background-color:%s;color:%s;border-radius:3px;padding:0 5px;margin:1px 0;display:inline-block;white-space:nowrap">%s %s</span>`, hex(flowColors[i]), hex(onColor(flowColors[i])), widgets.FlowMarks[i], esc(name))
	}
	p.WriteString(`</div>`)
	p.table("Gradients from the loss on")
	for i, h := range []string{"Op", "Module", "Gradient", "Precision", "What became of it", "Lost here", "Before", "Scales that keep 99.9%"} {
		style := stHead
		if i == 5 || i == 6 {
			style = stHeadNum
		}
		p.printf(`<th scope="col" style="%s">%s</th>`, style, h)
	}
	p.WriteString(`</tr></thead><tbody>`)
	for i := range d.Rows {
		r := &d.Rows[i]
		p.printf(`<tr style="%s"><th scope="row" style="%s;font-weight:normal"><strong>%s</strong>`, stRow, stCell, esc(r.OpText()))
		if r.Where != "" {
			p.printf(` <span style="%s;white-space:nowrap">%s</span>`, stMuted, esc(r.Where))
		}
		p.printf(`</th><td style="%s">%s</td><td style="%s">%s</td><td style="%s">%s</td><td style="%s">%s</td>`, stCell, esc(r.Module), stCell, esc(r.What()), stCell, chip(r.DType, r.DType.Short()), stCell, flowBarHTML(r))
		p.printf(`<td style="%s">%s</td><td style="%s">%s</td><td style="%s;white-space:nowrap">%s</td></tr>`, stNumber, strongIf(r.HereText()), stNumber, esc(r.BeforeText()), stCell, powersHTML(r.FitText()))
	}
	if d.More > 0 {
		p.printf(`<tr style="%s"><td colspan="8" style="%s">… and %s more that lost less</td></tr>`, stRow, stCell, group(int64(d.More)))
	}
	p.WriteString(`</tbody></table></div>`)
}

func strongIf(s string) string {
	if s == "" {
		return ""
	}
	return "<strong>" + esc(s) + "</strong>"
}

// flowBarHTML is a row's bar; its words are its title.
func flowBarHTML(r *widgets.FlowRow) string {
	parts, all := r.Parts(), 0
	for _, n := range parts {
		all += n
	}
	if all == 0 {
		return ""
	}
	out := fmt.Sprintf(`<div style="width:%dpx;height:13px;border-radius:3px;overflow:hidden;white-space:nowrap;font-size:0;line-height:0;margin:3px 0 0 0">`, flowBar)
	for i, n := range parts {
		if n > 0 {
			out += fmt.Sprintf(`<span title="%s: %s" style="display:inline-block;height:13px;width:%.2f%%;background-color:%s"></span>`,
				esc(widgets.FlowParts[i]), esc(widgets.Percent(n, all)), 100*flowShare(n, all), hex(flowColors[i]))
		}
	}
	return out + `</div>`
}

// flowShare is a part's share of a bar, not too small to be seen.
func flowShare(n, all int) float64 {
	if n <= 0 {
		return 0
	}
	return max(float64(n)/float64(all), 0.012)
}

// flowEnds writes what the parameters got.
func flowEnds(p *page, d *widgets.FlowData) {
	if len(d.Ends) == 0 {
		return
	}
	p.printf(`<details><summary style="%s">Parameters</summary>`, stSummary)
	p.note("Those that lost most come first. The error is the difference from float64, relative to its norm.")
	p.table("Gradients of parameters")
	for i, h := range []string{"Parameter", "Zero", "Not finite", "Error", "First lost at"} {
		style := stHeadNum
		if i == 0 || i == 4 {
			style = stHead
		}
		p.printf(`<th scope="col" style="%s">%s</th>`, style, h)
	}
	p.WriteString(`</tr></thead><tbody>`)
	for i := range d.Ends {
		e := &d.Ends[i]
		p.printf(`<tr style="%s"><th scope="row" style="%s;font-weight:normal">%s</th>`, stRow, stCell, esc(e.Label()))
		for _, v := range []string{widgets.Percent(e.Zeros, e.Wanted), widgets.Percent(e.Bad, e.Wanted), e.ErrorText()} {
			p.printf(`<td style="%s">%s</td>`, stNumber, esc(v))
		}
		p.printf(`<td style="%s">%s</td></tr>`, stCell, esc(e.First))
	}
	if d.Rest > 0 {
		p.printf(`<tr style="%s"><td colspan="5" style="%s">… and %s more</td></tr>`, stRow, stCell, group(int64(d.Rest)))
	}
	p.WriteString(`</tbody></table></div></details>`)
}
