package render

import (
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// The columns of the picture of roundings, in points.
const (
	roundMark  = 250
	roundAxisL = 276
	roundAxisR = 490
	roundPart  = 512
	roundPartR = 602
	roundText  = 608
	roundRight = chartWidth - rowsLeft
	roundRow   = 17
	roundHead  = 72
	roundFoot  = 30
)

// roundingChart draws the ops in the program's order, at most the given number of them: the error of their results on a logarithmic axis, and
// their part of what rounding does to the loss.
func roundingChart(f *widgets.Figure, most int) drawing {
	d := f.Rounding
	if d.Missing != "" || len(d.Rows) == 0 {
		return note(f.Title, d.Sentence)
	}
	rows := roundingRows(d, most)
	more := len(d.Rows) - len(rows) + d.More
	says := append(lines(textStyle(10, ink), d.Sentence, chartWidth-36, 5), lines(textStyle(10, ink), d.Shorter, chartWidth-36, 3)...)
	head := vg.Length(roundHead + 14*len(says))
	return drawing{chartWidth, head + vg.Length(roundRow*len(rows)) + roundFoot, func(c draw.Canvas) {
		rowsHead(c, f.Title, says)
		top := c.Max.Y - head + 4
		bottom := top - vg.Length(roundRow*len(rows))
		a := newRoundAxis(d)
		roundingHeads(c, d, a, top)
		a.draw(c, top, bottom)
		parts := d.Parts()
		l := &layers{c: c}
		for i, k := range rows {
			at := top - vg.Length(roundRow*(i+1))
			l.line(rule, .5, rowsLeft, at, roundRight, at)
			drawRounding(l, d, &d.Rows[k], a, parts[k], at)
		}
		l.flush()
		if more > 0 {
			c.FillText(textStyle(9, faint), vg.Point{X: rowsLeft, Y: bottom - 14}, "… and "+moreRows(more)+" that matter less")
		}
	}}
}

// roundingRows lists the rows that are drawn, in order: those that matter most where there are too many.
func roundingRows(d *widgets.RoundingData, most int) []int {
	index := make([]int, len(d.Rows))
	for i := range index {
		index[i] = i
	}
	if len(index) <= most {
		return index
	}
	index = d.Ranked()[:most]
	slices.Sort(index)
	return index
}

func roundingHeads(c draw.Canvas, d *widgets.RoundingData, a roundAxis, top vg.Length) {
	y := top + 22
	style := boldStyle(8, faint)
	right := style
	right.XAlign = draw.XRight
	part, last := "PART OF ALL ROUNDING", "MOVED IT BY"
	if dt := d.Lower(); dt != amp.NoDType {
		part, last = "PART, IN "+strings.ToUpper(dt.Short()), "IN "+strings.ToUpper(dt.Short())
	}
	c.FillText(style, vg.Point{X: rowsLeft, Y: y}, "IN THE PROGRAM'S ORDER")
	c.FillText(style, vg.Point{X: roundPart, Y: y}, part)
	c.FillText(right, vg.Point{X: roundRight, Y: y}, last)
	c.FillText(style, vg.Point{X: roundAxisL, Y: y}, strings.ToUpper(a.title))
	quiet := textStyle(8.5, faint)
	x, l := vg.Length(roundAxisL)+style.Width(strings.ToUpper(a.title))+9, &layers{c: c}
	for i, name := range a.names {
		l.dot(a.colors[i], vg.Point{X: x + 3, Y: y + 3}, i == 0)
		l.text(quiet, x+9, y, name)
		x += 9 + quiet.Width(name) + 8
	}
	l.flush()
}

func drawRounding(l *layers, d *widgets.RoundingData, r *widgets.RoundingRow, a roundAxis, part float64, y vg.Length) {
	base := y + 4.5
	dim := textStyle(8.5, faint)
	at := rowName(l.c, base, roundMark-60, r.OpText())
	l.text(dim, at, base, fitPath(dim, r.Beside(), roundMark-at-8))
	l.mark(r.DType, roundMark, y+4.5)
	a.marks(l, r, y+roundRow/2.)
	roundingPart(l, d, r, part, y)
}

// roundingPart draws the part of a row as a bar, or says what broke there.
func roundingPart(l *layers, d *widgets.RoundingData, r *widgets.RoundingRow, part float64, y vg.Length) {
	base := y + 4.5
	dt := d.Lower()
	if o, _ := r.In(dt); r.Bad > 0 || o.Over > 0 {
		words := "overflows"
		if r.Bad > 0 {
			words = count(r.Bad, "result") + " not finite"
		}
		cross(l.c, vg.Point{X: roundPart + 4, Y: y + roundRow/2.}, 3.5)
		s := boldStyle(9, ink)
		l.text(s, roundPart+13, base, fit(s, words, roundRight-roundPart-13))
		return
	}
	if part < widgets.RoundingLeast {
		return
	}
	w := max((roundPartR-roundPart)*vg.Length(part), .75)
	l.fill(dtypeColor(barDType(r, dt)), roundPart, y+4, w, roundRow-8)
	l.text(boldStyle(9, ink), roundPart+w+5, base, widgets.PartText(part))
	right, last := textStyle(9, ink), r.ShareText()
	right.XAlign = draw.XRight
	if dt != amp.NoDType {
		last = r.IfText(dt)
	}
	l.text(right, roundRight, base, fit(right, last, roundRight-roundPartR-30))
}

// barDType is the dtype whose color a row's bar has: the one that is tried, or its own.
func barDType(r *widgets.RoundingRow, dt amp.DType) amp.DType {
	if dt != amp.NoDType {
		return dt
	}
	return r.DType
}
