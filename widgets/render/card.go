package render

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A drawing is a picture that can be drawn on any canvas, in points.
type drawing struct {
	width, height vg.Length
	draw          func(c draw.Canvas)
}

// chartWidth is the width of charts: JupyterLab's output area is about as wide on a laptop.
const chartWidth = 720

// sans returns Liberation Sans, whose metrics are those of Arial and Helvetica: the text of the SVG, which names fonts rather
// than carrying them, keeps its widths wherever one of the three is.
func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// textStyle is a style at its left baseline.
func textStyle(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: sans(size), Handler: plot.DefaultTextHandler, XAlign: draw.XLeft, YAlign: draw.YBottom}
}

func boldStyle(size vg.Length, c color.Color) text.Style {
	s := textStyle(size, c)
	s.Font.Weight = xfont.WeightBold
	return s
}

// paper paints the card that a figure stands on. An SVG inside <img> cannot know the page's theme, so it brings its own light
// background and a border that holds on dark pages too. Where scripts run, one turns the card over on those: src/html/page.ts.
func paper(c draw.Canvas) {
	box := c.Rectangle
	c.FillPolygon(card, corners(box))
	inner := vg.Rectangle{Min: vg.Point{X: box.Min.X + .5, Y: box.Min.Y + .5}, Max: vg.Point{X: box.Max.X - .5, Y: box.Max.Y - .5}}
	c.StrokeLines(draw.LineStyle{Color: border, Width: 1}, append(corners(inner), inner.Min))
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

// fill paints a rectangle given by its left, bottom, width and height.
func fill(c draw.Canvas, col color.Color, x, y, w, h vg.Length) {
	c.FillPolygon(col, corners(vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + w, Y: y + h}}))
}

// fit shortens s until it is at most w wide, with an ellipsis.
func fit(style text.Style, s string, w vg.Length) string {
	if style.Width(s) <= w {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && style.Width(string(r)+"…") > w {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// newPlot returns a plot in the style of our cards: horizontal grid, no box, quiet axes. The labels of the axes are left out;
// axisLabels writes them where they can be read without turning the head.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Tick.Label = styled(a.Tick.Label, 9, faint)
		a.LineStyle.Color, a.LineStyle.Width = border, .75
		a.Tick.LineStyle = draw.LineStyle{Color: border, Width: .75}
		a.Tick.Length = 4
		a.Padding = 4
	}
	return p
}

// axisLabels writes what the vertical axis shows at its top and what the horizontal one shows at its end.
func axisLabels(c draw.Canvas, y, x string) {
	s := textStyle(9, faint)
	c.FillText(s, vg.Point{X: c.Min.X, Y: c.Max.Y - 9}, y)
	s.XAlign = draw.XRight
	c.FillText(s, vg.Point{X: c.Max.X, Y: c.Min.Y}, x)
}

// styled keeps a style's alignment and changes its font and color.
func styled(s text.Style, size vg.Length, c color.Color) text.Style {
	s.Font, s.Color = sans(size), c
	return s
}

// note is a card with words in the place of a chart that would be empty.
func note(title, words string) drawing {
	style := textStyle(10.5, ink)
	body := lines(style, words, chartWidth-36, 4)
	height := vg.Length(44 + 15*len(body))
	return drawing{chartWidth, height, func(c draw.Canvas) {
		paper(c)
		c.FillText(boldStyle(13, ink), vg.Point{X: 18, Y: c.Max.Y - 26}, title)
		for i, l := range body {
			c.FillText(style, vg.Point{X: 18, Y: c.Max.Y - 46 - vg.Length(15*i)}, l)
		}
	}}
}
