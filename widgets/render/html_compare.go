package render

import (
	"github.com/halftone-ml/halftone/widgets"
)

// compareHTML writes the finding, the curves and the table of runs.
func compareHTML(p *page, f *widgets.Figure, chart string) {
	d := f.Runs
	p.heading(f.Title, "")
	p.printf(`<div style="margin:4px 0">%s</div>`, esc(f.Alt))
	if d.Missing != "" {
		return
	}
	p.WriteString(chart)
	heads := []string{"Run", "Steps", "First loss", "Final loss", "Against the first run", "Largest difference", "Skipped"}
	if f.Volatile != nil {
		heads = append(heads, "Step time")
	}
	p.printf(`<div style="%s"><table style="%s"><caption style="%s">The first run is the reference; differences are relative to its loss.</caption><thead><tr style="%s">`, stScroll, stTable, stCaption, stSub)
	for i, h := range heads {
		align := stHeadNum
		if i == 0 {
			align = stHead
		}
		p.printf(`<th scope="col" style="%s">%s</th>`, align, h)
	}
	p.WriteString(`</tr></thead><tbody>`)
	for i := range d.Runs {
		runRow(p, f, i)
	}
	p.WriteString(`</tbody></table></div>`)
}

// runRow writes one run.
func runRow(p *page, f *widgets.Figure, i int) {
	r := &f.Runs.Runs[i]
	p.printf(`<tr style="%s"><th scope="row" style="%s;font-weight:normal">%s</th>`, stRow, stCell, chip(r.DType, r.Name))
	diff, worst := widgets.RelativeText(r.Relative), widgets.RelativeText(r.Worst)
	if i == 0 {
		diff, worst = "reference", ""
	} else if r.Worst != 0 && worst != "–" {
		worst += " at step " + group(int64(r.WorstAt))
	}
	if r.Diverged >= 0 {
		diff = "not finite from step " + group(int64(r.Diverged))
	}
	cells := []string{group(int64(r.Steps)), widgets.LossText(r.First), widgets.LossText(r.Final), diff, worst, group(int64(r.Skipped))}
	if f.Volatile != nil {
		t := "–"
		if ns := f.Measured(i); ns > 0 {
			t = widgets.Duration(ns)
		}
		cells = append(cells, t)
	}
	for _, c := range cells {
		p.printf(`<td style="%s">%s</td>`, stNumber, esc(c))
	}
	p.WriteString(`</tr>`)
}
