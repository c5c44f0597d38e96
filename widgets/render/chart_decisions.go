package render

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// Geometry of the decisions map, in points.
const (
	mapLine   = 16 // of text or tiles; a row has two
	mapRow    = 2*mapLine + 4
	mapLeft   = 18
	mapFwd    = 168
	mapWhy    = 288
	mapBack   = 498
	mapRight  = chartWidth - 16
	mapStrip  = 166 // width of the magnitudes, to the right of the rest
	mapHeader = 76
)

// decisionsChart draws a map of the program: a row per op with the tile of its forward precision, the reason, and the tiles of
// its backward pass. It draws at most the given number of rows; the table has more of them.
func decisionsChart(f *widgets.Figure, limit int) drawing {
	d := f.Decisions
	if d.Missing != "" {
		return note(f.Title, d.Missing)
	}
	rows := mapRows(d)
	more := d.More
	if len(rows) > limit {
		more += len(rows) - limit
		rows = rows[:limit]
	}
	height := vg.Length(mapHeader + mapRow*len(rows) + 12)
	if more > 0 {
		height += mapLine
	}
	right := vg.Length(mapRight)
	if d.Format != "" {
		right += mapStrip
	}
	return drawing{right + 16, height, func(c draw.Canvas) {
		paper(c)
		top := c.Max.Y - 24
		c.FillText(boldStyle(13, ink), vg.Point{X: mapLeft, Y: top}, f.Title)
		c.FillText(textStyle(10, faint), vg.Point{X: mapLeft + 146, Y: top}, strings.Join(d.Strip(), " · "))
		counts(c, d, vg.Point{X: mapLeft, Y: top - 22})
		y := c.Max.Y - mapHeader
		head := boldStyle(8.5, faint)
		for i, x := range []vg.Length{mapLeft, mapFwd, mapWhy, mapBack} {
			c.FillText(head, vg.Point{X: x, Y: y + 6}, []string{"MODULE, OP", "FORWARD", "WHY", "BACKWARD"}[i])
		}
		if d.Format != "" {
			stripHeader(c, d, y+6)
			stripBands(c, d, y, y-vg.Length(mapRow*len(rows)))
		}
		for _, r := range rows {
			c.StrokeLine2(draw.LineStyle{Color: border, Width: .75}, mapLeft, y, right, y)
			y -= mapRow
			r.draw(c, d, y)
			r.strips(c, d, y)
		}
		if more > 0 {
			c.FillText(textStyle(9.5, faint), vg.Point{X: mapLeft, Y: y - mapLine + 2}, "… and "+moreRows(more))
		}
	}}
}

// A mapEntry is a row of the map.
type mapEntry struct {
	module   string // on its first row
	forward  int    // site; -1: none
	backward []int
}

func mapRows(d *widgets.DecisionsData) []mapEntry {
	var out []mapEntry
	for _, m := range d.Modules() {
		name := m.Name()
		for _, r := range m.Rows {
			out = append(out, mapEntry{name, r.Forward, r.Backward})
			name = ""
		}
		if len(m.Backward) > 0 {
			out = append(out, mapEntry{name, -1, m.Backward})
		}
	}
	return out
}

// draw draws a row upwards from y.
func (r mapEntry) draw(c draw.Canvas, d *widgets.DecisionsData, y vg.Length) {
	upper, lower := y+mapLine+4, y+5
	if r.module != "" {
		s := boldStyle(9.5, ink)
		c.FillText(s, vg.Point{X: mapLeft, Y: upper}, fitPath(s, r.module, mapFwd-mapLeft-8))
	}
	op := textStyle(9.5, ink)
	if r.forward < 0 {
		c.FillText(textStyle(9.5, faint), vg.Point{X: mapLeft, Y: lower}, "backward")
	} else {
		s := &d.Sites[r.forward]
		at := lower
		if r.module == "" {
			at = upper
		}
		c.FillText(op, vg.Point{X: mapLeft, Y: at}, fit(op, s.Op+d.Times(s), mapFwd-mapLeft-8))
		if from := s.From(); from != "" {
			st := textStyle(8.5, faint)
			st.XAlign = draw.XRight
			c.FillText(st, vg.Point{X: mapFwd + 58, Y: upper}, fit(st, from+" →", 58))
		}
		tile(c, s.Compute, mapFwd+62, upper-3.5, s.Compute.Short())
		why := textStyle(8.5, faint)
		for i, l := range lines(why, d.Rule(s), mapBack-mapWhy-14, 2) {
			c.FillText(why, vg.Point{X: mapWhy, Y: upper - vg.Length(12*i)}, l)
		}
	}
	tiles(c, d, r.backward, upper-3.5)
}

// fitPath shortens a path to a width from its beginning: its end tells modules apart.
func fitPath(style text.Style, path string, w vg.Length) string {
	short := path
	for style.Width(short) > w {
		_, rest, ok := strings.Cut(strings.TrimPrefix(short, "…/"), "/")
		if !ok {
			return fit(style, short, w)
		}
		short = "…/" + rest
	}
	return short
}

// lines breaks a text into at most n lines of a width; the last one is shortened.
func lines(style text.Style, s string, w vg.Length, n int) []string {
	var out []string
	line := ""
	words := strings.Fields(s)
	for i, word := range words {
		next := strings.TrimSpace(line + " " + word)
		if line == "" || style.Width(next) <= w {
			line = next
			continue
		}
		if len(out) == n-1 {
			return append(out, fit(style, line+" "+strings.Join(words[i:], " "), w))
		}
		out = append(out, line)
		line = word
	}
	return append(out, fit(style, line, w))
}

// tiles draws the backward ops of a row in two lines, from y downwards.
func tiles(c draw.Canvas, d *widgets.DecisionsData, sites []int, y vg.Length) {
	x, line := vg.Length(mapBack), 0
	for k, i := range sites {
		s := &d.Sites[i]
		label := s.Op + d.Times(s)
		w := tileWidth(label)
		room := vg.Length(mapRight)
		if line == 1 && k < len(sites)-1 {
			room -= 18 // for the count of those that do not fit
		}
		if x+w > room && line == 0 {
			x, line = mapBack, 1
		}
		if x+w > room {
			if x == mapBack {
				label = fit(textStyle(8.5, ink), label, mapRight-mapBack-40)
				w = tileWidth(label)
			} else {
				c.FillText(textStyle(9, faint), vg.Point{X: x, Y: y - vg.Length(line*mapLine) + 3.5}, fmt.Sprintf("+%d", len(sites)-k))
				return
			}
		}
		tile(c, s.Compute, x, y-vg.Length(line*mapLine), label)
		x += w + 4
	}
}

func tileWidth(label string) vg.Length { return max(40, textStyle(8.5, ink).Width(label)+19) }

const tileHeight = 14

// tile draws a dtype's color with its mark and a label.
func tile(c draw.Canvas, d amp.DType, x, y vg.Length, label string) {
	bg := dtypeColor(d)
	w := tileWidth(label)
	fill(c, bg, x, y, w, tileHeight)
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
	x = at.X + width + 12
	for _, n := range d.Summary.Ops {
		label := d.PerStepText(n.Calls) + " " + n.DType.Short()
		tile(c, n.DType, x, at.Y-3, label)
		x += tileWidth(label) + 4
	}
	style := textStyle(10, ink)
	c.FillText(style, vg.Point{X: x + 6, Y: at.Y}, fit(style, d.CallsTitle(), mapRight-x-6))
}
