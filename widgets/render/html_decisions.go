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
	p.metrics(append([]widgets.Metric{d.Lead()}, d.Metrics()...)...)
	shareBar(p, d)
	decisionsTable(p, f)
	decisionsDetails(p, f)
}

// shareBar writes how many calls ran in each dtype as one divided bar with its legend.
func shareBar(p *page, d *widgets.DecisionsData) {
	u := d.Summary
	if u.Calls == 0 {
		return
	}
	p.WriteString(`<div style="margin:6px 0 4px 0;height:10px;border-radius:4px;overflow:hidden;white-space:nowrap;font-size:0">`)
	for _, c := range u.Ops {
		p.printf(`<span title="%s" style="display:inline-block;height:10px;width:%.2f%%;background-color:%s"></span>`,
			esc(c.DType.String()), 100*float64(c.Calls)/float64(u.Calls), hex(dtypeColor(c.DType)))
	}
	p.printf(`</div><div style="margin:0 0 2px 0">`)
	for _, c := range u.Ops {
		p.printf(`%s `, chip(c.DType, d.PerStepText(c.Calls)+" "+c.DType.Short()))
	}
	p.printf(`<span style="%s">%s</span></div>`, stMuted, esc(d.CallsTitle()))
}

// column of the decisions table.
type column struct {
	name, width string
	number      bool
}

// decisionsTable writes the tree. Rows stop where the HTML would grow beyond its bound; the figure's JSON has the rest.
func decisionsTable(p *page, f *widgets.Figure) {
	d := f.Decisions
	columns := []column{{"Module, op", "21%", false}, {"Forward", "16%", false}, {"Why", "34%", false}, {"Backward", "18%", false}, {"Cost", "11%", true}}
	wide := 640
	if d.Format != "" {
		columns = []column{{"Module, op", "15%", false}, {"Forward", "13%", false}, {"Why", "24%", false}, {"Backward", "14%", false}, {"Magnitudes", "23%", false}, {"Cost", "11%", true}}
		wide = 780
	}
	note := "Each row is one place in the program, with the backward ops that compute its gradient."
	if d.Steps > 0 {
		note += " ×2 is twice a step; cost is the bytes of results per step, and the time of a call."
	}
	if d.Format != "" {
		note += " Magnitudes are those of its result above those of the gradients: ○ " + d.Format + " loses them to zero, ░ it keeps fewer digits, ═ it keeps them, × they overflow."
	}
	p.printf(`<div style="%s;margin:8px 0 0 0">%s</div><div style="%s"><table class="halftone-table" style="%s;width:100%%;min-width:%dpx"><caption style="%s">Ops with their casts and gradients</caption><thead><tr style="%s">`,
		stMuted, note, stScroll, stTable, wide, stCaption, stSub)
	for _, c := range columns {
		style := stHead
		if c.number {
			style = stHeadNum
		}
		p.printf(`<th scope="col" style="%s;width:%s">%s`, style, c.width, c.name)
		if c.name == "Magnitudes" {
			p.printf(`<br><span style="%s;font-weight:normal;font-size:12px">%s to %s</span><br>%s`, stMuted, powersHTML(fmt.Sprintf("2^%d", widgets.StripLow)), powersHTML(fmt.Sprintf("2^%d", widgets.StripHigh)), stripAxis(d))
		}
		p.WriteString(`</th>`)
	}
	p.WriteString(`</tr></thead><tbody>`)
	left := d.More
	for _, m := range d.Modules() {
		name := moduleName(m)
		for _, r := range m.Rows {
			if p.Len() > maxTable {
				left++
				continue
			}
			siteRow(p, f, r, name, len(columns))
			name = ""
		}
		if len(m.Backward) > 0 && p.Len() > maxTable {
			left++
		} else if len(m.Backward) > 0 {
			p.printf(`<tr class="halftone-row" style="%s"><th scope="row" style="%s;font-weight:normal">%s<span style="%s">backward</span></th><td colspan="2"></td><td colspan="%d" style="%s">%s</td></tr>`,
				stRow, stCell, name, stMuted, len(columns)-3, stCell, backwardChips(d, m.Backward))
		}
	}
	if left > 0 {
		p.printf(`<tr style="%s"><td colspan="%d" style="%s">… and %s</td></tr>`, stRow, len(columns), stCell, moreRows(left))
	}
	p.WriteString(`</tbody></table></div>`)
}

