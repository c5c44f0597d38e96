// Package glyphs draws a set of labeled images, so that convolutional networks can be trained on a machine without any data: 32×32
// color images of digits, or of other characters, in ten faces of the Go fonts, each with its own size, slant, rotation, place,
// colors, background, clutter and noise. The set has the form of CIFAR-10 and can be written in its file format.
//
//	set := glyphs.New(12000, 1)
//	train, test := set.Slice(0, 10000), set.Slice(10000, 12000)
//	err := dataset.WriteCIFAR10("glyphs", train, test)
//
// Image i of a seed is the same on every machine and whatever the number of images: outlines are placed, rasterized and
// colored in integer arithmetic alone, with random numbers from a counter-based stream. The fonts are about 1.5 MB of a
// program, which is why this is a package of its own.
package glyphs

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/internal/optional"
)

// side is the width and height of an image.
const side = 32

// An Option configures New.
type Option func(*drawing)

// drawing is what New draws.
type drawing struct {
	seed       uint64
	characters []rune
	outlines   [][]outline // by character and face
}

// Characters sets the classes, one per character of the text; the default is "0123456789". New panics with amp.ErrArgument for
// fewer than 2 or more than 256, for repeated ones, and for characters that a font lacks.
func Characters(text string) Option {
	return func(d *drawing) { d.characters = []rune(text) }
}

// New returns n images. Every run of images as long as there are classes has one of each class, in random order.
func New(n int, seed uint64, opts ...Option) *dataset.Images {
	d := &drawing{seed: seed, characters: []rune("0123456789")}
	optional.Apply("glyphs.New", opts, d, misused)
	if n < 0 {
		misused("glyphs.New", "ask for 0 images or more", "%d images", n)
	}
	d.load()
	set := &dataset.Images{Data: make([]byte, n*3*side*side), Labels: make([]uint8, n), Shape: [3]int{3, side, side}}
	for _, c := range d.characters {
		set.Classes = append(set.Classes, string(c))
	}
	classes := len(d.characters)
	for first := 0; first < n; first += classes {
		order := dataset.NewRand(seed, 1, first)
		for i := range classes { // a permutation, of which the last run may have a part
			if first+i >= n {
				break
			}
			set.Labels[first+i] = nth(order, set.Labels[first:first+i], classes)
		}
	}
	d.all(set)
	return set
}

// nth draws a class that is not among those taken.
func nth(r *dataset.Rand, taken []uint8, classes int) uint8 {
	k := r.IntN(classes - len(taken))
	var used [256]bool
	for _, t := range taken {
		used[t] = true
	}
	for c := range classes {
		if used[c] {
			continue
		}
		if k == 0 {
			return uint8(c)
		}
		k--
	}
	panic("unreachable: k is below the number of free classes")
}

// all draws the images, on all processors: each depends on its number alone.
func (d *drawing) all(set *dataset.Images) {
	const run = 64
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			var p painter
			for first := range next {
				for i := first; i < min(first+run, set.Len()); i++ {
					p.draw(d, dataset.NewRand(d.seed, 0, i), int(set.Labels[i]), set.Pixels(i))
				}
			}
		})
	}
	for first := 0; first < set.Len(); first += run {
		next <- first
	}
	close(next)
	wg.Wait()
}

// load finds the outlines of all characters in all faces.
func (d *drawing) load() {
	if n := len(d.characters); n < 2 || n > 256 {
		misused("glyphs.New", "give 2 to 256 characters", "%d characters", n)
	}
	for i, c := range d.characters {
		if strings.ContainsRune(string(d.characters[:i]), c) {
			misused("glyphs.New", "give each character once", "%q appears twice", c)
		}
		var faces []outline
		for _, f := range faces10() {
			o, err := f.outline(c)
			if err != nil {
				misused("glyphs.New", "use characters that are in the Go fonts and leave a mark", "%q: %v", c, err)
			}
			faces = append(faces, o)
		}
		d.outlines = append(d.outlines, faces)
	}
}

func misused(op, fix, format string, args ...any) {
	panic(&amp.Error{Op: op, Kind: amp.ErrArgument, Detail: fmt.Sprintf(format, args...), Fix: fix})
}
