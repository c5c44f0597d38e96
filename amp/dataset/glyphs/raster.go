package glyphs

import (
	"cmp"
	"slices"
)

// A placing takes outline points to 1/256 pixels: (x,y) becomes (a·x + b·y + cx·den, c·x + d·y + cy·den) / den.
type placing struct{ a, b, c, d, den, cx, cy int64 }

// Sampling: eight lines per row of pixels, exact along a line.
const (
	subpixel = 256 // parts of a pixel
	lines    = 8   // sampled lines of a row
	full     = lines * subpixel
)

// A crossing is where an edge meets a sampled line, and which way it goes.
type crossing struct{ x, dir int64 }

// A raster computes how much of each pixel an outline covers.
type raster struct {
	cover     [side * side]int32 // 0 to full
	crossings [side * lines][]crossing
}

// fill replaces the cover by that of an outline: everything inside by the non-zero winding rule, as TrueType fonts mean it.
func (r *raster) fill(o outline, at placing) {
	clear(r.cover[:])
	for i := range r.crossings {
		r.crossings[i] = r.crossings[i][:0]
	}
	for _, c := range o.contours {
		from := at.apply(c[len(c)-1])
		for _, p := range c {
			to := at.apply(p)
			r.edge(from, to)
			from = to
		}
	}
	for i := range r.crossings {
		r.line(i)
	}
}

func (p placing) apply(v point) point {
	return point{floorDiv(p.a*v.x+p.b*v.y, p.den) + p.cx, floorDiv(p.c*v.x+p.d*v.y, p.den) + p.cy}
}

// floorDiv rounds down, so that an outline has the same form wherever it lies.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// edge notes where an edge crosses the sampled lines; line i lies at (i+1/2)·subpixel/lines.
func (r *raster) edge(a, b point) {
	dir := int64(1)
	if a.y > b.y {
		a, b, dir = b, a, -1
	}
	const step, half = subpixel / lines, subpixel / lines / 2
	first := max(0, floorDiv(a.y-half+step-1, step))
	for i := first; i < int64(len(r.crossings)); i++ {
		y := i*step + half
		if y >= b.y {
			return
		}
		r.crossings[i] = append(r.crossings[i], crossing{a.x + floorDiv((y-a.y)*(b.x-a.x), b.y-a.y), dir})
	}
}

// line adds the covered pieces of one sampled line.
func (r *raster) line(i int) {
	row := r.cover[i/lines*side : (i/lines+1)*side]
	cs := r.crossings[i]
	slices.SortFunc(cs, func(a, b crossing) int { return cmp.Compare(a.x, b.x) })
	winding := int64(0)
	for k, c := range cs {
		if winding != 0 {
			span(row, cs[k-1].x, c.x)
		}
		winding += c.dir
	}
}

// span adds the part of each pixel between two places.
func span(row []int32, from, to int64) {
	from, to = max(from, 0), min(to, side*subpixel)
	for from < to {
		px := from / subpixel
		end := min(to, (px+1)*subpixel)
		row[px] += int32(end - from)
		from = end
	}
}
