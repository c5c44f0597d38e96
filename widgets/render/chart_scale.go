package render

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/widgets"
)

// scaleChart draws log2 of the loss scale per step, with each skipped step, the floor and the calibration; with fewer points
// and crosses where there is room for fewer rows.
func scaleChart(f *widgets.Figure, rows int) drawing {
	d := f.Scale
	if !d.Enabled || len(d.Points) == 0 {
		return note(f.Title, d.Sentence)
	}
	p := newPlot()
	p.Y.Tick.Marker, p.X.Tick.Marker = powerTicks{}, countTicks{}
	p.Y.Tick.Label.Handler = powers{p.Y.Tick.Label.Handler}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = scaleRange(d)
	p.Add(calibration{d}, grid{}, bounds{d}, scaleLine{d, maxDrawn * rows / allRows}, growth{d}, skipMarks{d, vg.Length(6 * allRows / rows)})
	height := vg.Length(270)
	if len(d.Skips) > 0 {
		height += laneHeight
	}
	return drawing{chartWidth, height, func(c draw.Canvas) {
		paper(c)
		c = draw.Crop(c, 14, -18, 9, -12)
		axisLabels(c, "loss scale (log axis)", "step")
		c = draw.Crop(c, 0, 0, 12, -16)
		if len(d.Skips) > 0 {
			lane := c
			c.Min.Y += laneHeight
			area := p.DataCanvas(c)
			lane.Min.X, lane.Max.X, lane.Max.Y = area.Min.X, area.Max.X, c.Min.Y-6
			stepLane(lane, d, p.X.Max)
		}
		p.Draw(c)
	}}
}

// growth says at the end of the curve when the scale grows next.
type growth struct{ d *widgets.ScaleData }

// Plot implements plot.Plotter.
func (g growth) Plot(c draw.Canvas, p *plot.Plot) {
	d := g.d
	if d.NextGrowth == 0 || d.Verdict == widgets.VerdictCollapsing || len(d.Points) == 0 {
		return
	}
	now := d.Points[len(d.Points)-1].Log2()
	if (bounds{d}).near(now+1.3, .72*p.X.Max) || len(d.Skips) > 0 && float64(d.Skips[len(d.Skips)-1].Last) > .72*p.X.Max {
		return // its words would lie on the curve, or on a culprit's name
	}
	_, y := p.Transforms(&c)
	s := textStyle(8.5, color.NRGBA{0x00, 0x6b, 0x4e, 0xff})
	s.XAlign = draw.XRight
	c.FillText(s, vg.Point{X: c.Max.X - 3, Y: y(now) + 5}, "grows in "+group(int64(d.NextGrowth))+" clean steps")
}

// laneHeight is the room for the lane of steps below the curve.
const laneHeight = 62

// stepLane draws how far the optimizer is behind the training loop, nominal minus effective steps, with a tick for every skipped
// step, so that long histories show where skips are dense.
func stepLane(c draw.Canvas, d *widgets.ScaleData, last float64) {
	x := func(step float64) vg.Length { return c.Min.X + (c.Max.X-c.Min.X)*vg.Length(min(step/last, 1)) }
	const ticks = 7
	base, top := c.Min.Y+ticks+2, c.Max.Y-14
	y := func(n int) vg.Length { return base + (top-base)*vg.Length(n)/vg.Length(max(d.Skipped, 1)) }
	var pts []vg.Point
	for i, p := range d.Behind() {
		at := vg.Point{X: x(float64(p.Step)), Y: y(int(p.Scale))}
		if i > 0 {
			pts = append(pts, vg.Point{X: at.X, Y: pts[len(pts)-1].Y})
		}
		pts = append(pts, at)
	}
	pts = append(pts, vg.Point{X: c.Max.X, Y: pts[len(pts)-1].Y})
	pts = thin(pts)
	c.FillPolygon(color.NRGBA{0xfb, 0xec, 0xdf, 0xff}, append(slices.Clone(pts), vg.Point{X: c.Max.X, Y: base}))
	c.StrokeLines(draw.LineStyle{Color: red, Width: 1.25}, pts)
	c.StrokeLine2(draw.LineStyle{Color: border, Width: .75}, c.Min.X, base, c.Max.X, base)
	skipTicks(c, d, x, ticks)
	s := textStyle(9, faint)
	c.FillText(s, vg.Point{X: c.Min.X, Y: c.Max.Y - 9}, "steps behind: nominal − effective")
	s = boldStyle(9, color.NRGBA{0xb0, 0x4a, 0x00, 0xff})
	s.XAlign = draw.XRight
	c.FillText(s, vg.Point{X: c.Max.X, Y: c.Max.Y - 9}, fmt.Sprintf("%s skipped: %s effective of %s", group(int64(d.Skipped)), group(int64(d.Effective)), group(int64(d.Nominal))))
}

