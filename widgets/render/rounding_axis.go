package render

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// A roundAxis is a logarithmic axis from 2^lo to 2^hi on which every row has two marks. Of a pass in 16 bits these are the errors of its
// results, relative to their size: what the op changed by rounding, and what it and all before it did. Of a program in float32, whose
// errors are all alike, they are what the op would do to the loss in float16 and in bfloat16, relative to the loss.
type roundAxis struct {
	title  string
	names  []string // of the marks
	colors []color.NRGBA
	guides []roundGuide
	lo, hi float64
	unit   float64     // of costs: what they are relative to
	costs  []amp.DType // none of errors
}

// A roundGuide is a line across all rows.
type roundGuide struct {
	dt    amp.DType
	at    float64
	label string
}

// A roundPoint is a mark of a row.
type roundPoint struct {
	at     float64
	color  color.NRGBA
	filled bool
}

func newRoundAxis(d *widgets.RoundingData) roundAxis {
	// The unit roundoffs: the most that rounding to nearest changes a normal number, relative to it.
	a := roundAxis{title: "Relative error", names: []string{"own", "with all before"}, colors: []color.NRGBA{faint, faint}, lo: -29, hi: -5,
		guides: []roundGuide{{amp.Float32, -24, "2^-24"}, {amp.Float16, -11, "2^-11"}, {amp.BFloat16, -8, "2^-8"}}}
	if d.Lower() != amp.NoDType {
		a = roundAxis{title: "Cost", costs: d.Columns(), unit: math.Abs(float64(d.Exact)), lo: math.Inf(1), hi: math.Inf(-1)}
		if a.unit > 0 {
			a.title = "Cost relative to the loss"
		} else {
			a.unit = 1
		}
		for _, dt := range a.costs {
			a.names, a.colors = append(a.names, dt.Short()), append(a.colors, dtypeColor(dt))
			o, _ := d.In(dt)
			if e, ok := log2(float64(o.Spread), a.unit); ok {
				a.guides = append(a.guides, roundGuide{dt, e, "all " + widgets.ErrorText(math.Exp2(e))})
			}
		}
	}
	for _, g := range a.guides {
		a.lo, a.hi = min(a.lo, g.at-1), max(a.hi, g.at+2)
	}
	for i := range d.Rows {
		for _, p := range a.points(&d.Rows[i]) {
			a.lo, a.hi = min(a.lo, math.Floor(p.at)-1), max(a.hi, math.Ceil(p.at)+1)
		}
	}
	if !(a.lo < a.hi) {
		a.lo, a.hi = -24, 0
	}
	a.hi = min(max(a.hi, -1000), 1000)
	a.lo = max(min(a.lo, a.hi-8), a.hi-60)
	return a
}

// log2 is the logarithm of a size relative to another; false where there is none to draw.
func log2(v, of float64) (float64, bool) {
	e := math.Log2(v) - math.Log2(of)
	return e, !math.IsNaN(e) && !math.IsInf(e, 0)
}

// points are the marks of a row, the filled one first; fewer where there is nothing to draw.
func (a roundAxis) points(r *widgets.RoundingRow) (out []roundPoint) {
	if a.costs == nil {
		for i, v := range []widgets.Number{r.Own, r.Total} {
			if e, ok := log2(float64(v), float64(r.Size)); ok {
				out = append(out, roundPoint{e, dtypeColor(r.DType), i == 0})
			}
		}
		return out
	}
	for i, dt := range a.costs {
		o, _ := r.In(dt)
		if e, ok := log2(float64(o.Spread), a.unit); ok && o.Over == 0 {
			out = append(out, roundPoint{e, dtypeColor(dt), i == 0})
		}
	}
	return out
}

// part is where a logarithm lies between the axis' ends.
func (a roundAxis) part(e float64) float64 { return (min(max(e, a.lo), a.hi) - a.lo) / (a.hi - a.lo) }

func (a roundAxis) x(e float64) vg.Length {
	return roundAxisL + (roundAxisR-roundAxisL)*vg.Length(a.part(e))
}

