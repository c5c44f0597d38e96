package amp

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/limits"
)

// Padding: a result is larger than x at the ends of its last dimensions, or smaller where a padding is negative. Every dimension
// is mapped by itself, so that a row is its map and its gradient the same map transposed.

var opConstantPad, opCircularPad, opPadBackward *Op

// opReflectionPad and opReplicationPad hold the rows for 1, 2 and 3 dimensions, which the reference's lists name one by one.
var opReflectionPad, opReplicationPad [3]*Op

const whyPad = "repeats its inputs: exact in any dtype"

func init() {
	opConstantPad = define(Op{
		Name: "constant_pad_nd", Doc: "x with a number around it", Args: []string{"x"}, Why: whyPad, Ints: true, CUDA: "constant_pad_nd",
		Check: func(c *Call) []int { holds("constant_pad_nd", c.In[0].dt, c.Scalar); return padShape(c) },
		CPU:   func(c *Call) { pickAlong(c.Out, c.In[0], padMaps(&c.Attrs, c.In[0].shape), c.Scalar) },
		Backward: func(b *Back) { // the padding taken off again
			a := b.Attrs()
			a.Scalar, a.Shape = 0, slices.Clone(a.Shape)
			for i := range a.Shape {
				a.Shape[i] = -a.Shape[i]
			}
			b.Set(0, b.S.apply(opConstantPad, a, b.DY))
		},
	})
	for i := range 3 {
		list := FP32
		if i == 2 {
			list = Unlisted
		}
		opReflectionPad[i] = padRow(fmt.Sprintf("reflection_pad%dd", i+1), "x with its own mirror image around it, the edge not repeated", list)
		opReplicationPad[i] = padRow(fmt.Sprintf("replication_pad%dd", i+1), "x with its edges repeated around it", FP32)
	}
	opCircularPad = padRow("_pad_circular", "x continued around as if it began again", Unlisted)
	opPadBackward = define(Op{
		Name: "pad_backward", Doc: "dy added up at the places that padding took its elements from", Args: []string{"dy"}, Why: "runs in the dtype its forward ran in", CUDA: "pad_backward",
		Check: func(c *Call) []int { c.floats(); return c.Dims },
		CPU: func(c *Call) {
			along := make([]*taps, len(c.Dims))
			for d, m := range padMaps(&c.Attrs, c.Dims) {
				if m != nil {
					along[d] = newTaps(c.Dims[d], m).transpose()
				}
			}
			sumTaps(c.Out, c.In[0], along)
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Dims = nil
			b.Set(0, b.S.apply(padOp(&a), a, b.DY))
		},
	})
}

// padRow defines a padding whose numbers come from x.
func padRow(name, doc string, list Class) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, CPUList: list, Why: whyPad, Ints: true, CUDA: name,
		Check: padShape, CPU: func(c *Call) { pickAlong(c.Out, c.In[0], padMaps(&c.Attrs, c.In[0].shape), 0) },
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Dims = b.Shape(0)
			b.Set(0, b.S.apply(opPadBackward, a, b.DY))
		},
	})
}

// padOp returns the row of a mode and a number of padded dimensions.
func padOp(a *Attrs) *Op {
	switch a.Mode {
	case "reflect":
		return opReflectionPad[len(a.Shape)/2-1]
	case "replicate":
		return opReplicationPad[len(a.Shape)/2-1]
	case "circular":
		return opCircularPad
	}
	return opConstantPad
}

// mostPadded bounds the map of a dimension of a result without elements, whose memory no limit counts.
const mostPadded = 1 << 24

