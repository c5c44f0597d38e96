package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
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

// decisionColumns are the columns, with the least width of the table in pixels. Every module has a table of its own, so that it can be
// folded; that all of them have these widths keeps them below each other.
func decisionColumns(d *widgets.DecisionsData) ([]column, int) {
	if d.Format != "" {
		return []column{{"Op", "12%", false}, {"Forward", "17%", false}, {"Why", "18%", false}, {"Backward", "16%", false}, {"Magnitudes", "24%", false}, {"Cost", "13%", true}}, 800
	}
	return []column{{"Op", "17%", false}, {"Forward", "22%", false}, {"Why", "27%", false}, {"Backward", "20%", false}, {"Cost", "14%", true}}, 660
}

// maxUnfolded is the number of rows that stand open; modules behind them are folded.
const maxUnfolded = 30

// decisionsTable writes the tree: what can be folded for each module. Rows stop where the HTML would grow beyond its bound; the figure's
// JSON has the rest.
func decisionsTable(p *page, f *widgets.Figure) {
	d := f.Decisions
	columns, wide := decisionColumns(d)
	note := "Each row is one place in the program, with the backward ops that compute its gradient."
	if d.Steps > 0 {
		note += " ×2 is twice a step; cost is the bytes of results per step, and the time of a call."
	}
	if d.Format != "" {
		note += " Magnitudes are those of its result above those of the gradients: ○ " + d.Format + " loses them to zero, ░ it keeps fewer digits, ═ it keeps them, × they overflow."
	}
	p.printf(`<div style="%s;margin:8px 0 0 0">%s</div><div style="%s"><div class="halftone-tree" style="min-width:%dpx"><div style="font-weight:bold;font-size:12px;white-space:nowrap">`,
		stMuted, note, stScroll, wide)
	for _, c := range columns {
		align := "left"
		if c.number {
			align = "right"
		}
		p.printf(`<span style="display:inline-block;box-sizing:border-box;vertical-align:bottom;padding:2px 6px;text-align:%s;width:%s">%s`, align, c.width, c.name)
		if c.name == "Magnitudes" {
			p.printf(` <span style="%s;font-weight:normal">%s to %s</span><br>%s`, stMuted, powersHTML(fmt.Sprintf("2^%d", widgets.StripLow)), powersHTML(fmt.Sprintf("2^%d", widgets.StripHigh)), stripAxis(d))
		}
		p.WriteString(`</span>`)
	}
	p.WriteString(`</div>`)
	left, rows := d.More, 0
	for _, m := range d.Modules() {
		if p.Len() > maxTable {
			left += len(m.Rows) + min(len(m.Backward), 1)
			continue
		}
		open := ""
		if rows < maxUnfolded {
			open = " open"
		}
		rows += len(m.Rows)
		p.printf(`<details class="halftone-module"%s><summary style="cursor:pointer;padding:4px 6px;border-top:1px solid rgba(128,128,128,0.6)">%s <span style="%s">%s</span></summary>`,
			open, moduleName(m), stMuted, moduleWords(d, m))
		left += moduleRows(p, f, m, columns)
		p.WriteString(`</details>`)
	}
	if left > 0 {
		p.printf(`<div style="padding:5px 6px;border-top:1px solid rgba(128,128,128,0.6)">… and %s</div>`, moreRows(left))
	}
	p.WriteString(`</div></div>`)
}

// moduleRows writes the table of a module and returns how many rows there was no room for. Its heads are there for those who hear a
// table: what is seen of them stands once above all modules.
func moduleRows(p *page, f *widgets.Figure, m widgets.ModuleSites, columns []column) (left int) {
	d := f.Decisions
	p.printf(`<table class="halftone-table" style="%s;table-layout:fixed;width:100%%"><caption style="%s">Ops of %s, with casts and gradients</caption><thead><tr style="%s">`, stTable, stHeard, esc(m.Name()), stSub)
	for _, c := range columns {
		p.printf(`<th scope="col" style="%s;width:%s">%s</th>`, stHeard, c.width, c.name)
	}
	p.WriteString(`</tr></thead><tbody>`)
	for _, r := range m.Rows {
		if p.Len() > maxTable {
			left++
			continue
		}
		siteRow(p, f, r, len(columns))
	}
	if len(m.Backward) > 0 && p.Len() > maxTable {
		left++
	} else if len(m.Backward) > 0 {
		p.printf(`<tr class="halftone-row" style="%s"><th scope="row" style="%s;font-weight:normal"><span style="%s">backward</span></th><td colspan="2"></td><td colspan="%d" style="%s">%s</td></tr>`,
			stRow, stCell, stMuted, len(columns)-3, stCell, backwardChips(d, m.Backward))
	}
	p.WriteString(`</tbody></table>`)
	return left
}

