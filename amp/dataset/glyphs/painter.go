package glyphs

import "github.com/halftone-ml/halftone/amp/dataset"

// A painter draws one image at a time, all in integers.
type painter struct {
	raster raster
	px     [3][side * side]int32 // 0 to 255, beyond while noise is added
}

type color [3]int32

// luma is the brightness of a color by the weights of Rec. 601.
func (c color) luma() int32 { return (299*c[0] + 587*c[1] + 114*c[2]) / 1000 }

// draw paints an image of a class and writes it as planes of red, green and blue.
func (p *painter) draw(d *drawing, r *dataset.Rand, class int, dst []byte) {
	back := color{int32(r.IntN(256)), int32(r.IntN(256)), int32(r.IntN(256))}
	p.background(r, back)
	for range r.IntN(3) { // clutter: pieces of other characters at the border, in colors close to the background
		o := d.outlines[r.IntN(len(d.outlines))][r.IntN(len(d.outlines[0]))]
		at := place(r, o, 16+r.IntN(14))
		at.cx, at.cy = border(r)
		p.ink(o, at, shade(r, back, 30, 90))
	}
	o := d.outlines[class][r.IntN(len(d.outlines[class]))]
	p.ink(o, place(r, o, 14+r.IntN(13)), shade(r, back, 70, 256))
	p.noise(r, int64(r.IntN(40)))
	for c := range p.px {
		for i, v := range p.px[c] {
			dst[c*side*side+i] = byte(min(max(v, 0), 255))
		}
	}
}

// shade draws a color whose brightness differs from that of back by lo to hi-1.
func shade(r *dataset.Rand, back color, lo, hi int32) color {
	for {
		c := color{int32(r.IntN(256)), int32(r.IntN(256)), int32(r.IntN(256))}
		if d := c.luma() - back.luma(); max(d, -d) >= lo && max(d, -d) < hi {
			return c
		}
	}
}

// place draws size, proportions, slant, rotation and position of an outline that is height pixels high before it is turned.
func place(r *dataset.Rand, o outline, height int) placing {
	const one = 256
	wide := int64(200 + r.IntN(113)) // 0.78 to 1.22
	slant := int64(r.IntN(97) - 48)  // up to 0.19
	// tan(θ/2) = t/256 gives cosine and sine as fractions, for θ up to 20°.
	t := int64(r.IntN(91) - 45)
	cos, sin, hyp := one*one-t*t, 2*one*t, one*one+t*t
	// A scale of subpixel·height/h, then the matrix rotation · (wide slant; 0 1).
	p := placing{
		a: cos * wide, b: cos*slant - sin*one,
		c: sin * wide, d: sin*slant + cos*one,
		den: hyp * one,
	}
	k := int64(height * subpixel)
	p.a, p.b, p.c, p.d = p.a*k/o.h, p.b*k/o.h, p.c*k/o.h, p.d*k/o.h
	// The box of what is drawn keeps within the image.
	halfW := (abs(p.a)*o.w + abs(p.b)*o.h) / p.den / 2
	halfH := (abs(p.c)*o.w + abs(p.d)*o.h) / p.den / 2
	p.cx, p.cy = somewhere(r, halfW), somewhere(r, halfH)
	return p
}

// somewhere draws a center so that an extent to both sides keeps within the image, if it can.
func somewhere(r *dataset.Rand, half int64) int64 {
	const middle = side * subpixel / 2
	free := max(0, middle-half)
	return middle - free + int64(r.IntN(int(2*free+1)))
}

func abs(v int64) int64 { return max(v, -v) }

// border draws a center on the frame of the image or up to 4 pixels outside.
func border(r *dataset.Rand) (x, y int64) {
	along, out := int64(r.IntN(side*subpixel)), int64(r.IntN(4*subpixel))
	switch r.IntN(4) {
	case 0:
		return along, -out
	case 1:
		return along, side*subpixel + out
	case 2:
		return -out, along
	}
	return side*subpixel + out, along
}

// background fills the image with a color that changes smoothly: a grid of 5×5 random colors near back, joined linearly.
func (p *painter) background(r *dataset.Rand, back color) {
	const cells, cell = 4, side / 4
	spread := 1 + r.IntN(60)
	for c := range p.px {
		var grid [cells + 1][cells + 1]int32
		for y := range grid {
			for x := range grid[y] {
				grid[y][x] = back[c] + int32(r.IntN(2*spread+1)-spread)
			}
		}
		for i := range p.px[c] {
			y, x := i/side, i%side
			gy, gx, fy, fx := y/cell, x/cell, int32(y%cell), int32(x%cell)
			top := grid[gy][gx]*(cell-fx) + grid[gy][gx+1]*fx
			bottom := grid[gy+1][gx]*(cell-fx) + grid[gy+1][gx+1]*fx
			p.px[c][i] = (top*(cell-fy) + bottom*fy) / (cell * cell)
		}
	}
}

// ink lays an outline of one color over the image.
func (p *painter) ink(o outline, at placing, c color) {
	p.raster.fill(o, at)
	for i, cover := range p.raster.cover {
		if cover == 0 {
			continue
		}
		cover = min(cover, full)
		for k := range p.px {
			p.px[k][i] += (c[k] - p.px[k][i]) * cover / full
		}
	}
}

// noise adds a number from -level to level to each pixel and channel, eight of them from one draw.
func (p *painter) noise(r *dataset.Rand, level int64) {
	var bits uint64
	for c := range p.px {
		for i := range p.px[c] {
			if i%8 == 0 {
				bits = r.Uint64()
			}
			v := int64(bits & 255)
			bits >>= 8
			p.px[c][i] += int32(v*(2*level+1)/256 - level)
		}
	}
}
