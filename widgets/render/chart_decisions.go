package render

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// Geometry of the decisions map, in points.
const (
	mapRow    = 19
	mapLeft   = 18
	mapFwd    = 178
	mapWhy    = 296
	mapBack   = 508
	mapRight  = chartWidth - 16
	mapHeader = 76
)

// decisionsChart draws a map of the program: a row per op with the tile of its forward precision, the reason, and the tiles of
// its backward pass. It draws at most the given number of lines; the table has more of them.
func decisionsChart(f *widgets.Figure, lines int) drawing {
	d := f.Decisions
	rows := mapLines(d)
	more := d.More
	if len(rows) > lines {
		for _, r := range rows[lines:] {
			if r.heading == "" || len(r.backward) > 0 {
				more++
			}
		}
		rows = rows[:lines]
	}
	height := vg.Length(mapHeader + mapRow*len(rows) + 14)
	if more > 0 {
		height += mapRow
	}
	return drawing{chartWidth, height, func(c draw.Canvas) {
		paper(c)
		top := c.Max.Y - 24
		c.FillText(boldStyle(13, ink), vg.Point{X: mapLeft, Y: top}, f.Title)
		c.FillText(textStyle(10, faint), vg.Point{X: mapLeft + 146, Y: top}, strings.Join(d.Strip(), " · "))
		if d.Missing != "" {
			c.FillText(textStyle(10, ink), vg.Point{X: mapLeft, Y: top - 26}, d.Missing)
			return
		}
		counts(c, d, vg.Point{X: mapLeft, Y: top - 22})
		y := c.Max.Y - mapHeader
		head := boldStyle(8.5, faint)
		for i, x := range []vg.Length{mapLeft, mapFwd, mapWhy, mapBack} {
			c.FillText(head, vg.Point{X: x, Y: y + 6}, []string{"MODULE / OP", "FORWARD", "WHY", "BACKWARD"}[i])
		}
		c.StrokeLine2(draw.LineStyle{Color: border, Width: 1}, mapLeft, y+1, mapRight, y+1)
		for _, r := range rows {
			y -= mapRow
			r.draw(c, d, y)
		}
		if more > 0 {
			c.FillText(textStyle(9.5, faint), vg.Point{X: mapLeft, Y: y - mapRow + 5}, "… and "+moreRows(more))
		}
	}}
}

// A mapLine is a module heading or one of its rows.
type mapLine struct {
	heading  string
	forward  int // site, -1: none
	backward []int
}

func mapLines(d *widgets.DecisionsData) []mapLine {
	var out []mapLine
	for _, m := range d.Modules() {
		h := mapLine{heading: m.Name(), forward: -1, backward: m.Backward}
		out = append(out, h)
		for _, r := range m.Rows {
			out = append(out, mapLine{forward: r.Forward, backward: r.Backward})
		}
	}
	return out
}

func (r mapLine) draw(c draw.Canvas, d *widgets.DecisionsData, y vg.Length) {
	if r.heading != "" {
		fill(c, color.NRGBA{0xf3, 0xf5, 0xf7, 0xff}, mapLeft-6, y+1, mapRight-mapLeft+6, mapRow-2)
		s := boldStyle(9.5, ink)
		c.FillText(s, vg.Point{X: mapLeft, Y: y + 5.5}, fit(s, r.heading, mapFwd-mapLeft-8))
	}
	if r.forward >= 0 {
		s := &d.Sites[r.forward]
		op := textStyle(9.5, ink)
		c.FillText(op, vg.Point{X: mapLeft + 10, Y: y + 5.5}, fit(op, s.Op+d.Times(s), mapFwd-mapLeft-16))
		x := vg.Length(mapFwd)
		if from := s.From(); from != "" {
			st := textStyle(8.5, faint)
			st.XAlign = draw.XRight
			c.FillText(st, vg.Point{X: x + 58, Y: y + 6}, fit(st, from+" →", 58))
		}
		tile(c, s.Compute, x+62, y+2.5, s.Compute.Short())
		why := textStyle(8.5, faint)
		c.FillText(why, vg.Point{X: mapWhy, Y: y + 6}, fit(why, d.Rule(s), mapBack-mapWhy-12))
	}
	x := vg.Length(mapBack)
	for k, i := range r.backward {
		s := &d.Sites[i]
		label := s.Op + d.Times(s)
		w := tileWidth(label)
		if x+w > mapRight-14 {
			c.FillText(textStyle(9, faint), vg.Point{X: x, Y: y + 6}, fmt.Sprintf("+%d", len(r.backward)-k))
			return
		}
		tile(c, s.Compute, x, y+2.5, label)
		x += w + 4
	}
}

func tileWidth(label string) vg.Length { return max(40, textStyle(8.5, ink).Width(label)+19) }

// tile draws a dtype's color with its mark and a label.
func tile(c draw.Canvas, d amp.DType, x, y vg.Length, label string) {
	bg := dtypeColor(d)
	w := tileWidth(label)
	fill(c, bg, x, y, w, mapRow-5)
	fg := onColor(bg)
	mark(c, d, x+4, y+3, fg)
	s := textStyle(8.5, fg)
	c.FillText(s, vg.Point{X: x + 14, Y: y + 3.6}, label)
}

// mark draws the sign of a dtype 6 wide and 8 high: ▮ float16, ▯ bfloat16, ■ float32, a dash for others.
func mark(c draw.Canvas, d amp.DType, x, y vg.Length, fg color.Color) {
	line := draw.LineStyle{Color: fg, Width: 1.2}
	switch d {
	case amp.Float16:
		fill(c, fg, x+1, y, 4, 8)
	case amp.BFloat16:
		r := vg.Rectangle{Min: vg.Point{X: x + 1.2, Y: y + .5}, Max: vg.Point{X: x + 5, Y: y + 7.5}}
		c.StrokeLines(line, append(corners(r), r.Min))
	case amp.Float32:
		fill(c, fg, x, y+1, 6, 6)
	default:
		c.StrokeLine2(line, x, y+4, x+6, y+4)
	}
}

// counts draws how many calls ran in each dtype, with a bar of their shares.
func counts(c draw.Canvas, d *widgets.DecisionsData, at vg.Point) {
	if d.Summary.Calls == 0 {
		return
	}
	const width, height = 220, 12
	x := at.X
	for _, n := range d.Summary.Ops {
		w := vg.Length(width) * vg.Length(n.Calls) / vg.Length(d.Summary.Calls)
		fill(c, dtypeColor(n.DType), x, at.Y-2, w, height)
		x += w
	}
	c.FillText(textStyle(10, ink), vg.Point{X: at.X + width + 12, Y: at.Y}, fit(textStyle(10, ink), plain(d.Calls()), mapRight-at.X-width-12))
}

// plain leaves out the marks that the font has no characters for; the colored bar stands for them.
func plain(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("▮", "", "▯", "", "■", "", "▢", "").Replace(s)), " ")
}
