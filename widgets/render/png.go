package render

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	stdraw "image/draw"
	"image/png"
	"slices"

	"gonum.org/v1/plot/vg/draw"
)

// sharp is the resolution at which a point is two pixels.
const sharp = 144

// drawPNG draws at a resolution in dots per inch and stores it with a palette.
func drawPNG(d drawing, dpi int) ([]byte, error) {
	c := newPixels(d.width, d.height, dpi)
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
	runs, colors, count := runsOf(rgba)
	palette := pickPalette(colors, count, n)
	nearest := make([]uint8, len(colors))
	for i, c := range colors {
		nearest[i] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(box, palette)
	pix := out.Pix
	for _, r := range runs {
		line := pix[:r.length]
		pix = pix[r.length:]
		if i := nearest[r.color]; i != 0 { // it is cleared
			for x := range line {
				line[x] = i
			}
		}
	}
	return out
}

// A run is a number of equal pixels one behind the other: most of a chart is flat.
type run struct{ color, length int32 }

// runsOf returns the runs of an image, row after row, and the colors of which they have the numbers, with the pixels of each.
func runsOf(m *image.RGBA) (runs []run, colors []color.RGBA, count []int) {
	number := map[uint32]int32{}
	width := m.Rect.Dx()
	for y := range m.Rect.Dy() {
		pix := m.Pix[y*m.Stride:][:4*width]
		for x := 0; x < len(pix); {
			c := binary.LittleEndian.Uint32(pix[x:])
			next := x + 4
			for twice := uint64(c)<<32 | uint64(c); next+8 <= len(pix) && binary.LittleEndian.Uint64(pix[next:]) == twice; {
				next += 8
			}
			for next < len(pix) && binary.LittleEndian.Uint32(pix[next:]) == c {
				next += 4
			}
			i, ok := number[c]
			if !ok {
				i = int32(len(colors))
				number[c] = i
				colors, count = append(colors, color.RGBA{pix[x], pix[x+1], pix[x+2], pix[x+3]}), append(count, 0)
			}
			runs = append(runs, run{i, int32((next - x) / 4)})
			count[i] += (next - x) / 4
			x = next
		}
	}
	return runs, colors, count
}

// pickPalette takes the most frequent colors that are not close to one already taken. Flat fills are a large part of the
// picture and may differ little from each other; of the shades that antialiasing makes, close ones are the same to the eye.
func pickPalette(colors []color.RGBA, count []int, n int) color.Palette {
	order, pixels := make([]int, len(colors)), 0
	for i, k := range count {
		order[i] = i
		pixels += k
	}
	key := func(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
	slices.SortFunc(order, func(a, b int) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return key(colors[a]) - key(colors[b]) // the same image always has the same palette
	})
	var out color.Palette
	for _, i := range order {
		c := colors[i]
		if len(out) == n {
			break
		}
		apart := 40
		if count[i] > pixels/400 {
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
