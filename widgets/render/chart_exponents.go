package render

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/widgets"
)

// zones are the range of the format that a figure is about, as powers of two: what rounds to zero ends at the first, normal numbers begin at the
// second and end at the third.
func zones(d *widgets.ExponentsData) (zero, normal, top float64) {
	if len(d.Formats) == 0 {
		return -25, -14, 16
	}
	f := d.Formats[0]
	return float64(f.Zero), float64(f.Normal), float64(f.Top)
}

// exponentsChart draws the gradients' magnitudes over the range of the run's format: with the loss scale above, without it below. Each has at
// most about the given number of bars.
func exponentsChart(f *widgets.Figure, bars int) drawing {
	d := f.Exponents
	if d.Missing != "" || len(d.Counts) == 0 {
		return note(f.Title, d.Sentence)
	}
	k := int(math.Round(math.Log2(float64(d.Scale))))
	zero, _, top := zones(d)
	lo, hi := float64(min(d.Low, d.Low+k)), float64(max(d.Low, d.Low+k)+len(d.Counts))
	// A format of a range far beyond the gradients is drawn as far as one can still see them.
	lo, hi = max(min(lo, zero-5)-3, min(lo, -30)-30), min(max(hi, top+4), max(hi, 20)+30)
	panels := []exponentPanel{{d, 0, 1, "Unscaled", d.Unscaled, bars}}
	if d.Scale != 1 {
		panels = append([]exponentPanel{{d, k, d.Scale, "Scaled by " + widgets.ScaleText(d.Scale), d.Scaled, bars}}, panels...)
	}
	height := vg.Length(170*len(panels)+24) + sweepHeight
	return drawing{chartWidth, height, func(c draw.Canvas) {
		paper(c)
		c = draw.Crop(c, 14, -18, 9, -12)
		below := c
		c.Min.Y += sweepHeight
		below.Max.Y = c.Min.Y - 16
		drawSweep(below, d)
		axisLabels(c, "share of the numbers", "magnitude, as "+d.In()+" sees it")
		c = draw.Crop(c, 0, 0, 12, -14)
		each := (c.Max.Y - c.Min.Y) / vg.Length(len(panels))
		for i, panel := range panels {
			p := newPlot()
			p.X.Tick.Marker, p.Y.Tick.Marker = powerTicks{}, shareTicks{}
			p.X.Tick.Label.Handler = powers{p.X.Tick.Label.Handler}
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo, hi, 0, panel.top()
			p.Add(panel)
			part := c
			part.Max.Y = c.Max.Y - vg.Length(i)*each
			part.Min.Y = part.Max.Y - each + 6
			p.Draw(part)
		}
	}}
}

// shareTicks labels percentages.
type shareTicks struct{}

// Ticks implements plot.Ticker.
func (shareTicks) Ticks(lo, hi float64) []plot.Tick {
	return ticks(lo, hi, niceStep(hi-lo, 4), func(v float64) string { return strconv.FormatFloat(100*v, 'g', 3, 64) + "%" })
}

// An exponentPanel is one histogram, shifted by k binades.
type exponentPanel struct {
	d     *widgets.ExponentsData
	k     int
	scale widgets.Number
	title string
	fate  widgets.Fate
	most  int // bars
}

// top is a little more than the highest bar.
func (e exponentPanel) top() float64 {
	most := 0
	for _, n := range e.d.Counts {
		most = max(most, n)
	}
	return max(1.3*float64(most)/float64(max(e.d.N, 1)), 1e-9)
}

// fateColors tell what the format makes of a bar's numbers.
var fateColors = [...]color.NRGBA{widgets.FateZero: gray, widgets.FateSubnormal: sky, widgets.FateNormal: blue, widgets.FateOverflow: red}