// maxTable is the length at which the decisions table stops, with room left for a row, for what follows the table, and for
// the other faces in the bundle.
const maxTable = 34 << 10

func moreRows(n int) string {
	if n == 1 {
		return "1 more row"
	}
	return group(int64(n)) + " more rows"
}

// moduleName is the heading of a module's first row.
func moduleName(m widgets.ModuleSites) string {
	if m.Modules > 1 && !m.Optimizer {
		return fmt.Sprintf(`<strong>%s</strong> <span style="%s;white-space:nowrap">%s modules</span><br>`, breakable(m.Module), stMuted, group(int64(m.Modules)))
	}
	return `<strong>` + breakable(m.Name()) + `</strong><br>`
}

// breakable escapes a path and, where it is long, lets lines break behind its separators.
func breakable(path string) string {
	if len(path) < 20 {
		return esc(path)
	}
	return strings.NewReplacer("/", "/<wbr>", ".", ".<wbr>").Replace(esc(path))
}

// siteRow writes a forward site and, below it, its casts. name is the module's heading, on its first row.
func siteRow(p *page, f *widgets.Figure, r widgets.SiteRow, name string, columns int) {
	d := f.Decisions
	s := &d.Sites[r.Forward]
	class := "halftone-row"
	if s.Changed {
		class += " halftone-changed"
	}
	p.printf(`<tr class="%s" style="%s"><th scope="row" style="%s;font-weight:normal">%s<code style="`+stCode+`">%s</code>%s`, class, stRow, stCell, name, esc(s.Op), esc(d.Times(s)))
	if s.Where != "" {
		p.printf(` <span style="%s;font-size:12px;white-space:nowrap">%s</span>`, stMuted, esc(s.Where))
	}
	p.printf(`</th><td style="%s">%s</td><td style="%s">%s`, stCell, precision(s), stCell, reason(d.Rule(s)))
	p.printf(`<br><span style="%s;font-size:12px">%s</span></td><td style="%s">%s</td>`, stMuted, esc(circumstances(s)), stCell, backwardChips(d, r.Backward))
	if d.Format != "" {
		p.printf(`<td style="%s">`, stCell)
		if p.Len() < maxStrips {
			healthHTML(p, d, "fwd", s.Health, s.Out.IsHalf())
			back, narrow := d.BackwardHealth(r.Backward)
			healthHTML(p, d, "bwd", back, narrow)
		}
		p.WriteString(`</td>`)
	}
	p.printf(`<td style="%s">%s`, stNumber, esc(widgets.Bytes(d.StepBytes(s.Bytes))))
	if s.Saved > 0 {
		p.printf(`<br><span style="%s;font-size:12px">saves %s</span>`, stMuted, esc(widgets.Bytes(d.StepBytes(s.Saved))))
	}
	if ns := f.Measured(r.Forward); ns > 0 {
		p.printf(`<br><span style="%s;font-size:12px">%s</span>`, stMuted, esc(widgets.Duration(ns)))
	}
	p.WriteString(`</td>`)
	p.WriteString(`</tr>`)
	for _, c := range s.Casts {
		p.printf(`<tr class="%s" style="%s"><td style="%s">↳ cast <code style="`+stCode+`">%s</code></td><td style="%s">%s → %s</td><td colspan="%d" style="%s">%s</td></tr>`,
			class, stSub, stCast+";padding-left:20px", breakable(s.CastLabel(c)), stCast+";white-space:nowrap", esc(c.From.Short()), esc(c.To.Short()), columns-2, stCast, esc(d.CastText(c)))
	}
}

