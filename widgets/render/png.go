package render

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	stdraw "image/draw"
	"image/png"
	"slices"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// sharp is the resolution at which a point is two pixels.
const sharp = 144

// drawPNG draws at a resolution in dots per inch and stores it with a palette.
func drawPNG(d drawing, dpi int) ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(d.width, d.height), vgimg.UseDPI(dpi))
	d.draw(draw.New(c))
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.DefaultCompression}
	if err := e.Encode(&b, quantize(c.Image(), 16)); err != nil {
		return nil, fmt.Errorf("render: png: %w", err)
	}
	return b.Bytes(), nil
}

// quantize maps an image to at most n colors: flat fills stay exact because the most frequent colors are the palette, and
// the shades between them, which only antialiasing makes, go to the nearest.
func quantize(src image.Image, n int) *image.Paletted {
	box := src.Bounds()
	rgba, ok := src.(*image.RGBA)
	if !ok {
		rgba = image.NewRGBA(box)
		stdraw.Draw(rgba, box, src, box.Min, stdraw.Src)
	}
	row := func(y int) []uint8 { return rgba.Pix[rgba.PixOffset(box.Min.X, y):][:4*box.Dx()] }
	count := map[color.RGBA]int{}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		eachRun(row(y), func(c color.RGBA, from, to int) { count[c] += to - from })
	}
	palette := pickPalette(count, n)
	out := image.NewPaletted(box, palette)
	index := map[color.RGBA]uint8{}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		line := out.Pix[out.PixOffset(box.Min.X, y):]
		eachRun(row(y), func(c color.RGBA, from, to int) {
			i, ok := index[c]
			if !ok {
				i = uint8(palette.Index(c))
				index[c] = i
			}
			for x := from; x < to; x++ {
				line[x] = i
			}
		})
	}
	return out
}

// eachRun visits the runs of equal pixels of a row: most of a chart is flat.
func eachRun(pix []uint8, visit func(c color.RGBA, from, to int)) {
	for i := 0; i < len(pix); {
		k := i + 4
		for k < len(pix) && [4]uint8(pix[k:]) == [4]uint8(pix[i:]) {
			k += 4
		}
		visit(color.RGBA{pix[i], pix[i+1], pix[i+2], pix[i+3]}, i/4, k/4)
		i = k
	}
}

// pickPalette takes the most frequent colors that are not close to one already taken. Flat fills are a large part of the
// picture and may differ little from each other; of the shades that antialiasing makes, close ones are the same to the eye.
func pickPalette(count map[color.RGBA]int, n int) color.Palette {
	colors := make([]color.RGBA, 0, len(count))
	pixels := 0
	for c, k := range count {
		colors = append(colors, c)
		pixels += k
	}
	key := func(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
	slices.SortFunc(colors, func(a, b color.RGBA) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return key(a) - key(b) // the same image always has the same palette
	})
	var out color.Palette
	for _, c := range colors {
		if len(out) == n {
			break
		}
		apart := 40
		if count[c] > pixels/400 {
			apart = 6
		}
		if !slices.ContainsFunc(out, func(p color.Color) bool { return distance(p.(color.RGBA), c) < apart*apart }) {
			out = append(out, c)
		}
	}
	return out
}

// distance is the squared distance of two colors.
func distance(a, b color.RGBA) int {
	r, g, u := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return r*r + g*g + u*u
}