// padShape checks a padding against the input and returns the shape of the result.
func padShape(c *Call) []int {
	in := c.In[0].shape
	out := slices.Clone(in)
	for k := 0; 2*k < len(c.Shape); k++ {
		d, before, after := len(in)-1-k, c.Shape[2*k], c.Shape[2*k+1]
		n := in[d]
		if before > limits.Elements || after > limits.Elements {
			fail(c.Op.Name, ErrShape, "use a smaller padding", "x %v padded by %v has too many elements", in, c.Shape)
		}
		most, left := max(before, after), n+min(before, 0)+min(after, 0)
		switch {
		case c.Mode == "reflect" && most >= n && most > 0:
			fail(c.Op.Name, ErrShape, fmt.Sprintf("pad dimension %d by less than its size", d), "x %v padded by %v", in, c.Shape)
		case c.Mode == "circular" && most > left:
			fail(c.Op.Name, ErrShape, fmt.Sprintf("pad dimension %d by its size at most", d), "x %v padded by %v", in, c.Shape)
		case c.Mode == "replicate" && n == 0:
			fail(c.Op.Name, ErrShape, "pad a dimension with elements", "x %v padded by %v", in, c.Shape)
		case n+before+after < 0 || before < -n || after < -n:
			fail(c.Op.Name, ErrShape, "take off no more than there is", "x %v padded by %v", in, c.Shape)
		}
		out[d] = n + before + after
	}
	for i, n := range out { // of nothing a long dimension would be mapped, too
		if n > in[i] && n > mostPadded && length(out) == 0 {
			fail(c.Op.Name, ErrShape, fmt.Sprintf("pad what has no elements to %d at most", mostPadded), "x %v padded by %v", in, c.Shape)
		}
	}
	return out
}

// padMaps makes the maps of the padded dimensions of a shape; in a.Shape the last dimension comes first, as in PyTorch.
func padMaps(a *Attrs, shape []int) [][]int {
	maps := make([][]int, len(shape))
	for k := 0; 2*k < len(a.Shape); k++ {
		d := len(shape) - 1 - k
		n, before := shape[d], a.Shape[2*k]
		if before == 0 && a.Shape[2*k+1] == 0 {
			continue
		}
		m := make([]int, n+before+a.Shape[2*k+1])
		for i := range m {
			m[i] = padIndex(a.Mode, i-before, n)
			if a.Mode == "circular" { // what is taken off at one end does not come back at the other
				first := max(-before, 0)
				left := n - first + min(a.Shape[2*k+1], 0)
				m[i] = first + (i-before-first+left)%left
			}
		}
		maps[d] = m
	}
	return maps
}

// padIndex returns where element j of a padded dimension of n comes from, j counting from the original's first; -1: the number.
func padIndex(mode string, j, n int) int {
	switch {
	case j >= 0 && j < n:
		return j
	case mode == "reflect" && j < 0:
		return -j
	case mode == "reflect":
		return 2*(n-1) - j
	case mode == "replicate":
		return min(max(j, 0), n-1)
	}
	return -1
}

// Pad returns x with padding at the ends of its last dimensions: pads gives before and after for the last dimension, then for the
// one before it, and so on. A negative padding takes elements off. mode is "constant", which writes value, or "reflect",
// "replicate" or "circular", which take one to three dimensions of an input with one or two more. It panics with ErrArgument for
// another mode or an odd number of pads, and with ErrShape where x is too small to reflect.
func Pad(s *Scope, x *Tensor, pads []int, mode string, value float64) *Tensor {
	x.live("pad")
	k := len(pads) / 2
	if len(pads)%2 != 0 || k > len(x.shape) {
		fail("pad", ErrArgument, fmt.Sprintf("give a number before and one after for up to %d dimensions, the last one first", len(x.shape)), "pads %v for shape %v", pads, x.shape)
	}
	a := Attrs{Shape: slices.Clone(pads), Mode: mode, Scalar: value}
	switch mode {
	case "constant":
		a.Mode = ""
		return s.apply(opConstantPad, a, x)
	case "reflect", "replicate", "circular":
	default:
		fail("pad", ErrArgument, `use "constant", "reflect", "replicate" or "circular"`, "mode %q", mode)
	}
	a.Scalar = 0
	if lead := len(x.shape) - k; k < 1 || k > 3 || lead < 1 || lead > 2 {
		fail("pad", ErrArgument, "pad the last one to three dimensions of an input with channels, with or without a batch", "pads %v for shape %v in mode %q", pads, x.shape, mode)
	}
	return s.apply(padOp(&a), a, x)
}

// shiftAlong returns x moved by one along a dimension, on or, if back, down; fill comes in at the free end.
func shiftAlong(s *Scope, x *Tensor, dim int, back bool, fill float64) *Tensor {
	if x.shape[dim] == 0 {
		return x
	}
	pads := make([]int, 2*(len(x.shape)-dim))
	before := len(pads) - 2
	pads[before], pads[before+1] = 1, -1
	if back {
		pads[before], pads[before+1] = -1, 1
	}
	return Pad(s, x, pads, "constant", fill)
}
