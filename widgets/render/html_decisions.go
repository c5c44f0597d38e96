package render

import (
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

// decisionsHTML writes the summary and a tree of modules and ops, forward and backward beside each other.
func decisionsHTML(p *page, f *widgets.Figure) {
	d := f.Decisions
	p.heading(f.Title, strings.Join(d.Strip(), " · "))
	if d.Note != "" {
		p.printf(`<div style="margin:0 0 6px 0">%s</div>`, esc(d.Note))
	}
	if d.Missing != "" {
		p.printf(`<div>%s</div>`, esc(d.Missing))
		return
	}
	shareBar(p, d)
	p.WriteString(`<div style="margin:6px 0">`)
	for i, fact := range d.Facts()[1:] {
		if i > 0 {
			p.WriteString(` <span style="opacity:0.5">·</span> `)
		}
		p.WriteString(esc(fact))
	}
	p.WriteString(`</div>`)
	decisionsTable(p, f)
	decisionsDetails(p, f)
}

// shareBar writes how many calls ran in each dtype as one divided bar.
func shareBar(p *page, d *widgets.DecisionsData) {
	u := d.Summary
	if u.Calls == 0 {
		return
	}
	per := ""
	if d.Steps > 0 {
		per = " per step"
	}
	p.printf(`<div>%s op calls%s`, esc(d.PerStepText(u.Calls)), per)
	for _, c := range u.Ops {
		p.printf(` %s`, chip(c.DType, d.PerStepText(c.Calls)+" "+c.DType.Short()))
	}
	if u.Changed > 0 {
		p.printf(` <span style="%s">%s changed by autocast</span>`, stMuted, esc(d.PerStepText(u.Changed)))
	}
	p.WriteString(`</div><div style="margin:6px 0;height:8px;border-radius:4px;overflow:hidden;white-space:nowrap;font-size:0">`)
	for _, c := range u.Ops {
		p.printf(`<span title="%s" style="display:inline-block;height:8px;width:%.2f%%;background-color:%s"></span>`,
			esc(c.DType.String()), 100*float64(c.Calls)/float64(u.Calls), hex(dtypeColor(c.DType)))
	}
	p.WriteString(`</div>`)
}

// decisionsTable writes the tree. Rows stop where the HTML would grow beyond its bound; the figure's JSON has the rest.
func decisionsTable(p *page, f *widgets.Figure) {
	d := f.Decisions
	timed := f.Volatile != nil
	columns := 5
	p.printf(`<div style="%s"><table class="halftone-table" style="%s"><caption style="%s">One row for each place in the program; beside it the backward ops that compute its gradient.</caption><thead><tr>`, stScroll, stTable, stCaption)
	heads := []string{"Op", "Forward", "Why", "Backward", "Bytes/step"}
	if d.Steps == 0 {
		heads[4] = "Bytes"
	}
	if timed {
		heads = append(heads, "Time/call")
		columns++
	}
	for i, h := range heads {
		align := stCell
		if i >= 4 {
			align = "text-align:right;vertical-align:top"
		}
		p.printf(`<th scope="col" style="%s">%s</th>`, align, h)
	}
	p.WriteString(`</tr></thead><tbody>`)
	left := d.More
	for _, m := range d.Modules() {
		if p.Len() > MaxHTML-12<<10 {
			left += len(m.Rows)
			continue
		}
		span := columns
		if len(m.Backward) > 0 {
			span = 3
		}
		p.printf(`<tr class="halftone-module"><th scope="rowgroup" colspan="%d" style="%s">%s</th>`, span, stModule, esc(m.Name()))
		if len(m.Backward) > 0 {
			p.printf(`<td colspan="%d" style="%s">%s</td>`, columns-3, stModule+";font-weight:normal", backwardChips(d, m.Backward))
		}
		p.WriteString(`</tr>`)
		for _, r := range m.Rows {
			if p.Len() > MaxHTML-10<<10 {
				left++
				continue
			}
			siteRow(p, f, r, columns)
		}
	}
	if left > 0 {
		p.printf(`<tr><td colspan="%d" style="%s">… and %s more rows</td></tr>`, columns, stCell, group(int64(left)))
	}
	p.WriteString(`</tbody></table></div>`)
}

// siteRow writes a forward site and, below it, its casts.
func siteRow(p *page, f *widgets.Figure, r widgets.SiteRow, columns int) {
	d := f.Decisions
	s := &d.Sites[r.Forward]
	changed := ""
	if !s.Changed {
		changed = ` class="halftone-same"`
	}
	p.printf(`<tr%s><th scope="row" style="%s;font-weight:normal;padding-left:18px"><code>%s</code>%s`, changed, stCell, esc(s.Op), esc(d.Times(s)))
	if s.Where != "" {
		p.printf(`<br><span style="%s;font-size:11px">%s</span>`, stMuted, esc(s.Where))
	}
	p.printf(`</th><td style="%s">%s</td><td style="%s">%s`, stCell, precision(s), stCell, esc(d.Rule(s)))
	p.printf(`<br><span style="%s;font-size:11px">%s`, stMuted, esc(s.Shape))
	if s.Dims != nil {
		p.printf(` · tensor cores %s`, esc(s.Dims.Text()))
	}
	p.printf(`</span></td><td style="%s">%s</td><td style="text-align:right;vertical-align:top;white-space:nowrap">%s</td>`,
		stCell, backwardChips(d, r.Backward), esc(widgets.Bytes(d.StepBytes(s.Bytes))))
	if columns > 5 {
		t := ""
		if ns := f.Measured(r.Forward); ns > 0 {
			t = widgets.Duration(ns)
		}
		p.printf(`<td style="text-align:right;vertical-align:top;white-space:nowrap">%s</td>`, esc(t))
	}
	p.WriteString(`</tr>`)
	for _, c := range s.Casts {
		p.printf(`<tr%s><td style="%s;padding-left:30px;font-size:11.5px">↳ cast <code>%s</code></td><td style="%s;font-size:11.5px;white-space:nowrap">%s → %s</td><td colspan="%d" style="%s;font-size:11.5px">%s</td></tr>`,
			changed, stCell, esc(c.Label()), stCell, esc(c.From.Short()), esc(c.To.Short()), columns-2, stCell, esc(c.Text()))
	}
}

// precision writes a site's dtypes with the one it computed in as a chip.
func precision(s *widgets.Site) string {
	out := chip(s.Compute, s.Compute.Short())
	if from := s.From(); from != "" {
		out = fmt.Sprintf(`<span style="white-space:nowrap">%s → %s</span>`, esc(from), out)
	}
	if to := s.To(); to != "" {
		out += ` <span style="white-space:nowrap">⇒ ` + esc(to) + `</span>`
	}
	return out
}

// backwardChips writes backward sites as chips.
func backwardChips(d *widgets.DecisionsData, sites []int) string {
	var out []string
	for _, i := range sites {
		s := &d.Sites[i]
		out = append(out, chip(s.Compute, s.Op+d.Times(s)))
	}
	return strings.Join(out, " ")
}

// decisionsDetails writes what only some readers want: how to decide otherwise, the marks, and what recording cost.
func decisionsDetails(p *page, f *widgets.Figure) {
	d := f.Decisions
	if forces := d.Forces(); len(forces) > 0 {
		p.printf(`<details><summary style="%s">Decide otherwise</summary><div style="margin:4px 0">Give these to the autocast scope; they take an op out of 16 bits.</div><pre style="margin:4px 0">`, stSummary)
		for i, o := range forces {
			if i == 12 {
				p.printf("… and %d more\n", len(forces)-i)
				break
			}
			p.printf("half := s.Autocast(amp.%s, %s)\n", goName(d), esc(o))
		}
		p.WriteString(`</pre></details>`)
	}
	p.printf(`<div style="%s;font-size:11.5px">▮ fp16 · ▯ bf16 · ■ fp32 · ▢ other`, stMuted)
	if o := f.Overhead(); o != "" {
		p.printf(` · %s`, esc(o))
	}
	p.WriteString(`</div>`)
}

// goName is the first autocast dtype as a Go identifier.
func goName(d *widgets.DecisionsData) string {
	for _, t := range d.Autocast {
		if t.String() == "bfloat16" {
			return "BFloat16"
		}
		break
	}
	return "Float16"
}
