package render

import (
	"fmt"
	"image/color"
	"math"

	"github.com/halftone-ml/halftone/widgets"
)

// A live figure is drawn four times a second while it runs, so that its curve is made of elements, which replace each other
// without the flicker of an image that is decoded. In its final state it has the drawn chart, in the same room.

// liveColumns is the number of bars of the running curve, liveHeight their height in pixels.
const (
	liveColumns = 96
	liveHeight  = 175
)

// liveHTML writes the state, the progress bar, the curve and the numbers.
func liveHTML(p *page, f *widgets.Figure, chart string) {
	d := f.Live
	p.heading(f.Title, "")
	c := stateColor(d)
	p.printf(`<div style="margin:2px 0 6px 0"><span style="background-color:%s;color:%s;border-radius:3px;padding:0 6px">%s</span> %s</div>`,
		hex(c), hex(onColor(c)), esc(stateMark(d)+" "+d.State), powersHTML(d.Sentence))
	if d.Total > 0 {
		progress := 100 * math.Min(float64(d.Step)/float64(d.Total), 1)
		p.printf(`<div style="background-color:rgba(128,128,128,0.25);border-radius:4px;height:12px;max-width:960px;overflow:hidden"><div title="%s of %s steps" style="background-color:%s;height:12px;width:%.4g%%"></div></div>`,
			group(int64(d.Step)), group(int64(d.Total)), hex(c), progress)
	}
	if list := f.LiveMetrics(); len(list) > 0 {
		p.metrics(list...)
	}
	switch {
	case len(d.Points) == 0:
	case chart != "":
		p.WriteString(chart)
	default:
		liveBars(p, d)
	}
}

// liveBars draws the curve as bars, taller for a higher loss; a red stub stands where it is not finite.
func liveBars(p *page, d *widgets.LiveData) {
	lo, hi := d.Range()
	axis := ""
	if d.Logarithmic() {
		axis = ", log axis"
	}
	p.printf(`<div style="%s;font-size:11.5px">loss %s to %s%s</div>`, stMuted, widgets.LossText(widgets.Number(lo)), widgets.LossText(widgets.Number(hi)), axis)
	p.printf(`<div style="height:%dpx;max-width:960px;white-space:nowrap;line-height:0;overflow:hidden;border-top:1px solid rgba(128,128,128,0.35)">`, liveHeight)
	columns := d.Columns(liveColumns)
	wide := 100 / float64(liveColumns)
	p.printf(`<span style="display:inline-block;width:0;height:%dpx"></span>`, liveHeight) // its foot is the bars' common base
	for _, v := range columns {
		level, ok := d.Level(v)
		h, c := 4+math.Round(level*float64(liveHeight-8)), blue
		if !ok {
			h, c = 4, red
		}
		p.printf(`<span style="display:inline-block;width:%.3g%%;height:%gpx;border-top:3px solid %s;background-color:rgba(%d,%d,%d,0.2)"></span>`, wide, h-3, hex(c), c.R, c.G, c.B)
	}
	p.WriteString(`</div>`)
}

// stateColor is the color of the progress bar.
func stateColor(d *widgets.LiveData) color.NRGBA {
	switch {
	case d.Diverged >= 0:
		return red
	case d.State == widgets.LiveDone:
		return green
	case d.State == widgets.LiveStopped:
		return orange
	}
	return blue
}

// stateMark tells states apart without color.
func stateMark(d *widgets.LiveData) string {
	switch d.State {
	case widgets.LiveDone:
		return "✓"
	case widgets.LiveStopped:
		return "■"
	}
	return "▶"
}

// meanOf says what a point of the curve is where it is not one step.
func meanOf(d *widgets.LiveData) string {
	if d.MeanOver < 2 {
		return ""
	}
	return fmt.Sprintf(", mean of %s steps", group(int64(d.MeanOver)))
}
