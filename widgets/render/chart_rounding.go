package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// The columns of the picture of roundings, in points.
const (
	roundLeft  = 16
	roundMark  = 250
	roundAxisL = 276
	roundAxisR = 490
	roundPart  = 512
	roundPartR = 602
	roundText  = 608
	roundRight = chartWidth - 16
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
	says := lines(textStyle(10, ink), d.Sentence, chartWidth-36, 5)
	head := vg.Length(roundHead + 14*len(says))
	return drawing{chartWidth, head + vg.Length(roundRow*len(rows)) + roundFoot, func(c draw.Canvas) {
		paper(c)
		y := c.Max.Y - 24
		c.FillText(boldStyle(13, ink), vg.Point{X: roundLeft, Y: y}, f.Title)
		for _, l := range says {
			y -= 14
			c.FillText(textStyle(10, ink), vg.Point{X: roundLeft, Y: y}, l)
		}
		top := c.Max.Y - head + 4
		bottom := top - vg.Length(roundRow*len(rows))
		a := newRoundAxis(d)
		roundingHeads(c, d, top)
		a.draw(c, top, bottom)
		parts := d.Parts()
		l := &layers{c: c}
		for i, k := range rows {
			at := top - vg.Length(roundRow*(i+1))
			l.line(rule, .5, roundLeft, at, roundRight, at)
			drawRounding(l, d, &d.Rows[k], a, parts[k], at)
		}
		l.flush()
		if more > 0 {
			c.FillText(textStyle(9, faint), vg.Point{X: roundLeft, Y: bottom - 14}, "… and "+moreRows(more)+" that matter less")
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

func roundingHeads(c draw.Canvas, d *widgets.RoundingData, top vg.Length) {
	y := top + 22
	style := boldStyle(8, faint)
	right := style
	right.XAlign = draw.XRight
	last := "PART OF WHAT ROUNDING CAN DO"
	if dt := d.Lower(); dt != amp.NoDType {
		last = "COST IN " + strings.ToUpper(dt.Short())
		for _, other := range d.Columns() {
			if other != dt {
				c.FillText(right, vg.Point{X: roundRight, Y: y}, "IN "+strings.ToUpper(other.Short()))
			}
		}
	}
	c.FillText(style, vg.Point{X: roundLeft, Y: y}, "IN THE PROGRAM'S ORDER")
	c.FillText(style, vg.Point{X: roundPart, Y: y}, last)
	c.FillText(style, vg.Point{X: roundAxisL, Y: y}, "RELATIVE ERROR")
	quiet := textStyle(8.5, faint)
	x, l := vg.Length(roundAxisL)+style.Width("RELATIVE ERROR")+9, &layers{c: c}
	for i, name := range []string{"own", "with all before"} {
		l.dot(faint, vg.Point{X: x + 3, Y: y + 3}, i == 0)
		l.text(quiet, x+9, y, name)
		x += 9 + quiet.Width(name) + 8
	}
	l.flush()
}

// A roundAxis is a logarithmic axis of relative errors, from 2^lo to 2^hi.
type roundAxis struct{ lo, hi float64 }

// roundGuides are the unit roundoffs: the most that rounding to nearest changes a normal number, relative to it.
var roundGuides = []struct {
	dt    amp.DType
	power float64
}{{amp.Float32, -24}, {amp.Float16, -11}, {amp.BFloat16, -8}}

// log2 is the logarithm of an error relative to a size; false where there is none to draw.
func log2(v, size widgets.Number) (float64, bool) {
	e := math.Log2(float64(v) / float64(size))
	return e, !math.IsNaN(e) && !math.IsInf(e, 0)
}

func newRoundAxis(d *widgets.RoundingData) roundAxis {
	a := roundAxis{-27, -5}
	for i := range d.Rows {
		r := &d.Rows[i]
		for _, v := range []widgets.Number{r.Own, r.Total} {
			if e, ok := log2(v, r.Size); ok {
				a.lo, a.hi = min(a.lo, math.Floor(e)-1), max(a.hi, math.Ceil(e)+1)
			}
		}
	}
	return roundAxis{max(a.lo, -60), min(a.hi, 12)}
}

func (a roundAxis) x(e float64) vg.Length {
	e = min(max(e, a.lo), a.hi)
	return roundAxisL + (roundAxisR-roundAxisL)*vg.Length((e-a.lo)/(a.hi-a.lo))
}

// draw draws the guides with their names and marks above and their powers below.
func (a roundAxis) draw(c draw.Canvas, top, bottom vg.Length) {
	for i, g := range roundGuides {
		x := a.x(g.power)
		c.StrokeLine2(draw.LineStyle{Color: dtypeColor(g.dt), Width: 1, Dashes: []vg.Length{2, 2}}, x, bottom, x, top+2)
		name, power := boldStyle(8, faint), textStyle(8.5, faint)
		label := fmt.Sprintf("2^%.0f", g.power)
		wide, below := 8+name.Width(g.dt.Short()), powersWidth(power, label)
		at, under := x-wide/2, x-below/2
		switch i { // two guides are near each other
		case 1:
			at, under = x-wide-1, x-below-1
		case 2:
			at, under = x+1, x+1
		}
		mark(c, g.dt, at, top+5.5, dtypeColor(g.dt))
		c.FillText(name, vg.Point{X: at + 8, Y: top + 6}, g.dt.Short())
		fillPowers(c, power, vg.Point{X: under, Y: bottom - 13}, label)
	}
}

func drawRounding(l *layers, d *widgets.RoundingData, r *widgets.RoundingRow, a roundAxis, part float64, y vg.Length) {
	base := y + 4.5
	op, dim := textStyle(9.5, ink), textStyle(8.5, faint)
	name := fit(op, r.OpText(), roundMark-roundLeft-60)
	l.text(op, roundLeft, base, name)
	at := roundLeft + op.Width(name) + 6
	l.text(dim, at, base, fitPath(dim, r.Beside(), roundMark-at-8))
	l.mark(r.DType, roundMark, y+4.5)
	a.marks(l, r, y+roundRow/2.)
	roundingPart(l, d, r, part, y)
}

// marks draws the two errors of a row and what is between them.
func (a roundAxis) marks(l *layers, r *widgets.RoundingRow, y vg.Length) {
	col := dtypeColor(r.DType)
	own, ok := log2(r.Own, r.Size)
	total, all := log2(r.Total, r.Size)
	if ok && all {
		l.line(col, 1.5, a.x(own), y, a.x(total), y)
	}
	if all {
		l.dot(col, vg.Point{X: a.x(total), Y: y}, false)
	}
	if ok {
		l.dot(col, vg.Point{X: a.x(own), Y: y}, true)
	}
}

// roundingPart draws the part of a row as a bar, or says what broke there.
func roundingPart(l *layers, d *widgets.RoundingData, r *widgets.RoundingRow, part float64, y vg.Length) {
	base, style := y+4.5, textStyle(9, ink)
	dt := d.Lower()
	if o, _ := r.In(dt); r.Bad > 0 || o.Over > 0 {
		words := "overflows"
		if r.Bad > 0 {
			words = count(r.Bad, "result") + " not finite"
		}
		cross(l.c, vg.Point{X: roundPart + 4, Y: y + roundRow/2.}, 3.5)
		s := boldStyle(9, ink)
		l.text(s, roundPart+13, base, fit(s, words, roundRight-roundPart-60))
	} else if part > 0 {
		l.fill(dtypeColor(barDType(r, dt)), roundPart, y+4, max((roundPartR-roundPart)*vg.Length(part), .75), roundRow-8)
		l.text(boldStyle(9, ink), roundText, base, widgets.PartText(part))
	}
	right := style
	right.XAlign = draw.XRight
	for _, other := range d.Columns() {
		if dt != amp.NoDType && other != dt {
			l.text(right, roundRight, base, fit(style, r.IfText(other), 60))
		}
	}
}

// barDType is the dtype whose color a row's bar has: the one that is tried, or its own.
func barDType(r *widgets.RoundingRow, dt amp.DType) amp.DType {
	if dt != amp.NoDType {
		return dt
	}
	return r.DType
}
