package render

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/widgets"
)

// The rows of the picture of op errors, and how many rows and bars it has at most; the table has all.
const (
	maxDrawnOps  = 16
	maxDrawnBars = 64
	opsHead      = 34
	opsFoot      = 18
	opsName      = 190 // width of the names
)

// An opsDrawing draws bars for the ops' errors in as much height as they need.
type opsDrawing struct {
	height vg.Length
	draw   func(c draw.Canvas)
}

// drawnOps draws the error of every op on a logarithmic axis: one bar for each run that compared it. The ops with the largest errors are
// drawn where there are too many for so many rows.
func drawnOps(d *widgets.CompareData, most int) opsDrawing {
	var runs []int
	for i := range d.Runs {
		if len(d.Runs[i].Ops) > 0 {
			runs = append(runs, i)
		}
	}
	if len(runs) == 0 {
		return opsDrawing{}
	}
	rows := opRows(d, runs)
	most = max(min(most, maxDrawnOps, maxDrawnBars/len(runs)), 1)
	more := len(rows) - most
	if more > 0 {
		rows = worstRows(rows, most)
	}
	bar := []vg.Length{0, 9, 6, 5, 4.5}[min(len(runs), 4)]
	row := max(vg.Length(len(runs))*bar+4, 14)
	height := opsHead + vg.Length(len(rows))*row + opsFoot
	return opsDrawing{height, func(c draw.Canvas) {
		title := fmt.Sprintf("op by op: largest difference from %s, relative to the largest number", d.Runs[0].Name)
		if more > 0 {
			title += fmt.Sprintf(" (the %d largest of %d)", len(rows), len(rows)+more)
		}
		c.FillText(textStyle(9, faint), vg.Point{X: c.Min.X, Y: c.Max.Y - 20}, fit(textStyle(9, faint), title, c.Max.X-c.Min.X))
		left, right := c.Min.X+opsName, c.Max.X-60
		top, bottom := c.Max.Y-opsHead, c.Max.Y-opsHead-vg.Length(len(rows))*row
		for e := -8; e <= 0; e += 2 {
			x := left + (right-left)*vg.Length(e+8)/8
			c.StrokeLine2(draw.LineStyle{Color: rule, Width: .75}, x, bottom, x, top)
			s := textStyle(9, faint)
			s.XAlign = draw.XCenter
			c.FillText(s, vg.Point{X: x, Y: bottom - 12}, map[bool]string{true: "1", false: fmt.Sprintf("1e%d", e)}[e == 0])
		}
		for i, r := range rows {
			drawOp(c, r, top-vg.Length(i+1)*row, row, bar, left, right)
		}
	}}
}

// drawOp draws the bars of one op and the largest of its errors behind them.
func drawOp(c draw.Canvas, r opRow, y, row, bar, left, right vg.Length) {
	name := textStyle(9.5, ink)
	label := r.name
	if r.phase == "backward" {
		label = "← " + label
	}
	c.FillText(name, vg.Point{X: c.Min.X, Y: y + row/2 - 3.5}, fit(name, label, left-c.Min.X-8))
	most, worst := vg.Length(0), (*widgets.OpError)(nil)
	for k, o := range r.errors {
		if o == nil {
			continue
		}
		w := (right - left) * vg.Length(o.Bar())
		fill(c, r.colors[k], left, y+row-2-vg.Length(k+1)*bar, w, bar-1)
		if most = max(most, w); worst == nil || o.Error > worst.Error {
			worst = o
		}
	}
	if worst != nil {
		c.FillText(textStyle(8.5, faint), vg.Point{X: left + most + 4, Y: y + row/2 - 3.5}, worst.ErrorText())
	}
}

// worstRows keeps the n rows with the largest errors, in their order.
func worstRows(rows []opRow, n int) []opRow {
	worst := func(r opRow) (most float64) {
		for _, o := range r.errors {
			if o != nil {
				most = max(most, o.Bar())
			}
		}
		return most
	}
	index := make([]int, len(rows))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(worst(rows[b]), worst(rows[a])) })
	index = index[:min(n, len(index))]
	slices.Sort(index)
	out := make([]opRow, len(index))
	for i, k := range index {
		out[i] = rows[k]
	}
	return out
}
