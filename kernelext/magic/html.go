package magic

import (
	"fmt"
	"html"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// JupyterLab drops from the HTML of a notebook it does not trust all style and script elements, and colors that are not
// literal. So the answers are made of elements with inline styles; text takes its color from the page's theme, and what
// is colored carries a mark too.

const (
	stBox     = `max-width:1000px;font-size:13px;line-height:1.45;margin:2px 0 8px 0`
	stMuted   = `opacity:0.75`
	stScroll  = `overflow-x:auto;margin:6px 0`
	stTable   = `border-collapse:collapse;table-layout:auto;margin:0;font-size:12.5px`
	stCaption = `caption-side:top;text-align:left;opacity:0.75;padding:2px 0 4px 0`
	stHead    = `text-align:left;vertical-align:bottom;padding:4px 10px 4px 0;border-bottom:0`
	stRow     = `background-color:transparent;border-top:1px solid rgba(128,128,128,0.35)`
	stCell    = `text-align:left;vertical-align:top;padding:4px 10px 4px 0;border-bottom:0` // pages of slides have rules of their own
	stNumber  = `text-align:right;vertical-align:top;padding:4px 10px 4px 0;white-space:nowrap;border-bottom:0`
	stCode    = `background-color:rgba(128,128,128,0.14);border-radius:3px;padding:0 3px;font-family:monospace;font-size:12px`
	stBlock   = `background-color:rgba(128,128,128,0.14);border-radius:3px;padding:6px 10px;margin:6px 0;font-family:monospace;font-size:12px;white-space:pre;overflow-x:auto`
)

// HTML draws the answer for a notebook, light or dark, trusted or not.
func (a Answer) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="halftone-answer" style="%s"><div style="margin:0 0 4px 0"><strong style="font-size:14px">%s</strong>`, stBox, html.EscapeString(a.Title))
	if a.Beside != "" {
		fmt.Fprintf(&b, ` <span style="%s;margin-left:6px">%s</span>`, stMuted, html.EscapeString(a.Beside))
	}
	b.WriteString(`</div>`)
	for _, p := range a.Parts {
		switch {
		case p.Table != nil:
			p.Table.html(&b)
		case p.Code != "":
			fmt.Fprintf(&b, `<pre style="%s">%s</pre>`, stBlock, html.EscapeString(strings.TrimRight(p.Code, "\n")))
		default:
			fmt.Fprintf(&b, `<p style="margin:4px 0">%s</p>`, typed(p.Text))
		}
	}
	b.WriteString(`</div>`)
	return b.String()
}

// maxUnbroken is the length of code that stays in one line.
const maxUnbroken = 24

// typed escapes text and sets what stands between backquotes as code.
func typed(s string) string {
	parts := strings.Split(html.EscapeString(s), "`")
	if len(parts)%2 == 0 {
		return strings.Join(parts, "`")
	}
	for i := 1; i < len(parts); i += 2 {
		style := stCode
		if len(parts[i]) <= maxUnbroken {
			style += ";white-space:nowrap"
		}
		parts[i] = `<code style="` + style + `">` + parts[i] + `</code>`
	}
	return strings.Join(parts, "")
}

func (t *Table) html(b *strings.Builder) {
	fmt.Fprintf(b, `<div style="%s"><table style="%s">`, stScroll, stTable)
	if t.Caption != "" {
		fmt.Fprintf(b, `<caption style="%s">%s</caption>`, stCaption, typed(t.Caption))
	}
	if strings.Join(t.Head, "") != "" {
		b.WriteString(`<thead><tr style="background-color:transparent">`)
		for i, h := range t.Head {
			style := stHead
			if t.right(i) {
				style = stNumber
			}
			fmt.Fprintf(b, `<th scope="col" style="%s">%s</th>`, style, html.EscapeString(h))
		}
		b.WriteString(`</tr></thead>`)
	}
	b.WriteString(`<tbody>`)
	for _, r := range t.Rows {
		fmt.Fprintf(b, `<tr style="%s">`, stRow)
		for i, f := range r {
			style := stCell
			if t.right(i) {
				style = stNumber
			}
			if i == 0 {
				fmt.Fprintf(b, `<th scope="row" style="%s;font-weight:normal;white-space:nowrap">%s</th>`, style, f.html())
				continue
			}
			fmt.Fprintf(b, `<td style="%s">%s</td>`, style, f.html())
		}
		b.WriteString(`</tr>`)
	}
	b.WriteString(`</tbody></table></div>`)
}

// statusColors go with the marks: seen on white as on JupyterLab's dark ground, with a contrast of 3 and more.
var statusColors = map[string]string{"ok": "#009e73", "warn": "#b37400", "bad": "#d55e00"}

func (f Field) html() string {
	var parts []string
	if m := statusMarks[f.Status]; m != "" {
		parts = append(parts, fmt.Sprintf(`<strong style="color:%s">%s</strong>`, statusColors[f.Status], m))
	}
	if f.DType != amp.NoDType {
		parts = append(parts, chip(f.DType))
	}
	if f.To != amp.NoDType {
		parts = append(parts, "→ "+chip(f.To))
	}
	if f.Text != "" {
		parts = append(parts, typed(f.Text))
	}
	return strings.Join(parts, " ")
}

// dtypeColors are the background and the text of a dtype's chip, those of the figures.
var dtypeColors = map[amp.DType][2]string{
	amp.Float16:  {"#0072b2", "#ffffff"},
	amp.BFloat16: {"#009e73", "#111111"},
	amp.Float32:  {"#e69f00", "#111111"},
}

// chip is a dtype on its color, with its mark.
func chip(d amp.DType) string {
	c, ok := dtypeColors[d]
	if !ok {
		c = [2]string{"#767676", "#ffffff"}
	}
	return fmt.Sprintf(`<span style="background-color:%s;color:%s;border-radius:3px;padding:0 5px;display:inline-block;white-space:nowrap">%s %s</span>`,
		c[0], c[1], widgets.Mark(d), d)
}
