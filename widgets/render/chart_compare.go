package render

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// compareChart draws the loss of each run over its steps, and the errors of so many ops at most; with fewer of them the curves have
// fewer points, too.
func compareChart(f *widgets.Figure, rows int) drawing {
	d := f.Runs
	if d.Missing != "" {
		return note(f.Title, d.Missing)
	}
	log := d.Logarithmic()
	label := "loss"
	if log {
		label = "loss (log scale)"
	}
	p := newPlot()
	p.X.Tick.Marker, p.Y.Tick.Marker = countTicks{}, valueTicks{}
	lo, hi := d.Range()
	if log {
		p.Y.Tick.Marker = decadeTicks{}
		lo, hi = math.Log10(lo), math.Log10(hi)
	}
	air := max((hi-lo)*.05, 1e-12, math.Abs(hi)*1e-6)
	p.Y.Min, p.Y.Max = lo-air, hi+air
	p.X.Min, p.X.Max = 0, 1
	for _, r := range d.Runs {
		p.X.Max = max(p.X.Max, float64(r.Steps-1))
	}
	p.Add(grid{}, lossLines{d, log, pointsPerCurve(d, rows)})
	q := differencePlot(d, p.X.Max, pointsPerCurve(d, rows))
	height, lower := vg.Length(300), vg.Length(0)
	if q != nil {
		height, lower = 390, 120
		p.X.Tick.Label.Color, p.X.Tick.Label.Font.Size = color.Transparent, 1 // the lower plot has the steps
	}
	ops := drawnOps(d, rows)
	var answer []string
	head := vg.Length(0)
	if d.Answer != "" {
		answer = lines(boldStyle(11.5, ink), d.Answer, chartWidth-36, 2)
		head = vg.Length(12 + 16*len(answer))
	}
	return drawing{chartWidth, height + head + ops.height, func(c draw.Canvas) {
		paper(c)
		for i, l := range answer {
			c.FillText(boldStyle(11.5, ink), vg.Point{X: 14, Y: c.Max.Y - 22 - vg.Length(16*i)}, l)
		}
		if ops.height > 0 {
			ops.draw(draw.Crop(c, 14, -18, 12, 12+ops.height-(c.Max.Y-c.Min.Y)))
		}
		c = draw.Crop(c, 0, 0, ops.height, -head)
		legend(draw.Crop(c, 14, -18, 0, -12), d)
		c = draw.Crop(c, 14, -18, 9, -34)
		upper := draw.Crop(c, 0, 0, lower, 0)
		axisLabels(upper, label, "")
		upper = draw.Crop(upper, 0, 0, 12-lower/10, -16)
		if q == nil {
			axisLabels(c, "", "step")
			p.Draw(upper)
			return
		}
		below := draw.Crop(c, 0, 0, 0, lower-(c.Max.Y-c.Min.Y)-2)
		axisLabels(below, "relative difference from "+d.Runs[0].Name+" (log axis)", "step")
		below = draw.Crop(below, 0, 0, 12, -16)
		// Both plots show the same steps, so their data must begin at the same place whatever their labels are wide.
		left, right := p.DataCanvas(upper).Min.X, q.DataCanvas(below).Min.X
		p.Draw(draw.Crop(upper, max(right-left, 0), 0, 0, 0))
		q.Draw(draw.Crop(below, max(left-right, 0), 0, 0, 0))
	}}
}

// lowest and highest are the exponents of ten between which relative differences are shown.
const lowest, highest = -8.0, 6.0

// differenceRange is the part of them that a comparison has; false where no run differs from the reference.
func differenceRange(d *widgets.CompareData) (lo, hi float64, ok bool) {
	lo, hi = highest, lowest
	for _, r := range d.Runs {
		for _, v := range r.Diff {
			if e, drawn := exponent(v); drawn {
				lo, hi, ok = min(lo, e), max(hi, e), true
			}
		}
	}
	return math.Floor(lo), math.Ceil(max(hi, lo+1)), ok
}

