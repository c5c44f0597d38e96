package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestImageProduct compares every sum with one chain of multiply-adds in the order of channels and taps, for all heights and numbers of vectors
// and classes without taps, and what is no sum with what was there. A weight that is not finite is found wherever it is.
func TestImageProduct(t *testing.T) { eachStepVariant(t, testImageProduct) }

func testImageProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for trial := range 300 {
		rows, channels, panel, taps := 1+r.IntN(ImageRows), 1+r.IntN(20), 1+r.IntN(12), 1+r.IntN(16)
		inA, rowA := taps, taps*channels
		if trial%2 == 0 { // as in a transposed convolution
			inA, rowA = taps*rows+r.IntN(3), taps
		}
		a := make([]float32, (channels-1)*inA+(rows-1)*rowA+taps)
		for i := range a {
			a[i] = float32(r.NormFloat64())
		}
		inB := 40 + r.IntN(20)
		b := awkward(r, channels*inB+80)
		var classes [][]ImageTap
		var cols []ImageColumn
		for class := range 1 + r.IntN(4) {
			var some []ImageTap
			for i := range taps {
				if r.IntN(3) > 0 {
					some = append(some, ImageTap{A: i, B: r.IntN(30)})
				}
			}
			classes = append(classes, some)
			for range 1 + r.IntN(9) {
				cols = append(cols, ImageColumn{Class: class, From: r.IntN(30), To: 2 * len(cols)})
			}
		}
		var bias []float32
		if trial%3 > 0 {
			bias = awkward(r, rows)
		}
		row := 32*len(cols) + r.IntN(3)
		got := awkward(r, rows*row)
		want := slices.Clone(got)
		for i := range rows {
			for _, col := range cols {
				for lane := range 16 {
					var sum float32
					for c := range channels {
						for _, tap := range classes[col.Class] {
							sum = FMA32(a[i*rowA+c*inA+tap.A], b[col.From+c*inB+tap.B+lane], sum)
						}
					}
					if bias != nil {
						sum += bias[i]
					}
					want[i*row+16*col.To+lane] = sum
				}
			}
		}
		var p ImageProduct
		p.Plan(channels, panel, taps, inA, inB, classes, cols)
		if !p.Rows(rows, a, rowA, b, got, row, bias) || !equalBits(got, want) {
			t.Fatalf("%d rows, %d channels, %d at a time, %d taps, classes %v, columns %v, bias %v", rows, channels, panel, taps, classes, cols, bias != nil)
		}
		a[r.IntN(rows)*rowA+r.IntN(channels)*inA+r.IntN(taps)] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[trial%3]
		if p.Rows(rows, a, rowA, b, got, row, bias) {
			t.Fatalf("%d rows, %d channels, %d taps: a weight that is not finite is not found", rows, channels, taps)
		}
	}
}

// TestSideBySide compares both ways with plain loops, for all numbers of images.
func TestSideBySide(t *testing.T) { eachStepVariant(t, testSideBySide) }

func testSideBySide(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for trial := range 200 {
		images, n := 1+trial%16, r.IntN(70)
		image := n + r.IntN(5)
		src := awkward(r, images*image+n+1)
		got := awkward(r, 16*n+3)
		want := slices.Clone(got)
		for i := range n {
			for k := range 16 {
				if want[16*i+k] = 0; k < images {
					want[16*i+k] = src[k*image+i]
				}
			}
		}
		SideBySide(got, images, n, src, image)
		if !equalBits(got, want) {
			t.Fatalf("%d images of %d elements, %d apart", images, n, image)
		}
		back := slices.Clone(src)
		for k := range images {
			clear(back[k*image : k*image+n])
		}
		OneByOne(back, images, n, got, image)
		if !equalBits(back, src) {
			t.Fatalf("back: %d images of %d elements, %d apart", images, n, image)
		}
	}
}