// thin drops points of a rising curve that are closer together than could be seen.
func thin(in []vg.Point) []vg.Point {
	out := in[:1]
	for i, p := range in[1:] {
		if l := out[len(out)-1]; i == len(in)-2 || p.X-l.X > .7 || p.Y-l.Y > .7 {
			out = append(out, p)
		}
	}
	return out
}

// scaleRange is the part of the plane to show: all scales, air with room for a culprit's name above the highest, and at least four octaves.
func scaleRange(d *widgets.ScaleData) (x0, x1, y0, y1 float64) {
	y0, y1 = math.Inf(1), math.Inf(-1)
	for _, p := range d.Points {
		y0, y1 = min(y0, p.Log2()), max(y1, p.Log2())
		x1 = max(x1, float64(p.Step))
	}
	if y0 > y1 {
		y0, y1 = 0, 16
	}
	y0, y1 = math.Floor(y0)-1.5, math.Ceil(y1)+max(1.5, .09*(y1-y0))
	for y1-y0 < 5 {
		y0, y1 = y0-.5, y1+.5
	}
	return 0, max(x1, 1), y0, y1
}

// bounds draws the reference where it is within the picture.
type bounds struct{ d *widgets.ScaleData }

// Plot implements plot.Plotter.
func (b bounds) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	line := func(v float64, label string) {
		if v < p.Y.Min || v > p.Y.Max {
			return
		}
		c.StrokeLine2(draw.LineStyle{Color: gray, Width: 1, Dashes: []vg.Length{2, 3}}, c.Min.X, y(v), c.Max.X, y(v))
		s, at := textStyle(8, faint), c.Min.X+6
		if !b.near(v, .65*p.X.Max) {
			at = c.Max.X - 3 - powersWidth(s, label)
		}
		fillPowers(c, s, vg.Point{X: at, Y: y(v) + 2}, label)
	}
	at, text := reference(b.d)
	line(at, text)
}

// reference is the one level that a curve is seen against, and its name: the floor, where one was set, or what is as without a scaler.
func reference(d *widgets.ScaleData) (log2 float64, name string) {
	if m := float64(d.MinScale); m > 0 {
		return math.Log2(m), "floor (MinScale) " + widgets.ScaleText(d.MinScale)
	}
	return 0, "1, as without a scaler: below it gradients shrink"
}

// near says whether the curve comes close to a level from a step on: a label there would lie on it.
func (b bounds) near(level, from float64) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, p := range b.d.Points {
		if float64(p.Step) >= from || i+1 < len(b.d.Points) && float64(b.d.Points[i+1].Step) >= from {
			lo, hi = min(lo, p.Log2()), max(hi, p.Log2())
		}
	}
	return lo-1 <= level && level <= hi+1
}

// calibration shades the steps before the scale was found.
type calibration struct{ d *widgets.ScaleData }

// Plot implements plot.Plotter.
func (b calibration) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	end := calibrated(b.d)
	if end <= 0 {
		return
	}
	fill(c, color.NRGBA{0xfb, 0xf5, 0xe3, 0xff}, x(0), c.Min.Y, x(end)-x(0), c.Max.Y-c.Min.Y)
	s := textStyle(8, color.NRGBA{0x7a, 0x5c, 0x00, 0xff})
	if x(end)-x(0) > s.Width("calibrating")+8 {
		c.FillText(s, vg.Point{X: x(0) + 4, Y: c.Max.Y - 11}, "calibrating")
	}
}

