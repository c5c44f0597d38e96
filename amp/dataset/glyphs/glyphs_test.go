package glyphs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
)

// TestSameOnEveryMachine compares with a digest recorded once: whatever differs between machines, versions of Go or of the font
// module shows here.
func TestSameOnEveryMachine(t *testing.T) {
	m := New(64, 1)
	const want = "982d0e70f55c39b1bfd26ff97726228209244410e87ee787267d50edb5d71dfa"
	if got := fmt.Sprintf("%x", sha256.Sum256(append(slices.Clone(m.Data), m.Labels...))); got != want {
		t.Errorf("64 images of seed 1 have the digest %s, not %s", got, want)
	}
}

func TestImagesDependOnSeedAndNumberAlone(t *testing.T) {
	small, large := New(33, 5), New(200, 5)
	if !bytes.Equal(small.Data, large.Data[:len(small.Data)]) || !bytes.Equal(small.Labels, large.Labels[:33]) {
		t.Error("the first images of a large set are others than those of a small one")
	}
	if bytes.Equal(New(1, 6).Data, small.Data[:3072]) {
		t.Error("two seeds give the same image")
	}
	seen := map[string]int{}
	for i := range large.Len() {
		if j, ok := seen[string(large.Pixels(i))]; ok {
			t.Fatalf("images %d and %d are the same", j, i)
		}
		seen[string(large.Pixels(i))] = i
	}
	if m := New(0, 1); m.Len() != 0 || len(m.Classes) != 10 {
		t.Errorf("an empty set: %d images, classes %v", m.Len(), m.Classes)
	}
}

func TestClassesAreBalanced(t *testing.T) {
	m := New(95, 3)
	orders := map[string]bool{}
	for first := 0; first+10 <= 95; first += 10 {
		run := slices.Clone(m.Labels[first : first+10])
		orders[string(run)] = true
		slices.Sort(run)
		if !slices.Equal(run, []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("images %d to %d have classes %v", first, first+9, run)
		}
	}
	if len(orders) < 8 {
		t.Errorf("%d different orders in 9 runs", len(orders))
	}
	if !slices.Equal(m.Classes, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}) || m.Shape != [3]int{3, 32, 32} {
		t.Errorf("%v %v", m.Classes, m.Shape)
	}
}

// inside says whether a place lies in a polygon set by the non-zero rule: edges that cross the ray to its right, counted by direction.
func inside(contours [][]point, x, y float64) bool {
	winding := 0
	for _, c := range contours {
		for i, p := range c {
			q := c[(i+1)%len(c)]
			ax, ay, bx, by := float64(p.x), float64(p.y), float64(q.x), float64(q.y)
			if ay <= y == (by <= y) || ax+(y-ay)/(by-ay)*(bx-ax) < x {
				continue
			}
			if ay < by {
				winding++
			} else {
				winding--
			}
		}
	}
	return winding != 0
}

// TestCoverIsTheAreaInside compares the raster with 16×16 points per pixel that are looked up one by one.
func TestCoverIsTheAreaInside(t *testing.T) {
	faces := faces10()
	for k, c := range []rune{'8', '%'} {
		o, err := faces[5*k].outline(c)
		if err != nil {
			t.Fatal(err)
		}
		at := place(dataset.NewRand(9, 0, k), o, 24)
		at.cx -= 5 * subpixel // partly outside, for the edges of the image
		var r raster
		r.fill(o, at)
		var placed [][]point
		for _, c := range o.contours {
			var to []point
			for _, p := range c {
				to = append(to, at.apply(p))
			}
			placed = append(placed, to)
		}
		worst, total := 0.0, 0.0
		for i, cover := range r.cover {
			n := 0
			for s := range 256 {
				if inside(placed, float64(i%side*256+s%16*16)+8.01, float64(i/side*256+s/16*16)+8.01) {
					n++
				}
			}
			d := math.Abs(float64(cover)/full - float64(n)/256)
			worst, total = max(worst, d), total+float64(n)/256
		}
		if worst > 0.13 || total < 20 { // an edge along the rows may hide between two lines: 1/8 of a pixel
			t.Errorf("%q: a pixel differs by %.3f of its area; %.0f pixels are covered", c, worst, total)
		}
	}
}

