package render

import (
	"cmp"
	"image/color"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// compareHTML writes the finding, the curves and the table of runs.
func compareHTML(p *page, f *widgets.Figure, chart string) {
	d := f.Runs
	p.heading(f.Title, "")
	p.printf(`<div style="margin:4px 0"><strong>%s</strong></div>`, esc(d.Answer))
	if d.Missing != "" {
		return
	}
	for _, text := range []string{d.Lengths(), f.Cost()} {
		if text != "" {
			p.printf(`<div style="margin:4px 0">%s</div>`, esc(text))
		}
	}
	p.WriteString(chart)
	heads := []string{"Run", "Steps", "First loss", "Final loss", "Mean at the end", "Against the first", "Largest difference", "Skipped"}
	if timed(f) {
		heads = append(heads, "Step time")
	}
	if sized(f) {
		heads = append(heads, "Memory")
	}
	p.note("The first run is the reference; differences are relative to its loss. Means at the end, and what is said against the first, are of the last tenth of the common steps, of at most 50.")
	p.table("Losses of runs")
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
	opsTable(p, d)
}

// timed and sized say whether step times and memory were measured.
func timed(f *widgets.Figure) bool { return f.Measured(0) > 0 || f.Measured(1) > 0 }
func sized(f *widgets.Figure) bool { return f.Peak(0) > 0 || f.Peak(1) > 0 }

// opsTable writes the error of every op: a row for each op that a run compared, a column for each such run.
func opsTable(p *page, d *widgets.CompareData) {
	var runs []int
	for i := range d.Runs {
		if len(d.Runs[i].Ops) > 0 {
			runs = append(runs, i)
		}
		if note := d.Runs[i].OpsNote; note != "" {
			p.printf(`<div style="%s">%s: %s</div>`, stMuted, esc(d.Runs[i].Name), esc(note))
		}
	}
	if len(runs) == 0 {
		return
	}
	bar := 150 // as wide as the longest bar
	if len(runs) > 3 {
		bar = 90
	}
	p.printf(`<details open><summary style="%s"><strong>Op by op</strong></summary>`, stSummary)
	p.note("Largest difference from " + d.Runs[0].Name + " in the first step, relative to the largest number of the result; bars are logarithmic, from 1e-8 to 1.")
	p.table("Errors of ops")
	p.printf(`<th scope="col" style="%s">Pass</th><th scope="col" style="%s">Op</th>`, stHead, stHead)
	for _, i := range runs {
		p.printf(`<th scope="col" style="%s;min-width:%dpx">%s</th>`, stHead, bar, esc(d.Runs[i].Name))
	}
	p.WriteString(`</tr></thead><tbody>`)
	more := 0
	for _, i := range runs {
		more += d.Runs[i].OpsMore
	}
	for _, row := range opRows(d, runs) {
		p.printf(`<tr style="%s"><td style="%s">%s</td><th scope="row" style="%s;font-weight:normal">%s</th>`, stSub, stTight, esc(row.phase), stTight, esc(row.name))
		for k, o := range row.errors {
			opCell(p, o, row.colors[k], bar)
		}
		p.WriteString(`</tr>`)
	}
	p.WriteString(`</tbody></table></div>`)
	if more > 0 {
		p.printf(`<div style="%s">… and %s with smaller errors</div>`, stMuted, count(more, "op"))
	}
	p.WriteString(`</details>`)
}

// stTight is the style of cells in long tables.
const stTight = `text-align:left;padding:2px 8px;white-space:nowrap`

// opCell writes an error: the dtype, the number, and a bar.
func opCell(p *page, o *widgets.OpError, c color.NRGBA, bar int) {
	if o == nil {
		p.printf(`<td style="%s">–</td>`, stTight)
		return
	}
	p.printf(`<td style="%s">%s %s <strong>%s</strong><div style="width:%dpx;height:5px;background-color:%s"></div></td>`,
		stTight, widgets.Mark(o.DType), o.DType.Short(), esc(o.ErrorText()), int(float64(bar)*o.Bar()+.5), hex(c))
}

// errorColor is that of the dtype that the op ran in, and of the run where that is the run's own; red for what is not finite.
func errorColor(d *widgets.CompareData, run int, o *widgets.OpError) color.NRGBA {
	switch {
	case o.ErrorText() == "not finite":
		return red
	case o.DType == d.Runs[run].DType:
		return runColor(d, run)
	}
	return dtypeColor(o.DType)
}

// An opRow is an op and its errors in some runs, nil where a run has none.
type opRow struct {
	phase, name string
	errors      []*widgets.OpError
	colors      []color.NRGBA // of their bars
}

// opRows joins the ops of runs, in the order of the first run that has them.
func opRows(d *widgets.CompareData, runs []int) []opRow {
	var rows []opRow
	at := map[[2]string]int{}
	for c, i := range runs {
		ops := d.Runs[i].Ops
		for k := range ops {
			key := [2]string{ops[k].Phase, ops[k].Name()}
			n, known := at[key]
			if !known {
				n = len(rows)
				at[key] = n
				rows = append(rows, opRow{ops[k].Phase, key[1], make([]*widgets.OpError, len(runs)), make([]color.NRGBA, len(runs))})
			}
			rows[n].errors[c], rows[n].colors[c] = &ops[k], errorColor(d, i, &ops[k])
		}
	}
	slices.SortStableFunc(rows, func(a, b opRow) int { return -cmp.Compare(a.phase, b.phase) }) // forward first
	return rows
}

// runChip is a run's name on the color of its curve, with its dtype's mark where it has one.
func runChip(d *widgets.CompareData, i int) string {
	mark := ""
	if dt := d.Runs[i].DType; dt != amp.NoDType {
		mark = widgets.Mark(dt) + " "
	}
	return label(runColor(d, i), mark+d.Runs[i].Name)
}

// runRow writes one run.
func runRow(p *page, f *widgets.Figure, i int) {
	r := &f.Runs.Runs[i]
	p.printf(`<tr style="%s"><th scope="row" style="%s;font-weight:normal">%s</th>`, stRow, stCell, runChip(f.Runs, i))
	diff, worst := f.Runs.EndText(i), f.Runs.WorstText(i)
	if i == 0 {
		diff, worst = "reference", ""
	} else if r.Worst != 0 && worst != "–" {
		worst += " at step " + group(int64(r.WorstAt))
	}
	if r.Diverged >= 0 {
		diff = "not finite from step " + group(int64(r.Diverged))
	}
	cells := []string{group(int64(r.Steps)), widgets.LossText(r.First), widgets.LossText(r.Final), r.EndMeanText(), diff, worst, group(int64(r.Skipped))}
	known := func(n int64, text string) string {
		if n > 0 {
			return text
		}
		return "–"
	}
	if timed(f) {
		cells = append(cells, known(f.Measured(i), widgets.Duration(f.Measured(i))))
	}
	if sized(f) {
		cells = append(cells, known(f.Peak(i), widgets.Bytes(f.Peak(i))))
	}
	for _, c := range cells {
		p.printf(`<td style="%s">%s</td>`, stNumber, esc(c))
	}
	p.WriteString(`</tr>`)
}
