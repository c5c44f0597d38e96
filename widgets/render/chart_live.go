package render

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/widgets"
)

// liveChart draws the loss over the steps that were made, with every skipped step below.
func liveChart(f *widgets.Figure, rows int) drawing {
	d := f.Live
	if len(d.Points) == 0 {
		return note(f.Title, d.Sentence)
	}
	log := d.Logarithmic()
	label := "loss"
	p := newPlot()
	p.X.Tick.Marker, p.Y.Tick.Marker = countTicks{}, valueTicks{}
	lo, hi := d.Range()
	if log {
		label = "loss (log axis)"
		p.Y.Tick.Marker = decadeTicks{}
		lo, hi = math.Log10(lo), math.Log10(hi)
	}
	air := max((hi-lo)*.05, 1e-12, math.Abs(hi)*1e-6)
	p.Y.Min, p.Y.Max = lo-air, hi+air
	p.X.Min, p.X.Max = 0, max(float64(d.Points[len(d.Points)-1].Step), 1)
	p.Add(grid{}, liveCurve{d, log, len(d.Points) * rows / allRows}, liveSkips{d})
	return drawing{chartWidth, 150, func(c draw.Canvas) {
		paper(c)
		c = draw.Crop(c, 14, -18, 9, -12)
		axisLabels(c, label+meanOf(d), "step")
		p.Draw(draw.Crop(c, 0, 0, 12, -16))
	}}
}

// liveCurve draws the losses; a cross at the top marks where they are not finite.
type liveCurve struct {
	d      *widgets.LiveData
	log    bool
	points int
}

// Plot implements plot.Plotter.
func (l liveCurve) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	drawGaps(c, draw.LineStyle{Color: blue, Width: 2}, len(l.d.Points), max(l.points, 2), func(k int) (vg.Point, bool) {
		q := float64(l.d.Points[k].Loss)
		if l.log {
			q = math.Log10(q)
		}
		return vg.Point{X: x(float64(l.d.Points[k].Step)), Y: y(q)}, q >= p.Y.Min && q <= p.Y.Max
	})
	if l.d.Diverged >= 0 {
		cross(c, vg.Point{X: x(min(float64(l.d.Diverged), p.X.Max)), Y: c.Max.Y - 6}, 4)
	}
}

// liveSkips draws a tick for every skipped step along the bottom.
type liveSkips struct{ d *widgets.LiveData }

// Plot implements plot.Plotter.
func (l liveSkips) Plot(c draw.Canvas, p *plot.Plot) {
	if l.d.Skipped == 0 {
		return
	}
	x, _ := p.Transforms(&c)
	for _, step := range l.d.Skips {
		if float64(step) <= p.X.Max {
			fill(c, red, x(float64(step)), c.Min.Y, 1.5, 8)
		}
	}
	// A loss falls, so that there is room at the left.
	c.FillText(textStyle(8, faint), vg.Point{X: c.Min.X + 4, Y: c.Min.Y + 10}, group(int64(l.d.Skipped))+" skipped")
}
