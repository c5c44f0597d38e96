package render

import (
	"image"
	"image/color"
	stdraw "image/draw"
	"math"

	"golang.org/x/image/font"
	sixtyfourths "golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pixels is a vgimg canvas that fills rectangles of whole pixels without asking for the coverage of each, and copies glyphs
// without resampling them: the two are otherwise almost half of the time of a picture. What is drawn is the same.
type pixels struct {
	*vgimg.Canvas
	height  float64 // in pixels
	at      state
	stacked []state
}

// A state is what Push saves and Fill needs.
type state struct {
	color  color.Color
	dx, dy float64 // of the origin, in pixels
	skewed bool    // rotated or scaled
}

// plain is a state in which what is drawn lies as its path says and hides what is beneath.
func (s state) plain() bool {
	_, _, _, a := s.color.RGBA()
	return a == math.MaxUint16 && !s.skewed
}

func newPixels(w, h vg.Length, dpi int) *pixels {
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
	return &pixels{Canvas: c, height: float64(c.Image().Bounds().Dy()), at: state{color: color.Black}}
}

func (p *pixels) SetColor(c color.Color) {
	if c == nil {
		c = color.Black
	}
	p.at.color = c
	p.Canvas.SetColor(c)
}

func (p *pixels) Push() {
	p.stacked = append(p.stacked, p.at)
	p.Canvas.Push()
}

func (p *pixels) Pop() {
	p.at, p.stacked = p.stacked[len(p.stacked)-1], p.stacked[:len(p.stacked)-1]
	p.Canvas.Pop()
}

func (p *pixels) Translate(pt vg.Point) {
	p.at.dx += pt.X.Dots(p.DPI())
	p.at.dy += pt.Y.Dots(p.DPI())
	p.Canvas.Translate(pt)
}

func (p *pixels) Rotate(rad float64) {
	p.at.skewed = true
	p.Canvas.Rotate(rad)
}

func (p *pixels) Scale(x, y float64) {
	p.at.skewed = true
	p.Canvas.Scale(x, y)
}

func (p *pixels) Fill(path vg.Path) {
	if box, ok := p.whole(path); ok {
		stdraw.Draw(p.Image(), box, image.NewUniform(p.at.color), image.Point{}, stdraw.Src)
		return
	}
	p.Canvas.Fill(path)
}

// whole returns the pixels that a path fills where they are a rectangle, each of them covered whole, by a color that hides what
// lies beneath.
func (p *pixels) whole(path vg.Path) (image.Rectangle, bool) {
	if !p.at.plain() {
		return image.Rectangle{}, false
	}
	if len(path) != 5 || path[0].Type != vg.MoveComp || path[4].Type != vg.CloseComp {
		return image.Rectangle{}, false
	}
	var corners [4]image.Point
	for i, c := range path[:4] {
		x, y := p.at.dx+c.Pos.X.Dots(p.DPI()), p.height-p.at.dy-c.Pos.Y.Dots(p.DPI())
		corners[i] = image.Pt(int(math.Round(x)), int(math.Round(y)))
		// Coverage is counted in parts of 1/256 of a pixel.
		far := math.Abs(x-float64(corners[i].X)) >= 1.0/512 || math.Abs(y-float64(corners[i].Y)) >= 1.0/512
		if far || i > 0 && c.Type != vg.LineComp {
			return image.Rectangle{}, false
		}
	}
	box := image.Rectangle{Min: corners[0], Max: corners[2]}.Canon()
	across := corners[1] == image.Pt(corners[2].X, corners[0].Y) && corners[3] == image.Pt(corners[0].X, corners[2].Y)
	up := corners[1] == image.Pt(corners[0].X, corners[2].Y) && corners[3] == image.Pt(corners[2].X, corners[0].Y)
	return box, across || up
}

// FillString copies the glyphs of level, opaque text.
func (p *pixels) FillString(face plotfont.Face, pt vg.Point, text string) {
	whole := p.at.dx == math.Trunc(p.at.dx) && p.at.dy == math.Trunc(p.at.dy)
	if !p.at.plain() || !whole || face.Font.Size == 0 {
		p.Canvas.FillString(face, pt, text)
		return
	}
	glyphs := face.FontFace(p.DPI())
	defer glyphs.Close()
	_, h := p.Size()
	at := sixtyfourths.Point26_6{
		X: sixtyfourths.Int26_6(math.Round(64 * (p.at.dx + pt.X.Dots(p.DPI())))),
		Y: sixtyfourths.Int26_6(math.Round(64 * (h.Dots(p.DPI()) - p.at.dy - pt.Y.Dots(p.DPI())))),
	}
	d := font.Drawer{Dst: p.Image(), Src: image.NewUniform(p.at.color), Face: glyphs, Dot: at}
	d.DrawString(text)
}
