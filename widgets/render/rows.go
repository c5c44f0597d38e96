package render

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// What pictures of a program's ops, a row for each, have in common.

// rowsLeft is where rows begin, in points.
const rowsLeft = 16

// rowsHead paints the card with a title and the lines of a finding below it, and returns where the last of them stands.
func rowsHead(c draw.Canvas, title string, says []string) vg.Length {
	paper(c)
	y := c.Max.Y - 24
	c.FillText(boldStyle(13, ink), vg.Point{X: rowsLeft, Y: y}, title)
	for _, l := range says {
		y -= 14
		fillPowers(c, textStyle(10, ink), vg.Point{X: rowsLeft, Y: y}, l)
	}
	return y
}

// rowName writes an op where its row begins, shortened to end before a point, and returns where what stands beside it begins.
func rowName(c draw.Canvas, base, end vg.Length, op string) vg.Length {
	style := textStyle(9.5, ink)
	name := fit(style, op, end-rowsLeft)
	c.FillText(style, vg.Point{X: rowsLeft, Y: base}, name)
	return rowsLeft + style.Width(name) + 6
}
