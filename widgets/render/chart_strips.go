package render

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/widgets"
)

// stripX is where an exponent stands in the magnitudes of the decisions map; what is beyond its ends stands at them.
func stripX(e float64) vg.Length {
	const left, width = mapRight + 12, mapStrip - 12
	e = min(max(e, widgets.StripLow), widgets.StripHigh)
	return left + width*vg.Length(e-widgets.StripLow)/(widgets.StripHigh-widgets.StripLow)
}

// stripHeader names the column and the ends of its axis.
func stripHeader(c draw.Canvas, d *widgets.DecisionsData, y vg.Length) {
	c.FillText(boldStyle(8.5, faint), vg.Point{X: stripX(widgets.StripLow), Y: y + 12}, "MAGNITUDES, "+d.Format+" SHADED")
	for _, e := range []int{-24, -14, 0, 16} {
		s := textStyle(8, faint)
		s.XAlign, s.Handler = draw.XCenter, powers{s.Handler}
		c.FillText(s, vg.Point{X: stripX(float64(e)), Y: y}, "2^"+itoa(e))
	}
}

// strips draws the magnitudes of a row: forward over backward, from the smallest to the largest, with a dot at the median.
func (r mapEntry) strips(c draw.Canvas, d *widgets.DecisionsData, y vg.Length) {
	if d.Format == "" {
		return
	}
	back, _ := d.BackwardHealth(r.backward)
	list := []*widgets.Health{nil, back}
	if r.forward >= 0 {
		list[0] = d.Sites[r.forward].Health
	}
	for i, h := range list {
		if h != nil {
			strip(c, d, h, y+mapRow-14-vg.Length(i)*14)
		}
	}
}

// stripBands shades the format's range behind all rows: hatched where it keeps fewer digits, tinted where it keeps all.
func stripBands(c draw.Canvas, d *widgets.DecisionsData, top, bottom vg.Length) {
	tint := color.NRGBA{0xe6, 0xf0, 0xf8, 0xff}
	eachFate(d, widgets.StripLow, widgets.StripHigh, func(fate int, from, to float64) {
		x, w := stripX(from), stripX(to)-stripX(from)
		switch fate {
		case widgets.FateNormal:
			fill(c, tint, x, bottom, w, top-bottom)
		case widgets.FateSubnormal:
			for y := bottom; y < top; y += 6 {
				c.StrokeLine2(draw.LineStyle{Color: tint, Width: 1.5}, x, y, x+w, min(y+6, top))
			}
		}
	})
}

// eachFate visits the parts of a range of exponents that share a fate.
func eachFate(d *widgets.DecisionsData, lo, hi float64, visit func(fate int, from, to float64)) {
	for from := lo; from < hi; {
		fate := d.FateOf(int(math.Floor(from)))
		to := math.Floor(from) + 1
		for to < hi && d.FateOf(int(to)) == fate {
			to++
		}
		visit(fate, from, min(to, hi))
		from = to
	}
}

// strip draws one bar.
func strip(c draw.Canvas, d *widgets.DecisionsData, h *widgets.Health, y vg.Length) {
	if h.Fate.All() > 0 {
		lo, hi := math.Log2(float64(h.Amin)), math.Log2(float64(h.Amax))
		lo, hi = max(lo, widgets.StripLow), min(max(hi, lo+.5), widgets.StripHigh)
		eachFate(d, lo, hi, func(fate int, from, to float64) {
			fill(c, fateColors[fate], stripX(from), y+2.5, max(stripX(to)-stripX(from), .8), 4)
		})
		mid := stripX(float64(h.Mid) + .5)
		fill(c, card, mid-2.5, y+.5, 5, 8)
		fill(c, ink, mid-1.5, y+1.5, 3, 6)
	}
	if h.Infs+h.NaNs > 0 {
		cross(c, vg.Point{X: stripX(widgets.StripHigh) - 3, Y: y + 4.5}, 3)
	}
}
