package dataset

import (
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// Images is a labeled set of images in memory, one byte per pixel and channel.
type Images struct {
	Data    []byte   // Len()·C·H·W bytes: image after image, each [C H W] in row-major order
	Labels  []uint8  // one per image, an index into Classes
	Shape   [3]int   // channels, height, width
	Classes []string // names of the labels
	Files   []File   // what was read, and how it was verified; nil for a set made in memory
}

// Len returns the number of images.
func (m *Images) Len() int { return len(m.Labels) }

// Spec returns the shape [C H W], float32 inputs and a label as target.
func (m *Images) Spec() Spec {
	return Spec{Shape: m.Shape[:], DType: amp.Float32, Classes: m.Classes}
}

// Sample writes image i to dst.X as float32, each byte divided by 255, and its label to dst.Y.
func (m *Images) Sample(i int, dst *Sample) error {
	for k, v := range m.Pixels(i) {
		dst.X[k] = unit[v]
	}
	dst.Y[0] = int64(m.Labels[i])
	return nil
}

// unit holds the correctly rounded quotients v/255.
var unit = func() (t [256]float32) {
	for v := range t {
		t[v] = float32(v) / 255
	}
	return t
}()

// Pixels returns the bytes of image i, [C H W], shared with Data.
func (m *Images) Pixels(i int) []byte {
	n := m.whole("Images.Pixels")
	if i < 0 || i >= len(m.Labels) {
		misused("Images.Pixels", "keep within the images there are", "image %d of %d", i, len(m.Labels))
	}
	return m.Data[i*n : (i+1)*n : (i+1)*n]
}

// whole returns the bytes of an image, and refuses a set whose Data does not hold them for every label.
func (m *Images) whole(op string) int {
	if m == nil {
		misused(op, "pass a set of images", "the set is nil")
	}
	n := 1
	for _, d := range m.Shape {
		if d < 0 || d > 0 && n > math.MaxInt32/d {
			misused(op, "set Shape to channels, height and width", "images of shape %v", m.Shape)
		}
		n *= d
	}
	if len(m.Labels) > 0 && len(m.Data)/max(len(m.Labels), 1) < n {
		misused(op, "give Data the bytes of as many images as there are Labels", "%d bytes for %d images of shape %v", len(m.Data), len(m.Labels), m.Shape)
	}
	return n
}

// Slice returns the images from number from up to but not including to, in shared memory.
func (m *Images) Slice(from, to int) *Images {
	if from < 0 || to > m.Len() || from > to {
		misused("Images.Slice", "keep within the images there are", "images %d to %d of %d", from, to, m.Len())
	}
	n := m.whole("Images.Slice")
	s := *m
	s.Data, s.Labels = m.Data[from*n:to*n:to*n], m.Labels[from:to:to]
	return &s
}

// Select returns a copy of the images of those numbers, in that order.
func (m *Images) Select(index ...int) *Images {
	s := &Images{Shape: m.Shape, Classes: m.Classes}
	for _, i := range index {
		if i < 0 || i >= m.Len() {
			misused("Images.Select", "keep within the images there are", "image %d of %d", i, m.Len())
		}
		s.Data = append(s.Data, m.Pixels(i)...)
		s.Labels = append(s.Labels, m.Labels[i])
	}
	return s
}

// Counts returns how many images each class has.
func (m *Images) Counts() []int {
	n := make([]int, len(m.Classes))
	for i, l := range m.Labels {
		if int(l) >= len(n) {
			misused("Images.Counts", "correct Labels or Classes", "image %d has label %d of %d classes", i, l, len(n))
		}
		n[l]++
	}
	return n
}

// Stats returns mean and standard deviation of each channel for pixels from 0 to 1, as Normalize wants them. The sums are exact.
func (m *Images) Stats() (mean, std []float32) {
	m.whole("Images.Stats")
	plane := m.Shape[1] * m.Shape[2]
	for c := range m.Shape[0] {
		var sum, squares uint64
		for i := range m.Len() {
			for _, v := range m.Pixels(i)[c*plane : (c+1)*plane] {
				sum += uint64(v)
				squares += uint64(v) * uint64(v)
			}
		}
		n := float64(m.Len() * plane)
		mu := float64(sum) / n
		mean = append(mean, float32(mu/255))
		std = append(std, float32(math.Sqrt(float64(squares)/n-float64(mu*mu))/255))
	}
	return mean, std
}

// Picture returns image i for display: three channels are red, green and blue, one is gray.
func (m *Images) Picture(i int) *image.RGBA {
	p := image.NewRGBA(image.Rect(0, 0, m.Shape[2], m.Shape[1]))
	m.draw(p, i, 0, 0)
	return p
}

func (m *Images) draw(p *image.RGBA, i, left, top int) {
	h, w := m.Shape[1], m.Shape[2]
	px := m.Pixels(i)
	red, green, blue := px, px, px
	if m.Shape[0] >= 3 {
		green, blue = px[h*w:], px[2*h*w:]
	}
	for k := range h * w {
		p.SetRGBA(left+k%w, top+k/w, color.RGBA{red[k], green[k], blue[k], 255})
	}
}

// Sheet returns the first columns·rows images side by side on white, or as many as there are.
func (m *Images) Sheet(columns, rows int) *image.RGBA {
	const gap = 2
	if columns < 1 || rows < 1 {
		misused("Images.Sheet", "ask for at least one column and row", "%d columns, %d rows", columns, rows)
	}
	m.whole("Images.Sheet")
	columns = min(columns, max(m.Len(), 1)) // no room for images that there are not
	rows = min(rows, max((m.Len()+columns-1)/columns, 1))
	h, w := m.Shape[1]+gap, m.Shape[2]+gap
	p := image.NewRGBA(image.Rect(0, 0, columns*w+gap, rows*h+gap))
	copy(p.Pix, slices.Repeat([]byte{255}, len(p.Pix)))
	for i := range min(columns*rows, m.Len()) {
		m.draw(p, i, gap+i%columns*w, gap+i/columns*h)
	}
	return p
}
