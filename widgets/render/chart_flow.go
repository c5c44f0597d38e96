package render

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/widgets"
)

// The columns of the picture of a gradient flow, in points.
const (
	flowGrad  = 186
	flowTile  = 276
	flowBarAt = 326
	flowText  = 546
	flowFit   = 626
	flowRow   = 21
	flowHead  = 84
)

// flowChart draws the walk from the loss to the parameters: a bar for every gradient, at most the given number of rows.
func flowChart(f *widgets.Figure, most int) drawing {
	d := f.Flow
	if d.Missing != "" || len(d.Rows) == 0 {
		return note(f.Title, d.Sentence)
	}
	rows := d.Rows[:min(len(d.Rows), most)]
	more := len(d.Rows) - len(rows) + d.More
	says := lines(textStyle(10, ink), d.Sentence, chartWidth-36, 3)
	head := vg.Length(flowHead + 13*len(says))
	height := head + vg.Length(flowRow*len(rows)) + 14
	if more > 0 {
		height += 14
	}
	return drawing{chartWidth, height, func(c draw.Canvas) {
		flowLegend(c, rowsHead(c, f.Title, says)-19)
		y := c.Max.Y - head + 6
		for _, h := range []struct {
			x    vg.Length
			text string
		}{{rowsLeft, "FROM THE LOSS ON"}, {flowGrad, "GRADIENT"}, {flowBarAt, "WHAT BECAME OF IT"}, {flowText, "LOST HERE"}, {flowFit, "KEEPS 99.9%"}} {
			c.FillText(boldStyle(8, faint), vg.Point{X: h.x, Y: y}, h.text)
		}
		y -= 6
		for i := range rows {
			c.StrokeLine2(draw.LineStyle{Color: rule, Width: .75}, rowsLeft, y, chartWidth-rowsLeft, y)
			y -= flowRow
			drawFlow(c, &rows[i], y)
		}
		if more > 0 {
			c.FillText(textStyle(9, faint), vg.Point{X: rowsLeft, Y: y - 13}, "… and "+moreRows(more))
		}
	}}
}

// flowLegend names the colors.
func flowLegend(c draw.Canvas, y vg.Length) {
	x, style := vg.Length(rowsLeft), textStyle(9, faint)
	for i, name := range widgets.FlowParts {
		fill(c, flowColors[i], x, y, 9, 9)
		c.FillText(style, vg.Point{X: x + 13, Y: y}, name)
		x += 13 + style.Width(name) + 14
	}
}

// drawFlow draws a row upwards from y.
func drawFlow(c draw.Canvas, r *widgets.FlowRow, y vg.Length) {
	base := y + 6
	op, dim := textStyle(9.5, ink), textStyle(8.5, faint)
	beside := r.Module
	if r.Where != "" && beside != "" {
		beside += " · "
	}
	at := rowName(c, base, flowGrad-40, r.OpText())
	c.FillText(dim, vg.Point{X: at, Y: base}, fit(dim, beside+r.Where, flowGrad-at-6))
	c.FillText(op, vg.Point{X: flowGrad, Y: base}, fit(op, r.What(), flowTile-flowGrad-6))
	tile(c, r.DType, flowTile, base-3.5, r.DType.Short())
	drawFlowBar(c, r, vg.Rectangle{Min: vg.Point{X: flowBarAt, Y: base - 3}, Max: vg.Point{X: flowText - 10, Y: base + 10}})
	bold := boldStyle(9.5, ink)
	c.FillText(bold, vg.Point{X: flowText, Y: base}, fit(bold, r.HereText(), flowFit-flowText-4))
	fillPowers(c, op, vg.Point{X: flowFit, Y: base}, r.FitText())
}

// drawFlowBar draws the parts of a row one after another, what was lost here with its mark.
func drawFlowBar(c draw.Canvas, r *widgets.FlowRow, box vg.Rectangle) {
	parts, all, shares := r.Parts(), 0, 0.0
	for _, n := range parts {
		all += n
	}
	for _, n := range parts {
		shares += flowShare(n, all)
	}
	if all == 0 {
		return
	}
	x := box.Min.X
	for i, n := range parts {
		if n == 0 {
			continue
		}
		w := (box.Max.X - box.Min.X) * vg.Length(flowShare(n, all)/shares)
		fill(c, flowColors[i], x, box.Min.Y, w, box.Max.Y-box.Min.Y)
		if mark := widgets.FlowMarks[i]; w > 16 && (i == widgets.FlowZero || i == widgets.FlowOver) {
			s := textStyle(9, onColor(flowColors[i]))
			s.XAlign = draw.XCenter
			if i == widgets.FlowZero {
				mark = "0"
			}
			c.FillText(s, vg.Point{X: x + w/2, Y: box.Min.Y + 3}, mark)
		}
		x += w
	}
}
