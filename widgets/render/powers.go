package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// powers is a text handler that draws "2^16" with a raised exponent, which the font has no characters for.
type powers struct{ text.Handler }

const (
	expSize = 0.75 // of the base's
	expRise = 0.38
)

func (h powers) parts(txt string, f font.Font) (base, exp string, small font.Font) {
	base, exp, _ = strings.Cut(txt, "^")
	small = f
	small.Size *= expSize
	return base, exp, small
}

// Box implements text.Handler.
func (h powers) Box(txt string, f font.Font) (width, height, depth vg.Length) {
	base, exp, small := h.parts(txt, f)
	width, height, depth = h.Handler.Box(base, f)
	w, _, _ := h.Handler.Box(exp, small)
	return width + w, height, depth
}

// Draw implements text.Handler.
func (h powers) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	base, exp, small := h.parts(txt, sty.Font)
	w, height, _ := h.Box(txt, sty.Font)
	pt.X += w * vg.Length(sty.XAlign)
	pt.Y += height * vg.Length(sty.YAlign)
	c.SetColor(sty.Color)
	c.FillString(h.Cache().Lookup(sty.Font, sty.Font.Size), pt, base)
	bw, _, _ := h.Handler.Box(base, sty.Font)
	c.FillString(h.Cache().Lookup(small, small.Size), vg.Point{X: pt.X + bw, Y: pt.Y + sty.Font.Size*expRise}, exp)
}

// fillPowers writes a line with the exponents of its powers of two raised. The spaces around a part are left out
// of it and left free: SVG drops them, and would stretch the rest of the part to the width that they were measured with.
func fillPowers(c draw.Canvas, style draw.TextStyle, at vg.Point, s string) {
	above := style.Font.Size - style.FontExtents().Ascent // of the line's lower edge, where plain text stands
	powerParts(style, s, func(st draw.TextStyle, part string) {
		trimmed := strings.TrimLeft(part, " ")
		from := at
		if _, power := st.Handler.(powers); power {
			from.Y += above
		}
		from.X += st.Width(part) - st.Width(trimmed)
		c.FillText(st, from, strings.TrimRight(trimmed, " "))
		at.X += st.Width(part)
	})
}

// powersWidth is how wide fillPowers writes a line.
func powersWidth(style draw.TextStyle, s string) (width vg.Length) {
	powerParts(style, s, func(st draw.TextStyle, part string) { width += st.Width(part) })
	return width
}

// powerParts divides a line into its powers of two and what is between them, each with the style that writes it.
func powerParts(style draw.TextStyle, s string, part func(style draw.TextStyle, part string)) {
	raised := style
	raised.Handler = powers{style.Handler}
	for len(s) > 0 {
		st, n := style, len(s)
		if m := powerOfTwo.FindStringIndex(s); m != nil && m[0] == 0 {
			st, n = raised, m[1]
		} else if m != nil {
			n = m[0]
		}
		part(st, s[:n])
		s = s[n:]
	}
}

// powerTicks labels whole exponents, at most about eight of them.
type powerTicks struct{}

// Ticks implements plot.Ticker.
func (powerTicks) Ticks(lo, hi float64) []plot.Tick {
	step := 1.0
	for (hi-lo)/step > 8 {
		step *= 2
	}
	var out []plot.Tick
	for v := math.Ceil(lo/step) * step; v <= hi; v += step {
		out = append(out, plot.Tick{Value: v, Label: fmt.Sprintf("2^%d", int(v))})
	}
	return out
}

// countTicks labels whole numbers at round distances.
type countTicks struct{}

// Ticks implements plot.Ticker.
func (countTicks) Ticks(lo, hi float64) []plot.Tick {
	step := niceStep(hi-lo, 7)
	if step < 1 {
		step = 1
	}
	return ticks(lo, hi, step, func(v float64) string { return group(int64(v)) })
}

// valueTicks labels any numbers at round distances.
type valueTicks struct{}

// Ticks implements plot.Ticker.
func (valueTicks) Ticks(lo, hi float64) []plot.Tick {
	step := niceStep(hi-lo, 6)
	return ticks(lo, hi, step, func(v float64) string {
		if math.Abs(v) < step/2 {
			v = 0
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	})
}

func ticks(lo, hi, step float64, label func(float64) string) []plot.Tick {
	if !(step > 0) || math.IsInf(step, 0) {
		return nil
	}
	var out []plot.Tick
	for i := math.Ceil(lo / step); i*step <= hi+step*1e-9 && len(out) < 50; i++ {
		out = append(out, plot.Tick{Value: i * step, Label: label(i * step)})
	}
	return out
}

// niceStep is the distance 1, 2 or 5 times a power of ten that divides span into at most n parts.
func niceStep(span float64, n int) float64 {
	if !(span > 0) {
		return 1
	}
	e := math.Pow(10, math.Floor(math.Log10(span/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if span/(m*e) <= float64(n) {
			return m * e
		}
	}
	return 10 * e
}

// grid draws faint horizontal lines at the labeled ticks.
type grid struct{}

// Plot implements plot.Plotter.
func (grid) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	var lines vg.Path
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if !t.IsMinor() {
			lines.Move(vg.Point{X: c.Min.X, Y: y(t.Value)})
			lines.Line(vg.Point{X: c.Max.X, Y: y(t.Value)})
		}
	}
	c.SetLineStyle(draw.LineStyle{Color: rule, Width: .75})
	c.Stroke(lines)
}
