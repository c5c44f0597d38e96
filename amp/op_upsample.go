package amp

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/limits"
)

// The upsample family: each row resizes the last one to three dimensions by weights that depend on each dimension alone (taps of
// interpolate.go). Every row has the same form, and its gradient is the same with the weights transposed.

const alignCorners = "align_corners"

// upsampleRows are the rows by mode and number of spatial dimensions, as the reference's lists name them.
var upsampleRows = map[string][3]*Op{}

// upsampleBackward is the gradient of each row, and upsampleForward the way back.
var upsampleBackward, upsampleForward = map[*Op]*Op{}, map[*Op]*Op{}

func init() {
	for _, r := range []struct {
		mode, doc string
		names     [3]string
		taps      resizer
	}{
		{"nearest", "the nearest element, by the corner of its cell", [3]string{"upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"}, nearestTaps},
		{"nearest-exact", "the nearest element, by the center of its cell", [3]string{"_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"}, nearestExactTaps},
		{"linear", "linear interpolation of neighbors along each dimension", [3]string{"upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"}, linearTaps},
		{"bicubic", "cubic convolution (Keys, a = -0.75) of four neighbors along each dimension", [3]string{"", "upsample_bicubic2d", ""}, cubicTaps},
		{"linear-aa", "linear interpolation, averaged over the cells that a smaller result's elements stand for", [3]string{"", "_upsample_bilinear2d_aa", ""}, antialiased(2, triangleFilter)},
		{"bicubic-aa", "cubic convolution (Keys, a = -0.5), averaged over the cells that a smaller result's elements stand for", [3]string{"", "_upsample_bicubic2d_aa", ""}, antialiased(4, cubicFilter)},
	} {
		var rows [3]*Op
		for k, name := range r.names {
			if name != "" {
				rows[k] = upsampleRow(name, r.doc, r.taps)
			}
		}
		upsampleRows[r.mode] = rows
	}
}

func upsampleRow(name, doc string, f resizer) *Op {
	o := define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Class: FP32, Why: "weighs neighbors with coordinates that half precision can't tell apart", CUDA: "upsample",
		Check: func(c *Call) []int {
			c.floats()
			x := c.In[0].shape
			lead := len(x) - len(c.Shape)
			if slices.Contains(x[lead:], 0) {
				fail(name, ErrShape, "interpolate dimensions with elements", "%s", c.shapes())
			}
			return append(slices.Clone(x[:lead]), c.Shape...)
		},
		CPU: func(c *Call) {
			along := resizeTaps(c, f, c.In[0].shape, c.Out.shape)
			if maps, ok := picks(along); ok {
				pickAlong(c.Out, c.In[0], maps, 0)
				return
			}
			sumTaps(c.Out, c.In[0], along)
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Dims = b.Shape(0)
			b.Set(0, b.S.apply(upsampleBackward[b.n.op], a, b.DY))
		},
	})
	back := define(Op{
		Name: name + "_backward", Doc: "the gradient of " + name, Args: []string{"dy"}, Why: "runs in the dtype its forward ran in", CUDA: "upsample_backward",
		Check: func(c *Call) []int { c.floats(); return c.Dims },
		CPU:   func(c *Call) { sumTaps(c.Out, c.In[0], transposeAll(resizeTaps(c, f, c.Out.shape, c.In[0].shape))) },
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Dims = nil
			b.Set(0, b.S.apply(upsampleForward[b.n.op], a, b.DY))
		},
	})
	upsampleBackward[o], upsampleForward[back] = back, o
	return o
}

// An Interpolation says how Interpolate resizes.
type Interpolation struct {
	Size  []int     // the spatial sizes of the result; nil: from Scale
	Scale []float64 // factors instead of sizes, one for each spatial dimension or one for all
	// Mode is "nearest" (the default), "nearest-exact", "linear" for one spatial dimension, "bilinear" or "bicubic" for two,
	// "trilinear" for three, or "area" for the average of what falls together.
	Mode           string
	AlignCorners   bool // the corners' centers meet instead of the corners; of the linear and cubic modes
	Antialias      bool // averages where the result is smaller; of "bilinear" and "bicubic"
	RecomputeScale bool // take the coordinates from the sizes though Scale is given
}