// calibrated is the step at which the scale counts as found, the last one while it does not; 0 without a search.
func calibrated(d *widgets.ScaleData) float64 {
	switch {
	case d.Settled >= 0:
		return float64(d.Settled)
	case d.Verdict == widgets.VerdictCalibrating:
		_, end, _, _ := scaleRange(d)
		return end
	}
	return 0
}

// maxDrawn bounds the points of a curve: more are closer together than a pixel.
const maxDrawn = 400

// scaleLine draws the scale as steps: it holds until the step that changes it.
type scaleLine struct {
	d      *widgets.ScaleData
	points int
}

// Plot implements plot.Plotter.
func (l scaleLine) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var pts []vg.Point
	for i, q := range widgets.ThinPoints(l.d.Points, l.points) {
		at := vg.Point{X: x(float64(q.Step)), Y: y(q.Log2())}
		if i > 0 {
			pts = append(pts, vg.Point{X: at.X, Y: pts[len(pts)-1].Y})
		}
		pts = append(pts, at)
	}
	if len(pts) == 1 {
		pts = append(pts, vg.Point{X: c.Max.X, Y: pts[0].Y})
	}
	c.StrokeLines(draw.LineStyle{Color: blue, Width: 2}, pts)
}

// skipTicks draws a tick for every skipped step along the bottom.
func skipTicks(c draw.Canvas, d *widgets.ScaleData, x func(float64) vg.Length, height vg.Length) {
	var from, to vg.Length
	for i, r := range d.Skips {
		f := x(float64(r.First))
		t := max(x(float64(r.Last)), f+1.2)
		switch {
		case i == 0:
			from, to = f, t
		case f <= to+.6: // no gap that could be seen
			to = max(to, t)
		default:
			fill(c, red, from, c.Min.Y, to-from, height)
			from, to = f, t
		}
	}
	fill(c, red, from, c.Min.Y, to-from, height)
}

// skipMarks draws a cross where each run of skipped steps began, and names culprits while there is room.
type skipMarks struct {
	d   *widgets.ScaleData
	gap vg.Length // between crosses at the same height
}

// Plot implements plot.Plotter.
func (m skipMarks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := boldStyle(8.5, color.NRGBA{0xb0, 0x4a, 0x00, 0xff})
	var taken []vg.Rectangle
	last := vg.Point{X: -100}
	place := func(r widgets.SkipRun) vg.Point {
		return vg.Point{X: x(float64(r.First)), Y: y(widgets.ScalePoint{Scale: r.Scale}.Log2())}
	}
	for i, r := range m.d.Skips {
		at := place(r)
		if dx := at.X - last.X; dx > m.gap || dx >= (m.gap-6)/6 && math.Abs(float64(at.Y-last.Y)) > 12 {
			cross(c, at, 4)
			last = at
		}
		if r.Culprit == "" || len(taken) >= 12 {
			continue
		}
		label := skipLabel(fit(style, r.Culprit, 150), r.Count)
		w := style.Width(label)
		left, base := min(at.X+7, c.Max.X-w), min(at.Y+3, c.Max.Y-9)
		box := vg.Rectangle{Min: vg.Point{X: left - 2, Y: base - 2}, Max: vg.Point{X: left + w + 2, Y: base + 8}}
		onCross := i+1 < len(m.d.Skips) && overlap(box, around(place(m.d.Skips[i+1]), 4))
		if onCross || slices.ContainsFunc(taken, func(t vg.Rectangle) bool { return overlap(t, box) }) {
			continue
		}
		taken = append(taken, box)
		c.FillText(style, vg.Point{X: left, Y: base}, label)
	}
}

// around is a square of the given half size.
func around(at vg.Point, r vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: at.X - r, Y: at.Y - r}, Max: vg.Point{X: at.X + r, Y: at.Y + r}}
}

// overlap says whether two rectangles have a point in common.
func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// cross draws × of the given half size.
func cross(c draw.Canvas, at vg.Point, r vg.Length) {
	s := draw.LineStyle{Color: red, Width: 2}
	c.StrokeLine2(s, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(s, at.X-r, at.Y+r, at.X+r, at.Y-r)
}
