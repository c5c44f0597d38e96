package render

import (
	"fmt"
	"math"
	"strings"

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
	scaleFacts(p, d)
	p.WriteString(chart)
	if len(d.Skips) > 0 {
		skipTable(p, d)
	}
}

// verdictCard writes the verdict in words beside its color, and the advice when there is some.
func verdictCard(p *page, d *widgets.ScaleData) {
	c := verdictColor(d.Verdict)
	p.printf(`<div style="border-left:5px solid %s;padding:6px 12px;margin:4px 0 8px 0;background-color:rgba(%d,%d,%d,0.1);border-radius:3px"><strong style="font-size:15px">%s %s</strong>`,
		hex(c), c.R, c.G, c.B, verdictMark(d.Verdict), powersHTML(d.Sentence))
	if d.Note != "" {
		p.printf(`<div>%s</div>`, esc(d.Note))
	}
	for _, w := range d.Warnings {
		p.printf(`<div>%s</div>`, esc(w))
	}
	if len(d.Fixes) > 0 {
		p.WriteString(`<div style="margin:8px 0 0 0">What helps</div><ol style="margin:2px 0 2px 0;padding-left:22px">`)
		for _, x := range d.Fixes {
			p.printf(`<li style="margin:3px 0"><strong>%s</strong> %s`, esc(x.Do), powersHTML(x.Why))
			if x.Code != "" {
				p.printf(`<br><code class="halftone-copy" style="`+stCode+`">%s</code>`, esc(x.Code))
			}
			p.WriteString(`</li>`)
		}
		p.WriteString(`</ol>`)
	}
	p.WriteString(`</div>`)
}

// verdictMark tells verdicts apart without color.
func verdictMark(v string) string {
	switch v {
	case widgets.VerdictSteady:
		return "✓"
	case widgets.VerdictCalibrating:
		return "…"
	case widgets.VerdictCollapsing:
		return "!"
	}
	return "–"
}

// scaleFacts writes the numbers, and how far it is to the next growth.
func scaleFacts(p *page, d *widgets.ScaleData) {
	share := ""
	if d.Nominal > 0 {
		share = fmt.Sprintf("%s of %s steps skipped", d.SkippedShare(), group(int64(d.Nominal)))
	}
	list := []widgets.Metric{
		{Value: widgets.ScaleText(d.Scale), Label: "loss scale now" + asPower(d.Scale)},
		{Value: group(int64(d.Skipped)), Label: share},
		{Value: group(int64(d.Effective)), Label: "effective steps of " + group(int64(d.Nominal)) + " nominal: what a schedule should count"},
	}
	growing := d.NextGrowth > 0 && d.Verdict != widgets.VerdictCollapsing
	if growing {
		list = append(list, widgets.Metric{Value: group(int64(d.NextGrowth)), Label: "clean steps until the scale grows"})
	}
	p.metrics(list...)
	if growing && d.GrowthInterval > 0 {
		done := max(d.GrowthInterval-d.NextGrowth, 0)
		p.printf(`<div style="background-color:rgba(128,128,128,0.25);border-radius:3px;height:6px;width:155px;max-width:100%%;overflow:hidden;margin:2px 0 0 0"><div style="background-color:%s;height:6px;width:%.4g%%"></div></div><div style="%s;font-size:12px;margin:0 0 8px 0">%s of %s clean steps in a row</div>`,
			hex(green), 100*float64(done)/float64(d.GrowthInterval), stMuted, group(int64(done)), group(int64(d.GrowthInterval)))
	}
}

// asPower writes a scale as a power of two behind its number; "" where that is how it was written.
func asPower(s widgets.Number) string {
	p := (widgets.ScalePoint{Scale: s}).Log2()
	if p != math.Trunc(p) || math.Abs(p) > 126 || strings.Contains(widgets.ScaleText(s), "^") {
		return ""
	}
	return fmt.Sprintf(", 2^%d", int(p))
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