// draw draws the guides with their names and marks above, and where they are below.
func (a roundAxis) draw(c draw.Canvas, top, bottom vg.Length) {
	last := vg.Length(0)
	for i, g := range a.guides {
		x := a.x(g.at)
		c.StrokeLine2(draw.LineStyle{Color: dtypeColor(g.dt), Width: 1, Dashes: []vg.Length{2, 2}}, x, bottom, x, top+2)
		name, below := boldStyle(8, faint), textStyle(8.5, faint)
		wide, low := 8+name.Width(g.dt.Short()), powersWidth(below, g.label)
		at, under := x-wide/2, x-low/2
		if i+1 < len(a.guides) && a.x(a.guides[i+1].at)-x < max(wide, low)+4 { // the next one is near
			at, under = x-wide-1, x-low-1
		}
		at, under = max(at, last), max(under, last)
		last = max(at+wide, under+low) + 3
		mark(c, g.dt, at, top+5.5, dtypeColor(g.dt))
		c.FillText(name, vg.Point{X: at + 8, Y: top + 6}, g.dt.Short())
		fillPowers(c, below, vg.Point{X: under, Y: bottom - 13}, g.label)
	}
}

// marks draws the marks of a row and a line between them.
func (a roundAxis) marks(l *layers, r *widgets.RoundingRow, y vg.Length) {
	points := a.points(r)
	if len(points) == 2 {
		l.line(points[len(points)-1].color, 1.5, a.x(points[0].at), y, a.x(points[1].at), y)
	}
	for _, p := range points {
		l.dot(p.color, vg.Point{X: a.x(p.at), Y: y}, p.filled)
	}
}

// keyHTML is the mark of the k-th name.
func (a roundAxis) keyHTML(k int) string {
	if a.costs == nil {
		return []string{"●", "○"}[k%2]
	}
	return dotHTML(a.colors[k], k == 0)
}

// dotHTML is a disk or a ring, eight pixels wide, of borders: a character of such a color would be too faint to read.
func dotHTML(col color.NRGBA, filled bool) string {
	if filled {
		return fmt.Sprintf(`<span style="display:inline-block;vertical-align:middle;border:4px solid %s;border-radius:4px"></span>`, hex(col))
	}
	return fmt.Sprintf(`<span style="display:inline-block;vertical-align:middle;box-sizing:border-box;width:8px;height:8px;border:2px solid %s;border-radius:4px"></span>`, hex(col))
}

// guidesHTML names the guides above the strips.
func (a roundAxis) guidesHTML() string {
	out, at := fmt.Sprintf(`<div style="width:%dpx;font-weight:normal;font-size:11px;white-space:nowrap">`, roundStrip), 0
	for i, g := range a.guides {
		end := int(roundStrip * a.part(g.at))
		if i > 0 && end-at < 40 { // too near for its name to end there
			out += fmt.Sprintf(`<span style="display:inline-block;width:%dpx"></span><span style="display:inline-block;padding:0 0 0 4px;border-left:2px solid %s">%s</span>`,
				max(end-at-2, 0), hex(dtypeColor(g.dt)), g.dt.Short())
			break
		}
		out += fmt.Sprintf(`<span style="display:inline-block;box-sizing:border-box;text-align:right;padding:0 4px 0 0;border-right:2px solid %s;width:%dpx">%s</span>`,
			hex(dtypeColor(g.dt)), end-at, g.dt.Short())
		at = end
	}
	return out + `</div>`
}

// stripHTML draws the marks of a row and a line between them; numbers stand in the columns beside it.
func (a roundAxis) stripHTML(r *widgets.RoundingRow) string {
	points := a.points(r)
	if len(points) == 0 {
		return ""
	}
	if len(points) == 2 && points[1].at < points[0].at {
		points[0], points[1] = points[1], points[0]
	}
	const wide = 8 // pixels of a mark
	out, at := fmt.Sprintf(`<div style="width:%dpx;white-space:nowrap;font-size:0;line-height:18px">`, roundStrip), 0
	for i, p := range points {
		x := int(float64(roundStrip-wide) * a.part(p.at))
		if i == 1 && x-at < -wide/2 {
			break // they are one
		}
		switch gap := x - at; {
		case gap <= 0:
		case i == 0:
			out += fmt.Sprintf(`<span style="display:inline-block;width:%dpx"></span>`, gap)
		default:
			out += fmt.Sprintf(`<span style="display:inline-block;vertical-align:middle;width:%dpx;border-top:2px solid %s"></span>`, gap, hex(p.color))
		}
		out += dotHTML(p.color, p.filled)
		at = x + wide
	}
	return out + `</div>`
}
