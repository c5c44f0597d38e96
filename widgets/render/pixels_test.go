package render

import (
	"image"
	"image/color"
	"maps"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// TestPixelsDrawWhatTheCanvasDraws compares every figure, and what no figure does yet, with vgimg, pixel by pixel,
// to 1 in 255.
func TestPixelsDrawWhatTheCanvasDraws(t *testing.T) {
	all := figures()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if d, ok := chart(all[name], allRows); ok {
			for _, dpi := range []int{sharp, 97} {
				samePixels(t, name, d, dpi)
			}
		}
	}
	red := color.RGBA{200, 10, 10, 255}
	clear := color.NRGBA{10, 10, 200, 100}
	boxes := func(c draw.Canvas) {
		for i, col := range []color.Color{red, clear, color.Black} {
			at := vg.Length(10 * i)
			fill(c, col, at, at, 20, 15)         // on whole pixels at 144 dpi
			fill(c, col, at+.3, 40+at, 20.1, 15) // not
			fill(c, col, 90+at, 40+at, -20, -15) // the other way round
			c.FillPolygon(col, []vg.Point{{X: 50, Y: at}, {X: 60, Y: at}, {X: 60, Y: at + 5}, {X: 50, Y: at + 8}})
			c.FillPolygon(col, []vg.Point{{X: 70, Y: at}, {X: 70, Y: at + 5}, {X: 80, Y: at}, {X: 80, Y: at + 5}}) // crosses itself
			c.FillPolygon(col, []vg.Point{{X: 90, Y: at}, {X: 95, Y: at}, {X: 92, Y: at + 5}})
		}
		c.SetColor(nil)
		var round vg.Path
		round.Move(vg.Point{X: 110, Y: 10})
		round.Arc(vg.Point{X: 105, Y: 10}, 5, 0, 6)
		round.Close()
		c.Fill(round)
		c.FillText(textStyle(9, red), vg.Point{X: 3, Y: 60}, "AVA fp16 → 65,504 ∞")
		c.FillText(textStyle(7.5, clear), vg.Point{X: 3.3, Y: 70.7}, "a loss, \u0000 and no glyph \U0010ffff")
	}
	for name, d := range map[string]func(c draw.Canvas){
		"as it is":             boxes,
		"moved":                func(c draw.Canvas) { c.Translate(vg.Point{X: 12, Y: 7}); boxes(c) },
		"by a part of a pixel": func(c draw.Canvas) { c.Translate(vg.Point{X: 12.2, Y: 7.1}); boxes(c) },
		"scaled":               func(c draw.Canvas) { c.Scale(.5, 1); boxes(c) },
		"turned":               func(c draw.Canvas) { c.Translate(vg.Point{X: 60, Y: 60}); c.Rotate(1.5); boxes(c) },
		"and back": func(c draw.Canvas) {
			c.Push()
			c.SetColor(red)
			c.Rotate(.2)
			c.Translate(vg.Point{X: 5, Y: 5})
			c.Pop()
			boxes(c)
		},
		"out of the picture": func(c draw.Canvas) { c.Translate(vg.Point{X: -20, Y: 90}); boxes(c) },
	} {
		samePixels(t, name, drawing{120, 100, d}, sharp)
		samePixels(t, name, drawing{120.3, 100.3, d}, 90)
	}
}

func samePixels(t *testing.T, name string, d drawing, dpi int) {
	t.Helper()
	want := vgimg.NewWith(vgimg.UseWH(d.width, d.height), vgimg.UseDPI(dpi))
	d.draw(draw.New(want))
	got := newPixels(d.width, d.height, dpi)
	d.draw(draw.New(got))
	a, b := want.Image().(*image.RGBA), got.Image().(*image.RGBA)
	if a.Rect != b.Rect {
		t.Fatalf("%s at %d dpi: %v, want %v", name, dpi, b.Rect, a.Rect)
	}
	for i, v := range a.Pix {
		// Text is blended by another formula for the same sum, which is rounded differently.
		if off := int(v) - int(b.Pix[i]); off < -1 || off > 1 {
			t.Errorf("%s at %d dpi: x %d, y %d has %v, want %v", name, dpi, i%a.Stride/4, i/a.Stride, b.Pix[i&^3:][:4], a.Pix[i&^3:][:4])
			break
		}
	}
}

// TestRuns are those of rows of odd and even lengths.
func TestRuns(t *testing.T) {
	for width := 1; width < 12; width++ {
		m := image.NewRGBA(image.Rect(3, 2, 3+width, 6))
		for y := range 4 {
			for x := range width {
				m.SetRGBA(3+x, 2+y, color.RGBA{uint8(x / (y + 1)), 0, 7, 255})
			}
		}
		runs, colors, count := runsOf(m)
		i, of := 0, int32(0)
		for y := range 4 {
			for x := range width {
				if want := m.RGBAAt(3+x, 2+y); colors[runs[i].color] != want {
					t.Fatalf("width %d, x %d, y %d: %v", width, x, y, colors[runs[i].color])
				}
				if of++; of == runs[i].length {
					count[runs[i].color] -= int(of)
					i, of = i+1, 0
				}
			}
		}
		if i != len(runs) || of != 0 || slices.ContainsFunc(count, func(n int) bool { return n != 0 }) {
			t.Errorf("width %d: %d of %d runs, counts %v too many", width, i, len(runs), count)
		}
	}
}
