package render

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/amp"
)

// layers gather what has one color into one path: a path for each mark of each row is most of a picture of many rows. Lines lie below fills,
// and those below dots, in the order of their colors' first use; texts are drawn at once.
type layers struct {
	c     draw.Canvas
	lines []layer
	fills []layer
	dots  []layer
	holes []layer
}

type layer struct {
	color color.NRGBA
	width vg.Length // of lines
	path  vg.Path
}

func of(all *[]layer, col color.NRGBA, width vg.Length) *vg.Path {
	for i := range *all {
		if l := &(*all)[i]; l.color == col && l.width == width {
			return &l.path
		}
	}
	*all = append(*all, layer{color: col, width: width})
	return &(*all)[len(*all)-1].path
}

// line draws a line between two points.
func (l *layers) line(col color.NRGBA, width, x0, y0, x1, y1 vg.Length) {
	p := of(&l.lines, col, width)
	p.Move(vg.Point{X: x0, Y: y0})
	p.Line(vg.Point{X: x1, Y: y1})
}

// fill paints a rectangle given by its left, bottom, width and height.
func (l *layers) fill(col color.NRGBA, x, y, w, h vg.Length) { box(of(&l.fills, col, 0), x, y, w, h) }

func box(p *vg.Path, x, y, w, h vg.Length) {
	p.Move(vg.Point{X: x, Y: y})
	p.Line(vg.Point{X: x + w, Y: y})
	p.Line(vg.Point{X: x + w, Y: y + h})
	p.Line(vg.Point{X: x, Y: y + h})
	p.Close()
}

// dot draws a disk, or a ring.
func (l *layers) dot(col color.NRGBA, at vg.Point, filled bool) {
	if filled {
		disk(of(&l.dots, col, 0), at, 3)
		return
	}
	disk(of(&l.fills, col, 0), at, 3) // a disk that another one lies on stays seen around it
	disk(of(&l.holes, card, 0), at, 1.6)
}

func disk(p *vg.Path, at vg.Point, r vg.Length) {
	p.Move(vg.Point{X: at.X + r, Y: at.Y})
	p.Arc(at, r, 0, 2*math.Pi)
	p.Close()
}

// mark draws the sign of a dtype as mark does, in the dtype's color.
func (l *layers) mark(d amp.DType, x, y vg.Length) {
	col := dtypeColor(d)
	switch d {
	case amp.Float16:
		l.fill(col, x+1, y, 4, 8)
	case amp.BFloat16:
		x0, x1, y0, y1 := x+1.2, x+5, y+.5, y+7.5
		for _, s := range [][4]vg.Length{{x0, y0, x1, y0}, {x1, y0, x1, y1}, {x1, y1, x0, y1}, {x0, y1, x0, y0}} {
			l.line(col, 1.2, s[0], s[1], s[2], s[3])
		}
	case amp.Float32:
		l.fill(col, x, y+1, 6, 6)
	default:
		l.line(col, 1.2, x, y+4, x+6, y+4)
	}
}

// text writes words, where there are any.
func (l *layers) text(s text.Style, x, y vg.Length, words string) {
	if words != "" {
		l.c.FillText(s, vg.Point{X: x, Y: y}, words)
	}
}

// flush draws all that was gathered.
func (l *layers) flush() {
	for _, g := range l.lines {
		l.c.SetLineStyle(draw.LineStyle{Color: g.color, Width: g.width})
		l.c.Stroke(g.path)
	}
	for _, all := range [][]layer{l.fills, l.holes, l.dots} {
		for _, g := range all {
			l.c.SetColor(g.color)
			l.c.Fill(g.path)
		}
	}
}