// circumstances are what belongs to a reason: what decided, the shapes, and whether tensor cores take them.
func circumstances(s *widgets.Site) string {
	var parts []string
	for _, t := range []string{noBreak(s.ByText()), s.Shape} {
		if t != "" {
			parts = append(parts, t)
		}
	}
	if s.Dims != nil {
		parts = append(parts, noBreak("tensor cores "+s.Dims.Text()))
	}
	return strings.Join(parts, " · ")
}

// noBreak keeps words on one line.
func noBreak(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") }

// maxStrips is the length from which rows do without their magnitudes: a row more says more.
const maxStrips = 26 << 10

// stripColors tell what the format makes of a column of magnitudes. They are read on light and on dark pages.
var stripColors = [...]string{widgets.FateZero: "#7f7f7f", widgets.FateSubnormal: "#3a8fc4", widgets.FateNormal: hex(blue), widgets.FateOverflow: hex(red)}

// colored writes a strip, each column in the color of its fate.
func colored(p *page, d *widgets.DecisionsData, strip string) {
	fate := -1
	for c, r := range []rune(strip) {
		if f := d.FateOf(widgets.StripLow + 2*c); f != fate && r != '·' {
			if fate >= 0 {
				p.WriteString(`</span>`)
			}
			fate = f
			p.printf(`<span style="color:%s">`, stripColors[f])
		}
		p.WriteRune(r)
	}
	if fate >= 0 {
		p.WriteString(`</span>`)
	}
}

const stStrip = `background-color:transparent;padding:0;font-size:11px;line-height:1.2;white-space:nowrap`

// stripAxis names the parts of the range by their marks.
func stripAxis(d *widgets.DecisionsData) string {
	p := new(page)
	p.printf(`<code style="%s">`, stStrip)
	colored(p, d, d.HealthAxis())
	p.WriteString(`</code>`)
	return p.String()
}

// healthHTML writes the magnitudes of a result and, in words, what is noteworthy about them.
func healthHTML(p *page, d *widgets.DecisionsData, what string, h *widgets.Health, narrow bool) {
	if h == nil {
		return
	}
	p.printf(`<code title="%s" style="%s">`, what, stStrip)
	colored(p, d, h.Strip())
	p.WriteString(`</code>`)
	weight := "normal"
	if h.Sick() {
		weight = "bold"
	}
	p.printf(`<br><span style="font-size:12px;font-weight:%s">%s %s</span><br>`, weight, what, powersHTML(strings.Join(h.Facts(narrow), " · ")))
}

// stCode undoes the gray that JupyterLab puts behind code.
const stCode = `background-color:transparent;padding:0`

const stCast = `text-align:left;vertical-align:top;padding:1px 6px 3px 6px;font-size:12px`

// reason writes a rule with the class that it begins with in bold.
func reason(rule string) string {
	if class, why, ok := strings.Cut(rule, ": "); ok && len(class) < 16 {
		return `<strong>` + esc(class) + `</strong>: ` + esc(why)
	}
	return esc(rule)
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

// maxForces bounds the list of options.
const maxForces = 12

// decisionsDetails writes what only some readers want: how to decide otherwise, the marks, and what recording cost.
func decisionsDetails(p *page, f *widgets.Figure) {
	d := f.Decisions
	if forces := d.Forces(); len(forces) > 0 {
		p.printf(`<details><summary style="%s">Decide otherwise</summary><div style="margin:4px 0">Options of the autocast scope that take an op out of 16 bits:</div>`, stSummary)
		for i, o := range forces {
			if i == maxForces {
				p.printf(`<div>… and %d more</div>`, len(forces)-i)
				break
			}
			p.printf(`<div style="margin:3px 0 3px 14px"><code class="halftone-copy">half := %s</code></div>`, esc(d.Override(o)))
		}
		p.WriteString(`</details>`)
	}
	p.printf(`<div style="%s;font-size:12px">▮ fp16 · ▯ bf16 · ■ fp32 · ▢ other`, stMuted)
	if o := f.Overhead(); o != "" {
		p.printf(` · %s`, esc(o))
	}
	p.WriteString(`</div>`)
}
