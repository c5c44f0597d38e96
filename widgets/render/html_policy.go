package render

import (
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

// policyHTML writes the finding, the picture, and the op table: folded by class, below each class the reasons with their ops. What the
// other lists have otherwise stands behind an op's name.
func policyHTML(p *page, f *widgets.Figure, chart string) {
	d := f.Policy
	p.heading(f.Title, widgets.ListsName(d.Lists))
	p.printf(`<div style="margin:4px 0"><strong>%s</strong></div>`, esc(d.Sentence))
	if d.Missing != "" {
		return
	}
	if len(d.Forced) > 0 {
		p.WriteString(`<div style="margin:6px 0">`)
		for _, x := range d.Forced {
			p.printf(`<span style="display:inline-block;margin:2px 10px 2px 0;padding:1px 8px;border-left:4px solid #d55e00;background-color:rgba(213,94,0,0.12)"><code>%s</code> is forced: %s → <strong>%s</strong></span>`, esc(x.Op), esc(x.From), esc(x.To))
		}
		p.WriteString(`</div>`)
	}
	p.WriteString(chart)
	p.WriteString(`<div class="halftone-policy">`)
	for _, c := range d.Classes {
		p.printf(`<details><summary style="%s"><strong>%s</strong> · %s · %s</summary>`, stSummary, esc(c.Class), count(c.Ops, "op"), esc(c.Means))
		policyList(p, d, c.Class, false)
		p.WriteString(`</details>`)
	}
	parts := 0
	for _, o := range d.Ops {
		if o.Part {
			parts++
		}
	}
	if parts > 0 {
		p.printf(`<details><summary style="%s"><strong>parts</strong> · %s that ops, gradients and updates are made of</summary>`, stSummary, count(parts, "row"))
		for _, class := range widgets.PolicyClasses {
			policyList(p, d, class.String(), true)
		}
		p.WriteString(`</details>`)
	}
	p.WriteString(`</div>`)
	if d.More > 0 {
		p.printf(`<div style="%s">… and %s left out</div>`, stMuted, count(d.More, "more op"))
	}
}

// count writes "1 op", "2 ops".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return group(int64(n)) + " " + one + "s"
}

// policyList writes the ops of a class by reason.
func policyList(p *page, d *widgets.PolicyData, class string, parts bool) {
	groups := d.Grouped(class, parts)
	if len(groups) == 0 {
		return
	}
	p.WriteString(`<div style="margin:4px 0 12px 16px">`)
	for _, g := range groups {
		names := make([]string, len(g.Ops))
		for i, o := range g.Ops {
			names[i] = esc(o.Name) + otherwise(o, d.Lists)
		}
		p.printf(`<div style="opacity:0.75">%s</div><div style="margin:0 0 8px 0">%s</div>`, esc(g.Why), strings.Join(names, ", "))
	}
	p.WriteString(`</div>`)
}

// otherwise is what other lists have otherwise, and what the op gives where that is no float; it stands in brackets.
func otherwise(o *widgets.PolicyOp, lists string) string {
	var notes []string
	for _, other := range [...][2]string{{"cuda", "CUDA"}, {"cpu", "CPU"}, {"apex", "Apex"}} {
		if c := o.On(other[0]); c != o.On(lists) {
			notes = append(notes, other[1]+": "+c)
		}
	}
	if !o.Gives.IsFloat() && o.Gives != 0 {
		notes = append(notes, "gives "+o.Gives.String())
	}
	if o.Own {
		notes = append(notes, "your own")
	}
	if len(notes) == 0 {
		return ""
	}
	return " <small>(" + esc(strings.Join(notes, ", ")) + ")</small>"
}

// policyData is what the search needs: of each op its name, its class on the three lists, its reason, and what else is noted.
func policyData(d *widgets.PolicyData, data map[string]any) {
	type row [6]any
	class := map[string]int{}
	var classes []string
	index := func(c string) int {
		i, known := class[c]
		if !known {
			i = len(classes)
			class[c] = i
			classes = append(classes, c)
		}
		return i
	}
	forced := map[string]string{}
	for _, x := range d.Forced {
		forced[x.Op] = x.To
	}
	var rows []row
	for i := range d.Ops {
		o := &d.Ops[i]
		note := ""
		switch {
		case forced[o.Name] != "":
			note = "forced to " + forced[o.Name]
		case !o.Gives.IsFloat() && o.Gives != 0:
			note = "gives " + o.Gives.String()
		case o.Own:
			note = "your own"
		case o.Part:
			note = "part of others"
		}
		rows = append(rows, row{o.Name, index(o.Class), index(o.On("cpu")), index(o.On("apex")), o.Why, note})
	}
	data["ops"], data["classes"], data["whys"] = rows, classes, d.Whys
}