// Interpolate resizes the spatial dimensions, all but the first two, of x [n channels …] with one to three of them, as PyTorch's
// interpolate does: the same coordinates and weights. With Scale the result has ⌊size·scale⌋ elements along a dimension, and
// coordinates are divided by the scale as given unless RecomputeScale. float32 under autocast, but for "area", which follows its
// input. It panics with ErrArgument for a mode that does not fit the number of dimensions and with ErrShape for sizes below 1.
//
// PyTorch 2.15's CPU kernels part with this, its definition, in three places: "nearest" of images takes coordinates from the sizes even with
// a Scale, gradients of "nearest" by a fraction as Scale are not those of its result, and Antialias to a width of 1 and another height has
// the first row's number in all.
func Interpolate(s *Scope, x *Tensor, o Interpolation) *Tensor {
	x.live("interpolate")
	k := len(x.shape) - 2
	if k < 1 || k > 3 {
		fail("interpolate", ErrShape, "use [n channels] and one to three sizes", "x %v", x.shape)
	}
	if o.Mode == "" {
		o.Mode = "nearest"
	}
	size, scales := o.sizes(x.shape[2:])
	if o.Mode == "area" {
		o.refuse(o.AlignCorners || o.Antialias, "it has neither aligned corners nor antialiasing")
		return area(s, x, size)
	}
	a := Attrs{Shape: size, Scales: scales}
	if o.AlignCorners {
		a.Mode = alignCorners
	}
	return s.apply(o.row(k), a, x)
}

// sizes returns the result's spatial sizes, and the factors where coordinates go by them.
func (o *Interpolation) sizes(in []int) ([]int, []float64) {
	if (o.Size == nil) == (o.Scale == nil) {
		fail("interpolate", ErrArgument, "set Size or Scale", "Size %v, Scale %v", o.Size, o.Scale)
	}
	if given := max(len(o.Size), len(o.Scale)); given != len(in) && (o.Size != nil || given != 1) {
		fail("interpolate", ErrArgument, fmt.Sprintf("give %d numbers", len(in)), "Size %v, Scale %v for spatial sizes %v", o.Size, o.Scale, in)
	}
	size, scales := slices.Clone(o.Size), make([]float64, len(in))
	if o.Size == nil {
		size = make([]int, len(in))
		for i, n := range in {
			f := o.Scale[min(i, len(o.Scale)-1)]
			if !finite(f) {
				fail("interpolate", ErrArgument, "use finite factors above 0", "Scale %v", o.Scale)
			}
			size[i] = int(min(float64(n)*f, 2*limits.Elements)) // above the limit is refused with the shape
			if !o.RecomputeScale {
				scales[i] = f
			}
		}
	}
	for _, n := range size {
		if n < 1 {
			fail("interpolate", ErrShape, "use sizes of 1 and above", "sizes %v", size)
		}
	}
	return size, scales
}

// row returns the row of the mode for k spatial dimensions.
func (o *Interpolation) row(k int) *Op {
	mode := o.Mode
	if k == 1 && mode == "linear" || k == 2 && mode == "bilinear" || k == 3 && mode == "trilinear" {
		mode = "linear"
	} else {
		o.refuse(mode == "linear" || mode == "bilinear" || mode == "trilinear", fmt.Sprintf("%d spatial dimensions", k))
	}
	o.refuse(o.AlignCorners && mode != "linear" && mode != "bicubic", "it has no aligned corners")
	if o.Antialias {
		mode += "-aa"
	}
	row := upsampleRows[mode][k-1]
	o.refuse(row == nil, fmt.Sprintf("%d spatial dimensions, antialiasing: %v", k, o.Antialias))
	return row
}

func (o *Interpolation) refuse(wrong bool, why string) {
	if wrong {
		fail("interpolate", ErrArgument, `use "nearest", "nearest-exact" or "area", "linear" for one spatial dimension, "bilinear" or "bicubic" for two, "trilinear" for three; Antialias with the two for two`, "mode %q: %s", o.Mode, why)
	}
}

// area is adaptive average pooling.
func area(s *Scope, x *Tensor, size []int) *Tensor {
	switch len(size) {
	case 1:
		return AdaptiveAvgPool1d(s, x, size[0])
	case 2:
		return AdaptiveAvgPool2d(s, x, size...)
	}
	return AdaptiveAvgPool3d(s, x, size...)
}