// stHeard takes up no room: words that are heard, and seen elsewhere.
const stHeard = `font-size:0;line-height:0;padding:0`

// moduleWords say what is in a module while it is folded: how many ops, and in which precision they compute.
func moduleWords(d *widgets.DecisionsData, m widgets.ModuleSites) string {
	var dtypes []amp.DType
	for _, r := range m.Rows {
		if c := d.Sites[r.Forward].Compute; !slices.Contains(dtypes, c) {
			dtypes = append(dtypes, c)
		}
	}
	words := "backward"
	if len(m.Rows) > 0 {
		words = count(len(m.Rows), "op")
	}
	for i, t := range dtypes {
		words += map[bool]string{true: " in ", false: " and "}[i == 0] + t.Short()
	}
	return esc(words)
}

// maxTable is the length at which the decisions table stops, with room left for a row, for what follows the table, and for
// the other faces in the bundle.
const maxTable = 46 << 10

func moreRows(n int) string {
	if n == 1 {
		return "1 more row"
	}
	return group(int64(n)) + " more rows"
}

// moduleName is the heading of a module.
func moduleName(m widgets.ModuleSites) string {
	if m.Modules > 1 && !m.Optimizer {
		return fmt.Sprintf(`<strong>%s</strong> <span style="%s;white-space:nowrap">%s modules,</span>`, breakable(m.Module), stMuted, group(int64(m.Modules)))
	}
	return `<strong>` + breakable(m.Name()) + `</strong>`
}

// breakable escapes a path and, where it is long, lets lines break behind its separators.
func breakable(path string) string {
	if len(path) < 12 {
		return esc(path)
	}
	return strings.NewReplacer("/", "/<wbr>", ".", ".<wbr>", "_", "_<wbr>").Replace(esc(path))
}

// siteRow writes a forward site and, below it, its casts.
func siteRow(p *page, f *widgets.Figure, r widgets.SiteRow, columns int) {
	d := f.Decisions
	s := &d.Sites[r.Forward]
	class := "halftone-row"
	if s.Changed {
		class += " halftone-changed"
	}
	p.printf(`<tr class="%s" style="%s"><th scope="row" style="%s;font-weight:normal"><code style="`+stCode+`">%s</code>%s`, class, stRow, stCell, breakable(s.Op), esc(d.Times(s)))
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
			class, stSub, stCast+";padding-left:20px", breakable(s.CastLabel(c)), stCast+";white-space:nowrap", esc(c.From.Short()), esc(c.ToText()), columns-2, stCast, esc(d.CastText(c)))
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

// stripStyles tell what the format makes of a column of magnitudes, on light and on dark pages. No red is read well on both, so what overflows
// has a ground of its own.
var stripStyles = [...]string{widgets.FateZero: "color:#7f7f7f", widgets.FateSubnormal: "color:#3a8fc4", widgets.FateNormal: "color:" + hex(blue), widgets.FateOverflow: "background-color:#b04a00;color:#ffffff"}

// colored writes a strip, each column in the color of its fate.
func colored(p *page, d *widgets.DecisionsData, strip string) {
	fate := -1
	for c, r := range []rune(strip) {
		if f := d.FateOf(widgets.StripLow + 2*c); f != fate && r != '·' {
			if fate >= 0 {
				p.WriteString(`</span>`)
			}
			fate = f
			p.printf(`<span style="%s">`, stripStyles[f])
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
		arrow := noBreak(esc(from) + " →")
		if out = arrow + " " + out; !strings.Contains(from, "+") {
			out = `<span style="white-space:nowrap">` + out + `</span>`
		}
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
