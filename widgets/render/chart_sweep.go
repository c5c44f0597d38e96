package render

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/widgets"
)

// sweepHeight is the room for what is lost at every loss scale.
const sweepHeight = 132

// A sweep draws the share of gradients that is lost to zero, and the one that overflows, at every loss scale, with marks at the
// present scale and the largest safe one: what the slider of the interactive face shows one scale at a time.
type sweep struct {
	d      *widgets.ExponentsData
	lo, hi int // exponents of the scales
}

func newSweep(d *widgets.ExponentsData) sweep {
	now, best := widgets.Power(d.Scale), widgets.Power(d.Best)
	return sweep{d, max(min(-8, now-2, best-2), -140), min(max(24, now+2, best+10), 140)}
}

// drawSweep draws it with its axes.
func drawSweep(c draw.Canvas, d *widgets.ExponentsData) {
	w := newSweep(d)
	axisLabels(c, "lost at other loss scales", "loss scale")
	p := newPlot()
	p.X.Tick.Marker, p.Y.Tick.Marker = powerTicks{}, shareTicks{}
	p.X.Tick.Label.Handler = powers{p.X.Tick.Label.Handler}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = float64(w.lo), float64(w.hi), 0, 1.18
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0%"}, {Value: .5, Label: "50%"}, {Value: 1, Label: "100%"}}
	p.Add(grid{}, w)
	p.Draw(draw.Crop(c, 0, 0, 12, -14))
}

// Plot implements plot.Plotter.
func (w sweep) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	all := float64(max(w.d.Unscaled.All(), 1))
	for i, part := range []func(widgets.Fate) int{func(f widgets.Fate) int { return f.Zero }, func(f widgets.Fate) int { return f.Overflow }} {
		col := fateColors[[]int{widgets.FateZero, widgets.FateOverflow}[i]]
		var pts []vg.Point
		every := 1 + (w.hi-w.lo)/64
		for k := w.lo; k <= w.hi; k += every {
			pts = append(pts, vg.Point{X: x(float64(k)), Y: y(float64(part(w.d.FateAt(k))) / all)})
		}
		pale := pale(col)
		c.FillPolygon(pale, append(append([]vg.Point{{X: x(float64(w.lo)), Y: y(0)}}, pts...), vg.Point{X: pts[len(pts)-1].X, Y: y(0)}))
		c.StrokeLines(draw.LineStyle{Color: col, Width: 1.5}, pts)
	}
	s := textStyle(8.5, ink)
	if w.d.FateAt(w.lo).Zero > 0 {
		c.FillText(s, vg.Point{X: c.Min.X + 6, Y: c.Min.Y + 5}, "lost to zero")
	}
	if over := w.d.FateAt(w.hi).Overflow; over > 0 {
		s.XAlign = text.XRight
		c.FillText(s, vg.Point{X: c.Max.X - 3, Y: y(float64(over)/all) + 4}, "overflow")
	}
	now, best := widgets.Power(w.d.Scale), widgets.Power(w.d.Best)
	name := "largest safe "
	if w.d.Below > 0 {
		name = "not safe above "
	}
	w.mark(c, x, name+widgets.ScaleText(w.d.Best), best, now <= best)
	if w.d.Scale != 1 {
		w.mark(c, x, "now "+widgets.ScaleText(w.d.Scale), now, now > best)
	}
}

// mark draws a vertical line at a scale, with its name to the right or to the left of it.
func (w sweep) mark(c draw.Canvas, x func(float64) vg.Length, name string, k int, right bool) {
	at := x(float64(k))
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{3, 2}}, at, c.Min.Y, at, c.Max.Y)
	s := boldStyle(8.5, ink)
	wide := powersWidth(s, name)
	switch {
	case right && at+4+wide > c.Max.X:
		right = false
	case !right && at-4-wide < c.Min.X:
		right = true
	}
	var left vg.Length
	if s.XAlign = text.XLeft; right {
		left = at + 4
	} else {
		left = at - 4 - wide
	}
	fill(c, card, left-1, c.Max.Y-10, wide+2, 10)
	fillPowers(c, s, vg.Point{X: left, Y: c.Max.Y - 9}, name)
}