// exponent is the decimal logarithm of a difference, within bounds; false for none at all.
func exponent(v widgets.Number) (float64, bool) {
	e := math.Log10(math.Abs(float64(v)))
	if math.IsNaN(e) || math.IsInf(e, 0) {
		return 0, false
	}
	return min(max(e, lowest), highest), true
}

// differencePlot shows how far each run is from the reference, step by step: curves that lie on each other differ there. It
// is nil where no run differs.
func differencePlot(d *widgets.CompareData, steps float64, points int) *plot.Plot {
	lo, hi, ok := differenceRange(d)
	if !ok {
		return nil
	}
	q := newPlot()
	q.X.Tick.Marker, q.Y.Tick.Marker = countTicks{}, exponentTicks{}
	q.Y.Tick.Label.Handler = powers{q.Y.Tick.Label.Handler}
	q.X.Min, q.X.Max, q.Y.Min, q.Y.Max = 0, steps, lo, hi
	q.Add(grid{}, differenceLines{d, points})
	return q
}

// exponentTicks labels powers of ten, at most about five of them.
type exponentTicks struct{}

// Ticks implements plot.Ticker.
func (exponentTicks) Ticks(lo, hi float64) []plot.Tick {
	return ticks(lo, hi, math.Ceil((hi-lo)/5), func(v float64) string { return fmt.Sprintf("10^%d", int(v)) })
}

// differenceLines draws the differences.
type differenceLines struct {
	d      *widgets.CompareData
	points int // of a curve
}

// Plot implements plot.Plotter.
func (l differenceLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i := range l.d.Runs {
		r := &l.d.Runs[i]
		style := runStyle(l.d, i)
		style.Width = 1.5
		drawGaps(c, style, len(r.Diff), l.points, func(k int) (vg.Point, bool) {
			e, ok := exponent(r.Diff[k])
			return vg.Point{X: x(float64(r.Step(k))), Y: y(e)}, ok
		})
	}
}

// pointsPerCurve divides what the picture has room for between the losses and the differences of all runs.
func pointsPerCurve(d *widgets.CompareData, rows int) int {
	all := maxCurvePoints * rows / allRows
	for _, r := range d.Runs {
		if len(r.Ops) > 0 {
			all /= 2 // the bars of the ops need room too
		}
	}
	return max(all/max(2*len(d.Runs)-1, 1), 12)
}

const maxCurvePoints = 900

// drawGaps draws a curve of n points, at most about limit of them, that is interrupted where there is none; a point alone is a dot.
func drawGaps(c draw.Canvas, style draw.LineStyle, n, limit int, point func(int) (vg.Point, bool)) {
	var line []vg.Point
	flush := func() {
		if len(line) == 1 {
			c.DrawGlyph(draw.GlyphStyle{Color: style.Color, Radius: 2.5, Shape: draw.CircleGlyph{}}, line[0])
		}
		c.StrokeLines(style, line)
		line = nil
	}
	for _, k := range everyNth(n, limit) {
		if pt, ok := point(k); ok {
			line = append(line, pt)
		} else {
			flush()
		}
	}
	flush()
}

// runStyle is how a run is drawn: its dtype's color and dash, so that it can be told apart without color too; runs beyond the
// first of a dtype take another color and another dash.
func runStyle(d *widgets.CompareData, i int) draw.LineStyle {
	s := draw.LineStyle{Color: runColor(d, i), Width: 2}
	if k := extra(d, i); k > 0 {
		s.Dashes = [][]vg.Length{{10, 3, 2, 2, 2, 3}, {9, 3, 2, 3}}[k%2]
		return s
	}
	switch d.Runs[i].DType {
	case amp.Float16:
		s.Dashes = []vg.Length{6, 3}
	case amp.BFloat16:
		s.Dashes = []vg.Length{1.5, 3}
	}
	return s
}