// Plot implements plot.Plotter.
func (e exponentPanel) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	e.bands(c, x, p.X.Min, p.X.Max)
	grid{}.Plot(c, p)
	per := e.binades()
	var bars [len(fateColors)]vg.Path // one path for each color: a path for each bar is most of a small picture
	for i := 0; i < len(e.d.Counts); i += per {
		n := slices.Max(e.d.Counts[i:min(i+per, len(e.d.Counts))])
		if n == 0 {
			continue
		}
		from, to := x(float64(e.d.Low+i+e.k)), x(float64(e.d.Low+i+per+e.k))
		path := &bars[e.d.FateOf(e.d.Low+i, e.scale)]
		for k, at := range corners(vg.Rectangle{Min: vg.Point{X: from + .4, Y: c.Min.Y}, Max: vg.Point{X: max(to-.4, from+1.2), Y: c.Min.Y + max(y(float64(n)/float64(e.d.N))-c.Min.Y, 1)}}) {
			if k == 0 {
				path.Move(at)
			} else {
				path.Line(at)
			}
		}
		path.Close()
	}
	for fate, path := range bars {
		if len(path) > 0 {
			c.SetColor(fateColors[fate])
			c.Fill(path)
		}
	}
	e.zeros(c, x, y)
	s := boldStyle(9, ink)
	text := e.title + ":"
	fillPowers(c, s, vg.Point{X: c.Min.X + 4, Y: c.Max.Y - 10}, text)
	c.FillText(textStyle(9, ink), vg.Point{X: c.Min.X + 8 + powersWidth(s, text), Y: c.Max.Y - 10}, e.losses())
}

// binades is the number of binades that one bar stands for: as tall as the highest of them.
func (e exponentPanel) binades() int { return (len(e.d.Counts) + e.most - 1) / e.most }

// losses says what the panel's numbers come to.
func (e exponentPanel) losses() string {
	lost, over, some := e.fate.Lost(), "", strings.Contains(e.fate.Lost(), "×")
	if some {
		lost, over, _ = strings.Cut(lost, " ×")
		over = ", " + over + " overflow"
	}
	return lost + " lost to zero" + over
}

// bands shades where the format keeps numbers whole and where with fewer digits, and names the parts of its range.
func (e exponentPanel) bands(c draw.Canvas, x func(float64) vg.Length, lo, hi float64) {
	zeroEnd, normalFrom, normalEnd := zones(e.d)
	within := func(v float64) float64 { return min(max(v, lo), hi) }
	band := func(from, to float64, col color.NRGBA) {
		from, to = within(from), within(to)
		fill(c, col, x(from), c.Min.Y, x(to)-x(from), c.Max.Y-c.Min.Y)
	}
	band(zeroEnd, normalFrom, color.NRGBA{0xf3, 0xf7, 0xfb, 0xff})
	band(normalFrom, normalEnd, color.NRGBA{0xe6, 0xf0, 0xf8, 0xff})
	for _, at := range []float64{zeroEnd, normalFrom, normalEnd} {
		if at < lo || at > hi {
			continue
		}
		c.StrokeLine2(draw.LineStyle{Color: gray, Width: .75, Dashes: []vg.Length{2, 3}}, x(at), c.Min.Y, x(at), c.Max.Y-13)
	}
	s := textStyle(8, faint)
	s.XAlign = draw.XCenter
	name := func(from, to float64, text string) {
		from, to = max(from, lo), min(to, hi+1)
		if x(to)-x(from) > s.Width(text)+4 {
			c.FillText(s, vg.Point{X: (x(from) + x(to)) / 2, Y: c.Max.Y - 22}, text)
		}
	}
	p0, p1 := zeroEnd-6, normalEnd+5
	name(p0, zeroEnd, "lost")
	name(zeroEnd, normalFrom, "fewer digits")
	name(normalFrom, normalEnd, e.d.In()+" keeps them")
	name(normalEnd, p1, "overflow")
}

// zeros draws the bar of what is zero, at the left end and hollow: it has no magnitude.
func (e exponentPanel) zeros(c draw.Canvas, x, y func(float64) vg.Length) {
	if e.d.Zeros == 0 || e.d.N == 0 {
		return
	}
	from, to := c.Min.X+2, x(0)-x(-1.5)+c.Min.X
	top, open := y(float64(e.d.Zeros)/float64(e.d.N)), false
	if limit := c.Max.Y - 30; top > limit { // taller than the picture: without a lid
		top, open = limit, true
	}
	line := draw.LineStyle{Color: faint, Width: 1}
	c.StrokeLine2(line, from, c.Min.Y, from, top)
	c.StrokeLine2(line, to, c.Min.Y, to, top)
	if !open {
		c.StrokeLine2(line, from, top, to, top)
	}
	c.FillText(textStyle(8, faint), vg.Point{X: from, Y: top + 2}, fmt.Sprintf("zeros %.3g%%", 100*float64(e.d.Zeros)/float64(e.d.N)))
}
