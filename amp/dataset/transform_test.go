package dataset

import (
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// apply runs a transform on an image [c h w] of 1, 2, 3 … as a sample of some epoch.
func apply(t Transform, c, h, w, epoch int) []float32 {
	s := Sample{Shape: []int{c, h, w}, X: make([]float32, c*h*w), Rand: NewRand(1, epoch, 0)}
	for i := range s.X {
		s.X[i] = float32(i + 1)
	}
	t.Apply(&s)
	return s.X
}

func TestNormalizeAndRescale(t *testing.T) {
	got := apply(Normalize([]float32{1, 3}, []float32{2, 4}), 2, 1, 2, 0) // channels 1 2 and 3 4
	if want := []float32{0, 0.5, 0, 0.25}; !slices.Equal(got, want) {
		t.Errorf("Normalize: %v, want %v", got, want)
	}
	if got, want := apply(Rescale(-1, 1), 1, 1, 3, 0), []float32{1, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("Rescale: %v, want %v", got, want)
	}
}

// TestRandomCrop looks every result up among all crops of the padded image, made from the definition.
func TestRandomCrop(t *testing.T) {
	for _, c := range []struct{ h, w, pad int }{{3, 4, 1}, {3, 4, 2}, {2, 2, 3}, {1, 5, 1}, {4, 3, 0}} {
		crops := map[string]bool{}
		key := func(x []float32) string {
			b := make([]byte, len(x))
			for i, v := range x {
				b[i] = byte(v)
			}
			return string(b)
		}
		for top := range 2*c.pad + 1 {
			for left := range 2*c.pad + 1 {
				var x []float32
				for ch := range 2 {
					for y := range c.h {
						for xx := range c.w {
							sy, sx := y+top-c.pad, xx+left-c.pad
							v := float32(0)
							if sy >= 0 && sy < c.h && sx >= 0 && sx < c.w {
								v = float32((ch*c.h+sy)*c.w + sx + 1)
							}
							x = append(x, v)
						}
					}
				}
				crops[key(x)] = false
			}
		}
		for e := range 2000 {
			k := key(apply(RandomCrop(c.pad), 2, c.h, c.w, e))
			if _, ok := crops[k]; !ok {
				t.Fatalf("%+v: epoch %d gives %v, which is no crop", c, e, []byte(k))
			}
			crops[k] = true
		}
		for k, seen := range crops {
			if !seen {
				t.Errorf("%+v: crop %v never came in 2000 epochs", c, []byte(k))
			}
		}
	}
}

func TestRandomHorizontalFlip(t *testing.T) {
	flipped := 0
	for e := range 1000 {
		switch x := apply(RandomHorizontalFlip(0.25), 2, 1, 3, e); {
		case slices.Equal(x, []float32{3, 2, 1, 6, 5, 4}):
			flipped++
		case !slices.Equal(x, []float32{1, 2, 3, 4, 5, 6}):
			t.Fatalf("%v", x)
		}
	}
	if flipped < 185 || flipped > 315 { // 250 ± 4.7 standard deviations
		t.Errorf("flipped %d times of 1000 with probability 0.25", flipped)
	}
	if x := apply(RandomHorizontalFlip(1), 1, 2, 2, 0); !slices.Equal(x, []float32{2, 1, 4, 3}) {
		t.Errorf("%v", x)
	}
	if x := apply(RandomHorizontalFlip(0), 1, 2, 2, 0); !slices.Equal(x, []float32{1, 2, 3, 4}) {
		t.Errorf("%v", x)
	}
}

func TestCutout(t *testing.T) {
	sizes := map[int]bool{}
	for e := range 500 {
		x := apply(Cutout(3), 2, 5, 6, e)
		top, bottom, left, right, zeros := 5, -1, 6, -1, 0
		for i, v := range x[:30] {
			if v == 0 {
				top, bottom, left, right, zeros = min(top, i/6), max(bottom, i/6), min(left, i%6), max(right, i%6), zeros+1
			} else if v != float32(i+1) {
				t.Fatalf("element %d became %v", i, v)
			}
			if (v == 0) != (x[30+i] == 0) {
				t.Fatal("the channels have other holes")
			}
		}
		h, w := bottom-top+1, right-left+1
		if zeros != h*w || h < 2 || h > 3 || w < 2 || w > 3 {
			t.Fatalf("a hole of %d×%d with %d zeros", h, w, zeros)
		}
		sizes[zeros] = true
	}
	if !sizes[9] || !sizes[6] || !sizes[4] {
		t.Errorf("areas seen: %v; whole, cut at a side, cut at a corner are possible", sizes)
	}
}

func TestRandIsUnbiased(t *testing.T) {
	r := NewRand(1, 2, 3)
	var counts [3]int
	for range 30000 {
		counts[r.IntN(3)]++
	}
	for _, n := range counts {
		if n < 9600 || n > 10400 { // 10000 ± 4.9 standard deviations
			t.Errorf("%v", counts)
		}
	}
	// 2^64 is 8/3 of 3·2^61: without rejection, numbers that leave 2 by 3 come with probability 1/4 and not 1/3.
	twos := 0
	for range 3000 {
		if r.IntN(3<<61)%3 == 2 {
			twos++
		}
	}
	if twos < 880 || twos > 1120 {
		t.Errorf("numbers that leave 2 by 3 came %d times of 3000", twos)
	}
	mean := 0.0
	for range 10000 {
		v := r.Float64()
		if v < 0 || v >= 1 {
			t.Fatal(v)
		}
		mean += v / 10000
	}
	if math.Abs(mean-0.5) > 0.015 {
		t.Errorf("mean %v", mean)
	}
	a, b := NewRand(1, 2, 3), NewRand(1, 3, 2)
	if a.Uint64() == b.Uint64() {
		t.Error("epoch and sample are mixed up")
	}
	a, b = NewRand(1, 2, 3), NewRand(1, 2, 3)
	if a.Uint64() != b.Uint64() {
		t.Error("the same key gives other numbers")
	}
}

func TestImages(t *testing.T) {
	m := numbered(7)
	if c := m.Counts(); !slices.Equal(c, []int{3, 2, 2}) {
		t.Errorf("counts %v", c)
	}
	s := m.Slice(2, 5)
	if s.Len() != 3 || !slices.Equal(s.Pixels(0), m.Pixels(2)) || s.Labels[2] != m.Labels[4] {
		t.Error("Slice")
	}
	p := m.Select(6, 0, 6)
	if p.Len() != 3 || !slices.Equal(p.Pixels(0), m.Pixels(6)) || !slices.Equal(p.Pixels(1), m.Pixels(0)) || p.Labels[2] != 0 {
		t.Error("Select")
	}
	// Mean and deviation of 0 and 255 are 1/2; of the constant 51 they are 1/5 and 0.
	two := &Images{Data: []byte{0, 255, 51, 51}, Labels: []uint8{0}, Shape: [3]int{2, 1, 2}}
	if mean, std := two.Stats(); !slices.Equal(mean, []float32{0.5, 0.2}) || !slices.Equal(std, []float32{0.5, 0}) {
		t.Errorf("mean %v, deviation %v", mean, std)
	}
	if r, g, b, _ := m.Picture(1).At(3, 2).RGBA(); byte(r) != m.Pixels(1)[13] || byte(g) != m.Pixels(1)[33] || byte(b) != m.Pixels(1)[53] {
		t.Error("Picture")
	}
	gray := &Images{Data: []byte{9, 8}, Labels: []uint8{0}, Shape: [3]int{1, 1, 2}}
	if r, g, b, _ := gray.Picture(0).At(1, 0).RGBA(); byte(r) != 8 || byte(g) != 8 || byte(b) != 8 {
		t.Error("a gray Picture")
	}
	sheet := m.Sheet(3, 3)
	if sheet.Bounds().Dx() != 3*7+2 || sheet.RGBAAt(2+2*7+3, 2+6+2) != m.Picture(5).RGBAAt(3, 2) || sheet.RGBAAt(0, 0).G != 255 {
		t.Error("Sheet")
	}
	for name, f := range map[string]func(){
		"Slice": func() { m.Slice(3, 8) }, "Select": func() { m.Select(7) }, "Sheet": func() { m.Sheet(0, 1) },
	} {
		if amp.Maybe(f) == nil {
			t.Errorf("%s accepts what does not exist", name)
		}
	}
}