// extra counts the runs up to the i-th whose dtype's color is taken, or which have no dtype; 0 where the i-th is none of them.
func extra(d *widgets.CompareData, i int) int {
	seen, n := map[amp.DType]bool{amp.NoDType: true}, 0
	for k, r := range d.Runs[:i+1] {
		if seen[r.DType] {
			n++
		} else if k == i {
			return 0
		}
		seen[r.DType] = true
	}
	return n
}

// runColor is its dtype's color for the first run of a dtype, and another for each that follows, or that has none.
func runColor(d *widgets.CompareData, i int) color.NRGBA {
	if k := extra(d, i); k > 0 {
		return seriesColors[(k-1)%len(seriesColors)]
	}
	return dtypeColor(d.Runs[i].DType)
}

// lossLines draws the curves; the reference is wide and pale below the others, so that runs which lie on it stay visible.
type lossLines struct {
	d      *widgets.CompareData
	log    bool
	points int // of a curve
}

// Plot implements plot.Plotter.
func (l lossLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i := range l.d.Runs {
		r := &l.d.Runs[i]
		style := runStyle(l.d, i)
		if i == 0 && len(l.d.Runs) > 1 {
			style.Width = 5
			style.Color = pale(runColor(l.d, i))
		}
		drawGaps(c, style, len(r.Loss), l.points, func(k int) (vg.Point, bool) {
			q := float64(r.Loss[k])
			if l.log {
				q = math.Log10(q)
			}
			return vg.Point{X: x(float64(r.Step(k))), Y: y(q)}, q >= p.Y.Min && q <= p.Y.Max
		})
		if r.Diverged >= 0 {
			cross(c, vg.Point{X: x(float64(r.Diverged)), Y: c.Max.Y - 6}, 4)
		}
	}
}

// everyNth lists at most about limit indexes of n, evenly, with the last.
func everyNth(n, limit int) []int {
	var out []int
	step := max((n+limit-1)/limit, 1)
	for i := 0; i < n; i += step {
		out = append(out, i)
	}
	if n > 0 && out[len(out)-1] != n-1 {
		out = append(out, n-1)
	}
	return out
}

// pale mixes a color with white.
func pale(c color.NRGBA) color.NRGBA {
	mix := func(v uint8) uint8 { return v/2 + 127 }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 0xff}
}

// legend draws one entry for each run along the top.
func legend(c draw.Canvas, d *widgets.CompareData) {
	style := textStyle(9.5, ink)
	x := c.Min.X
	for i := range d.Runs {
		name := fit(style, d.Runs[i].Name, 160)
		w := style.Width(name)
		if x+28+w > c.Max.X {
			c.FillText(textStyle(9.5, faint), vg.Point{X: x, Y: c.Max.Y - 12}, "…")
			return
		}
		line := runStyle(d, i)
		if i == 0 && len(d.Runs) > 1 {
			line.Width, line.Color = 5, pale(runColor(d, i))
		}
		c.StrokeLine2(line, x, c.Max.Y-8.5, x+22, c.Max.Y-8.5)
		c.FillText(style, vg.Point{X: x + 27, Y: c.Max.Y - 12}, name)
		x += 27 + w + 18
	}
}

// decadeTicks labels powers of ten on an axis of log10, and 2 and 5 between them when there are few.
type decadeTicks struct{}

// Ticks implements plot.Ticker.
func (decadeTicks) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	step := max(1, int(math.Ceil((hi-lo)/8)))
	for e := int(math.Floor(lo)); e <= int(math.Ceil(hi)); e++ {
		for _, m := range []float64{1, 2, 5} {
			v := float64(e) + math.Log10(m)
			if v < lo || v > hi || m > 1 && hi-lo > 3 || e%step != 0 {
				continue
			}
			out = append(out, plot.Tick{Value: v, Label: short(m * math.Pow(10, float64(e)))})
		}
	}
	return out
}
