package render

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// compareChart draws the loss of each run over its steps.
func compareChart(f *widgets.Figure) drawing {
	d := f.Runs
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
	p.Add(grid{}, lossLines{d, log})
	return drawing{chartWidth, 300, func(c draw.Canvas) {
		paper(c)
		legend(draw.Crop(c, 14, -18, 0, -12), d)
		c = draw.Crop(c, 14, -18, 9, -34)
		axisLabels(c, label, "step")
		p.Draw(draw.Crop(c, 0, 0, 12, -16))
	}}
}

// runStyle is how a run is drawn: its dtype's color and dash, so that it can be told apart without color too; runs beyond the
// first of a dtype take another color.
func runStyle(d *widgets.CompareData, i int) draw.LineStyle {
	dt := d.Runs[i].DType
	s := draw.LineStyle{Color: runColor(d, i), Width: 2}
	switch dt {
	case amp.Float16:
		s.Dashes = []vg.Length{6, 3}
	case amp.BFloat16:
		s.Dashes = []vg.Length{1.5, 3}
	}
	return s
}

// runColor is its dtype's color for the first run of a dtype, and another for each that follows.
func runColor(d *widgets.CompareData, i int) color.NRGBA {
	dt, same := d.Runs[i].DType, 0
	for _, r := range d.Runs[:i] {
		if r.DType == dt {
			same++
		}
	}
	if same > 0 {
		return seriesColors[(same-1)%len(seriesColors)]
	}
	return dtypeColor(dt)
}

// lossLines draws the curves; the reference is wide and pale below the others, so that runs which lie on it stay visible.
type lossLines struct {
	d   *widgets.CompareData
	log bool
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
		var line []vg.Point
		flush := func() {
			if len(line) == 1 {
				c.DrawGlyph(draw.GlyphStyle{Color: style.Color, Radius: 2.5, Shape: draw.CircleGlyph{}}, line[0])
			}
			c.StrokeLines(style, line)
			line = nil
		}
		for _, k := range everyNth(len(r.Loss), maxDrawn) {
			v := r.Loss[k]
			q := float64(v)
			if l.log {
				q = math.Log10(q)
			}
			if !(q >= p.Y.Min && q <= p.Y.Max) {
				flush()
				continue
			}
			line = append(line, vg.Point{X: x(float64(r.Step(k))), Y: y(q)})
		}
		flush()
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
