package render

import (
	"fmt"

	"github.com/halftone-ml/halftone/widgets"
)

// maxSkipRows bounds the table of skipped steps in the HTML.
const maxSkipRows = 100

// scaleHTML writes the verdict, the chart, the way out of a collapse, and the skipped steps.
func scaleHTML(p *page, f *widgets.Figure, chart string) {
	d := f.Scale
	p.heading(f.Title, "")
	verdictCard(p, d)
	if !d.Enabled || len(d.Points) == 0 {
		return
	}
	p.WriteString(chart)
	scaleFacts(p, d)
	if len(d.Skips) > 0 {
		skipTable(p, d)
	}
}

// verdictCard writes the verdict in words beside its color, and the advice when there is some.
func verdictCard(p *page, d *widgets.ScaleData) {
	c := verdictColor(d.Verdict)
	p.printf(`<div style="border-left:5px solid %s;padding:6px 12px;margin:4px 0 8px 0;background-color:rgba(%d,%d,%d,0.1);border-radius:3px"><strong>%s</strong>`,
		hex(c), c.R, c.G, c.B, powersHTML(d.Sentence))
	if d.Note != "" {
		p.printf(`<div>%s</div>`, esc(d.Note))
	}
	for _, w := range d.Warnings {
		p.printf(`<div>%s</div>`, esc(w))
	}
	if len(d.Advice) > 0 {
		p.WriteString(`<div style="margin:6px 0 0 0">What helps:</div><ol style="margin:2px 0 2px 0;padding-left:22px">`)
		for _, a := range d.Advice {
			p.printf(`<li>%s</li>`, esc(a))
		}
		p.WriteString(`</ol>`)
	}
	p.WriteString(`</div>`)
}

// scaleFacts writes the numbers below the chart.
func scaleFacts(p *page, d *widgets.ScaleData) {
	facts := [][2]string{
		{"scale now", widgets.ScaleText(d.Scale)},
		{"effective steps", group(int64(d.Effective)) + " of " + group(int64(d.Nominal))},
		{"skipped", group(int64(d.Skipped))},
	}
	if d.NextGrowth > 0 && d.Verdict != widgets.VerdictCollapsing {
		facts = append(facts, [2]string{"next growth in", fmt.Sprintf("%s of %s clean steps", group(int64(d.NextGrowth)), group(int64(d.GrowthInterval)))})
	}
	p.WriteString(`<div style="margin:6px 0">`)
	for i, t := range facts {
		if i > 0 {
			p.WriteString(` <span style="opacity:0.5">·</span> `)
		}
		p.printf(`<span style="%s">%s</span> <strong>%s</strong>`, stMuted, esc(t[0]), powersHTML(t[1]))
	}
	p.WriteString(`</div>`)
}

// skipTable writes every skipped step with what overflowed.
func skipTable(p *page, d *widgets.ScaleData) {
	open := ""
	if len(d.Skips) <= 6 {
		open = " open"
	}
	p.printf(`<details%s><summary style="%s">Skipped steps</summary><div style="%s"><table style="%s"><caption style="%s">Weights stayed as they were; the scale backed off.</caption><thead><tr style="%s">`,
		open, stSummary, stScroll, stTable, stCaption, stSub)
	for _, h := range []string{"Step", "Skipped", "Scale → next", "Overflowed first"} {
		p.printf(`<th scope="col" style="%s">%s</th>`, stCell, h)
	}
	p.WriteString(`</tr></thead><tbody>`)
	for i, r := range d.Skips {
		if i == maxSkipRows {
			p.printf(`<tr><td colspan="4" style="%s">… and %s more</td></tr>`, stCell, group(int64(len(d.Skips)-i)))
			break
		}
		p.printf(`<tr style="%s"><th scope="row" style="%s;font-weight:normal">%s</th><td style="%s"><span style="color:%s">×</span> %s</td><td style="%s">%s → %s</td><td style="%s">%s</td></tr>`,
			stRow, stCell, esc(r.Steps()), stCell, hex(red), group(int64(r.Count)), stCell, powersHTML(widgets.ScaleText(r.Scale)), powersHTML(widgets.ScaleText(r.Next)), stCell, esc(r.Blame()))
	}
	p.WriteString(`</tbody></table></div></details>`)
}
