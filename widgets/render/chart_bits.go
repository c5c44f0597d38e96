package render

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/widgets"
)

// maxDrawnBits is the number of numbers that a picture shows; the table has all.
const maxDrawnBits = 2

// The places of the picture of bits: the boundary between exponent and fraction is the same in all formats.
const (
	bitWidth  = 11.68 // a digit and two spaces
	bitRow    = 30
	bitsSplit = 178 // left end of the fraction
	bitsWords = bitsSplit + 23*bitWidth + 16
)

// bitsChart draws the fields of each format below each other.
func bitsChart(f *widgets.Figure) drawing {
	d := f.Bits
	if d.Missing != "" {
		return note(f.Title, d.Missing)
	}
	values := d.Values[:min(len(d.Values), maxDrawnBits)]
	head := boldStyle(13, ink)
	finding := lines(textStyle(10.5, ink), d.Sentence, chartWidth-36, 3)
	top := vg.Length(34 + 15*len(finding))
	height := top + 8
	for range values {
		height += vg.Length(len(widgets.BitsFormats)) * bitRow
		if len(d.Values) > 1 {
			height += 26
		}
	}
	left := len(d.Values) - len(values) + d.More
	if left > 0 {
		height += 18
	}
	return drawing{chartWidth, height, func(c draw.Canvas) {
		paper(c)
		c.FillText(head, vg.Point{X: 18, Y: c.Max.Y - 26}, f.Title)
		for i, l := range finding {
			c.FillText(textStyle(10.5, ink), vg.Point{X: 18, Y: c.Max.Y - 44 - vg.Length(15*i)}, l)
		}
		y := c.Max.Y - top
		for i := range values {
			if len(d.Values) > 1 {
				y -= 26
				c.FillText(boldStyle(11.5, ink), vg.Point{X: 18, Y: y + 6}, widgets.DecimalText(float64(values[i].Value)))
			}
			for k := range values[i].Rows {
				y -= bitRow
				drawBits(c, &values[i].Rows[k], y)
			}
		}
		if left > 0 {
			c.FillText(textStyle(10, faint), vg.Point{X: 18, Y: y - 14}, "… and "+group(int64(left))+" more")
		}
	}}
}

// drawBits draws a number in one format on a line at y.
func drawBits(c draw.Canvas, r *widgets.BitsRow, y vg.Length) {
	name := textStyle(11, ink)
	c.FillText(name, vg.Point{X: 18, Y: y + 10}, r.Label())
	sign, exponent, fraction := r.Fields()
	x := vg.Length(bitsSplit) - vg.Length(len(exponent))*bitWidth - 3
	drawField(c, sign, x-bitWidth-3, y, signTint)
	drawField(c, exponent, x, y, exponentTint)
	drawField(c, fraction, bitsSplit, y, fractionTint)
	value, word := boldStyle(11.5, ink), textStyle(9, faint)
	room := vg.Length(chartWidth - bitsWords - 14)
	second := r.Becomes
	switch {
	case second == "rounded":
		second = r.ErrorText()
	case r.Kind == "subnormal":
		second += " · " + r.ErrorText()
	}
	c.FillText(value, vg.Point{X: bitsWords, Y: y + 16}, fit(value, r.Text(r.Value), room))
	c.FillText(word, vg.Point{X: bitsWords, Y: y + 4}, fit(word, second, room))
}

// drawField draws the bits of a field on its tint, one above each bit's place.
func drawField(c draw.Canvas, bits string, x, y vg.Length, tint color.NRGBA) {
	fill(c, onCard(tint), x, y+4, vg.Length(len(bits))*bitWidth, 20)
	style := textStyle(10.5, ink)
	style.XAlign = text.XAlignment(draw.XCenter)
	spaced := spread(style, bits)
	c.FillText(style, vg.Point{X: x + vg.Length(len(bits))*bitWidth/2, Y: y + 10}, spaced)
}

// spread puts spaces, which no viewer folds, between digits until each has about the width of a bit.
func spread(style text.Style, bits string) string {
	gap := max(int((bitWidth-style.Width("0"))/style.Width(" ")+.5), 1)
	return strings.Join(strings.Split(bits, ""), strings.Repeat("\u00a0", gap))
}

// onCard is a tint as it looks on the card.
func onCard(c color.NRGBA) color.NRGBA {
	mix := func(v, w uint8) uint8 { return uint8((int(v)*int(c.A) + int(w)*(255-int(c.A))) / 255) }
	return color.NRGBA{mix(c.R, card.R), mix(c.G, card.G), mix(c.B, card.B), 0xff}
}
