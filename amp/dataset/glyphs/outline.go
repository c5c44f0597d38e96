package glyphs

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// A point is a place in font units, times unit, or in the image, in 1/256 of a pixel; y points down.
type point struct{ x, y int64 }

// unit keeps the fractions of font units that splitting a curve into eight gives: 1/8².
const unit = 64

// An outline is closed polygons, around the center of their box, and the size of that box.
type outline struct {
	contours [][]point
	w, h     int64
}

// A face is a parsed font.
type face struct{ font *sfnt.Font }

// faces10 parses the fonts once.
var faces10 = sync.OnceValue(func() []face {
	var all []face
	for _, ttf := range [][]byte{
		goregular.TTF, goitalic.TTF, gomedium.TTF, gomediumitalic.TTF, gobold.TTF,
		gobolditalic.TTF, gomono.TTF, gomonoitalic.TTF, gomonobold.TTF, gomonobolditalic.TTF,
	} {
		f, err := sfnt.Parse(ttf)
		if err != nil {
			panic(fmt.Sprintf("glyphs: a font of the module golang.org/x/image can't be read: %v", err))
		}
		all = append(all, face{f})
	}
	return all
})

// outline returns a character's polygons.
func (f face) outline(c rune) (outline, error) {
	var buf sfnt.Buffer
	g, err := f.font.GlyphIndex(&buf, c)
	if err != nil {
		return outline{}, err
	}
	if g == 0 {
		return outline{}, errors.New("not in the font")
	}
	// As many pixels per em as font units: the coordinates are then the font's own integers, without any rounding.
	segments, err := f.font.LoadGlyph(&buf, g, fixed.Int26_6(f.font.UnitsPerEm()), nil)
	if err != nil {
		return outline{}, err
	}
	var o outline
	for _, s := range segments {
		if err := o.add(s); err != nil {
			return outline{}, err
		}
	}
	if len(o.contours) == 0 {
		return outline{}, errors.New("it is blank")
	}
	o.center()
	return o, nil
}

// add appends a segment, curves as eight straight pieces.
func (o *outline) add(s sfnt.Segment) error {
	at := func(k int) point { return point{int64(s.Args[k].X) * unit, int64(s.Args[k].Y) * unit} }
	if s.Op == sfnt.SegmentOpMoveTo {
		o.contours = append(o.contours, []point{at(0)})
		return nil
	}
	last := &o.contours[len(o.contours)-1]
	switch s.Op {
	case sfnt.SegmentOpLineTo:
		*last = append(*last, at(0))
	case sfnt.SegmentOpQuadTo:
		a, b, c := (*last)[len(*last)-1], at(0), at(1)
		for t := int64(1); t <= 8; t++ {
			u := 8 - t
			*last = append(*last, point{
				(u*u*a.x + 2*u*t*b.x + t*t*c.x) / 64,
				(u*u*a.y + 2*u*t*b.y + t*t*c.y) / 64,
			})
		}
	default:
		return errors.New("the outline has cubic curves, which TrueType fonts don't")
	}
	return nil
}

// center moves the middle of the box to the origin.
func (o *outline) center() {
	lo, hi := o.contours[0][0], o.contours[0][0]
	for _, c := range o.contours {
		for _, p := range c {
			lo.x, lo.y, hi.x, hi.y = min(lo.x, p.x), min(lo.y, p.y), max(hi.x, p.x), max(hi.y, p.y)
		}
	}
	o.w, o.h = hi.x-lo.x, hi.y-lo.y
	for _, c := range o.contours {
		for i := range c {
			c[i].x -= (lo.x + hi.x) / 2
			c[i].y -= (lo.y + hi.y) / 2
		}
	}
}
