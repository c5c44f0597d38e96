package dataset

import "fmt"

// A Transform changes one sample's input in place, or puts another of the same size there. Transforms run in the order they are given to
// NewLoader; what is random in them comes from Sample.Rand, so that results do not depend on how many workers prepare the batches. One of
// your own is a value of this type:
//
//	invert := dataset.Transform{Name: "invert", Apply: func(s *dataset.Sample) {
//		for i, v := range s.X {
//			s.X[i] = 1 - v
//		}
//	}}
type Transform struct {
	Name  string
	Check func(Spec) error // refuses, when the loader is made, samples that it can't work on; may be nil
	Apply func(*Sample)
}

// Means and standard deviations per channel of the training images, for pixels from 0 to 1: the field's usual constants.
// Images.Stats computes them for any other set.
var (
	CIFAR10Mean, CIFAR10Std           = []float32{0.4914, 0.4822, 0.4465}, []float32{0.2470, 0.2435, 0.2616}
	MNISTMean, MNISTStd               = []float32{0.1307}, []float32{0.3081}
	FashionMNISTMean, FashionMNISTStd = []float32{0.2860}, []float32{0.3530}
)

// Normalize makes (x - mean) / std of every pixel, with one mean and one deviation per channel.
func Normalize(mean, std []float32) Transform {
	return Transform{
		Name: "Normalize",
		Check: func(s Spec) error {
			if err := needImage(s); err != nil {
				return err
			}
			if len(mean) != s.Shape[0] || len(std) != s.Shape[0] {
				return fmt.Errorf("images have %d channels, %d means and %d deviations were given", s.Shape[0], len(mean), len(std))
			}
			for _, d := range std {
				if !(d > 0) {
					return fmt.Errorf("a deviation of %v; they must be above 0", d)
				}
			}
			return nil
		},
		Apply: func(s *Sample) {
			plane := len(s.X) / len(mean)
			for c, m := range mean {
				d := std[c]
				for i, v := range s.X[c*plane : (c+1)*plane] {
					s.X[c*plane+i] = (v - m) / d
				}
			}
		},
	}
}

// Rescale maps pixels from [0,1] to [lo,hi].
func Rescale(lo, hi float32) Transform {
	return Transform{
		Name:  "Rescale",
		Check: needFloat,
		Apply: func(s *Sample) {
			for i, v := range s.X {
				s.X[i] = lo + float32(v*(hi-lo)) // the conversion forbids fusing, which would depend on the machine
			}
		},
	}
}

// RandomCrop surrounds the image with pad pixels of 0 on each side and cuts a piece of the image's size from a random place. Give
// it before Normalize for a black border, after it for one of the mean color.
func RandomCrop(pad int) Transform {
	if pad < 0 {
		misused("RandomCrop", "pad by 0 pixels or more", "%d", pad)
	}
	return Transform{
		Name:  "RandomCrop",
		Check: needImage,
		Apply: func(s *Sample) {
			dy, dx := s.Rand.IntN(2*pad+1)-pad, s.Rand.IntN(2*pad+1)-pad
			h, w := s.Shape[1], s.Shape[2]
			for c := range s.Shape[0] {
				shift(s.X[c*h*w:(c+1)*h*w], h, w, dy, dx)
			}
		},
	}
}

// shift moves a plane in place: pixel (y,x) becomes the old (y+dy,x+dx), 0 where that lies outside.
func shift(p []float32, h, w, dy, dx int) {
	y, step := 0, 1
	if dy < 0 { // from the bottom up, so that no row is read after it was written
		y, step = h-1, -1
	}
	for range h {
		row := p[y*w : (y+1)*w]
		if src := y + dy; src < 0 || src >= h || dx >= w || -dx >= w {
			clear(row)
		} else if from := p[src*w : (src+1)*w]; dx >= 0 {
			copy(row, from[dx:])
			clear(row[w-dx:])
		} else {
			copy(row[-dx:], from)
			clear(row[:-dx])
		}
		y += step
	}
}

// RandomHorizontalFlip mirrors the image left to right with probability p; 0.5 is usual.
func RandomHorizontalFlip(p float64) Transform {
	return Transform{
		Name:  "RandomHorizontalFlip",
		Check: needImage,
		Apply: func(s *Sample) {
			if !s.Rand.Chance(p) {
				return
			}
			w := s.Shape[2]
			for at := 0; at < len(s.X); at += w {
				row := s.X[at : at+w]
				for i, j := 0, w-1; i < j; i, j = i+1, j-1 {
					row[i], row[j] = row[j], row[i]
				}
			}
		},
	}
}

// Cutout sets a square of size by size pixels around a random pixel to 0, cut off at the border (DeVries and Taylor, 2017). Give
// it after Normalize, so that 0 is the mean color.
func Cutout(size int) Transform {
	if size < 1 {
		misused("Cutout", "use a square of at least 1 pixel", "%d", size)
	}
	return Transform{
		Name:  "Cutout",
		Check: needImage,
		Apply: func(s *Sample) {
			h, w := s.Shape[1], s.Shape[2]
			top, left := s.Rand.IntN(h)-size/2, s.Rand.IntN(w)-size/2
			for c := range s.Shape[0] {
				for y := max(0, top); y < min(h, top+size); y++ {
					row := s.X[(c*h+y)*w : (c*h+y+1)*w]
					clear(row[max(0, left):min(w, left+size)])
				}
			}
		},
	}
}

func needFloat(s Spec) error {
	if size(s.Shape) == 0 || !s.DType.IsFloat() {
		return fmt.Errorf("samples are %v %v; it works on float32 inputs", s.DType, s.Shape)
	}
	return nil
}

func needImage(s Spec) error {
	if err := needFloat(s); err != nil {
		return err
	}
	if len(s.Shape) != 3 {
		return fmt.Errorf("samples have shape %v; it works on images [C H W]", s.Shape)
	}
	return nil
}
