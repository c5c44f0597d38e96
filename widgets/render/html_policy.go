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

// maxDocs is the length from which ops do without what they compute: their names and classes say more. The figure's JSON has it.
const maxDocs = 57 << 10

// policyList writes the ops of a class by reason, each with what it computes; parts by their names alone. An item needs no end tag, which there are
// hundreds of.
func policyList(p *page, d *widgets.PolicyData, class string, parts bool) {
	groups := d.Grouped(class, parts)
	if len(groups) == 0 {
		return
	}
	p.WriteString(`<div style="margin:4px 0 12px 16px">`)
	for _, g := range groups {
		all, note := shared(g.Ops, d.Lists)
		p.printf(`<div class="halftone-reason"><div style="opacity:.75">%s%s</div>`, esc(g.Why), all)
		if parts {
			for i, o := range g.Ops {
				p.printf(`<span>%s%s%s</span> `, esc(o.Name), note(o), map[bool]string{true: ","}[i+1 < len(g.Ops)])
			}
		} else {
			p.WriteString(`<ul style="margin:2px 0 8px;padding-left:20px">`)
			for _, o := range g.Ops {
				doc := o.Doc
				if p.Len() > maxDocs {
					doc = ""
				}
				p.printf(`<li><b>%s</b> %s%s`, esc(o.Name), esc(doc), note(o))
			}
			p.WriteString(`</ul>`)
		}
		p.WriteString(`</div>`)
	}
	p.WriteString(`</div>`)
}

// shared returns what otherwise says of all ops, to be said once, and what is then left to say of each.
func shared(ops []*widgets.PolicyOp, lists string) (all string, note func(o *widgets.PolicyOp) string) {
	each := func(o *widgets.PolicyOp) string { return otherwise(o, lists) }
	all = each(ops[0])
	for _, o := range ops[1:] {
		if each(o) != all {
			return "", each
		}
	}
	if len(ops) == 1 {
		return "", each
	}
	return all, func(*widgets.PolicyOp) string { return "" }
}

// otherwise is what other lists have otherwise, and what the op gives where that is no float; it stands in brackets: "CUDA, Apex: unlisted; gives bool".
func otherwise(o *widgets.PolicyOp, lists string) string {
	var notes []string
	before := ""
	for _, other := range [...][2]string{{"cuda", "CUDA"}, {"cpu", "CPU"}, {"apex", "Apex"}} {
		switch c := o.On(other[0]); {
		case c == "", c == o.On(lists): // a figure that a cell wrote by itself may lack one
		case c == before: // said once
			last := len(notes) - 1
			notes[last] = strings.TrimSuffix(notes[last], ": "+c) + ", " + other[1] + ": " + c
		default:
			notes, before = append(notes, other[1]+": "+c), c
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
	return " (" + esc(strings.Join(notes, "; ")) + ")"
}