func TestOverlappingContoursStayFilled(t *testing.T) {
	square := func(lo, hi int64) []point { return []point{{lo, lo}, {hi, lo}, {hi, hi}, {lo, hi}} }
	o := outline{contours: [][]point{square(0, 2048), square(1024, 3072)}}
	var r raster
	r.fill(o, placing{a: 1, d: 1, den: 1})
	for _, c := range []struct{ x, y, want int }{{1, 1, full}, {5, 5, full}, {11, 11, full}, {1, 11, 0}, {12, 12, 0}} {
		if got := r.cover[c.y*side+c.x]; int(got) != c.want {
			t.Errorf("pixel %d,%d is covered by %d, want %d", c.x, c.y, got, c.want)
		}
	}
	hole := outline{contours: [][]point{square(0, 2048), {{512, 512}, {512, 1536}, {1536, 1536}, {1536, 512}}}} // the other way round
	r.fill(hole, placing{a: 1, d: 1, den: 1})
	if r.cover[3*side+3] != 0 || r.cover[side+1] != full {
		t.Error("a contour of the other direction cuts no hole")
	}
}

// TestCharactersStandOut measures what makes an image legible: the character keeps within the image and its brightness is not
// the background's.
func TestCharactersStandOut(t *testing.T) {
	for i := range 300 {
		r := dataset.NewRand(4, 0, i)
		o := faces10()[i%10]
		shape, err := o.outline(rune('0' + i/10%10))
		if err != nil {
			t.Fatal(err)
		}
		at := place(r, shape, 14+r.IntN(13))
		var ra raster
		ra.fill(shape, at)
		covered, whole := 0, 0
		for _, c := range ra.cover {
			covered += int(c)
		}
		at.cx, at.cy = side*subpixel/2, side*subpixel/2
		ra.fill(shape, at)
		for _, c := range ra.cover {
			whole += int(c)
		}
		if covered*100 < whole*99 || whole < 12*full {
			t.Errorf("character %d: %d of %d parts of pixels are in the image", i, covered, whole)
		}
		back := color{int32(r.IntN(256)), int32(r.IntN(256)), int32(r.IntN(256))}
		if d := shade(r, back, 70, 256).luma() - back.luma(); max(d, -d) < 70 {
			t.Errorf("a contrast of %d", d)
		}
	}
}

// TestNotTrivial: the images of a class do not look alike as a whole. The nearest mean image, which does well on plain digits, does
// little better than chance.
func TestNotTrivial(t *testing.T) {
	m := New(2000, 2)
	train, test := m.Slice(0, 1500), m.Slice(1500, 2000)
	var means [10][3072]float64
	for i := range train.Len() {
		for k, v := range train.Pixels(i) {
			means[train.Labels[i]][k] += float64(v) / 150
		}
	}
	right := 0
	for i := range test.Len() {
		best, at := math.Inf(1), 0
		for c := range means {
			d := 0.0
			for k, v := range test.Pixels(i) {
				d += (float64(v) - means[c][k]) * (float64(v) - means[c][k])
			}
			if d < best {
				best, at = d, c
			}
		}
		if at == int(test.Labels[i]) {
			right++
		}
	}
	if right > 150 {
		t.Errorf("the nearest mean is right for %d of %d", right, test.Len())
	}
}

func TestCharacters(t *testing.T) {
	if m := New(9, 1, Characters("aß漢"[:3])); !slices.Equal(m.Classes, []string{"a", "ß"}) || slices.Max(m.Labels) != 1 {
		t.Errorf("%v", m.Classes)
	}
	for name, f := range map[string]func(){
		"one": func() { New(1, 1, Characters("a")) }, "twice": func() { New(1, 1, Characters("aba")) },
		"blank": func() { New(1, 1, Characters("a ")) }, "absent": func() { New(1, 1, Characters("a漢")) },
		"negative": func() { New(-1, 1) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New(1000, 1)
	}
}
