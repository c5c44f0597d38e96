package nn

import (
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// Upsample resizes [n channels …] as amp.Interpolate does.
type Upsample struct{ amp.Interpolation }

// NewUpsample returns a layer that resizes to o.Size or by o.Scale. It panics with amp.ErrArgument unless one of the two is set.
func NewUpsample(o amp.Interpolation) *Upsample {
	if (o.Size == nil) == (o.Scale == nil) {
		misused("NewUpsample", "set Size or Scale", "Size %v, Scale %v", o.Size, o.Scale)
	}
	return &Upsample{o}
}

// Forward returns x resized.
func (u *Upsample) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return amp.Interpolate(s, x, u.Interpolation)
}

// Parameters returns nil.
func (u *Upsample) Parameters() []*amp.Tensor { return nil }

// Pad puts numbers around its input; see amp.Pad.
type Pad struct {
	Pads  []int   // before and after, the last dimension first; negative ones take off
	Mode  string  // "constant", "reflect", "replicate" or "circular"
	Value float64 // of "constant"
}

// NewZeroPad returns a layer that puts zeros before and after the last dimensions, the last one first. It panics with amp.ErrArgument for
// an odd number of pads or none, as its kin do.
func NewZeroPad(pads ...int) *Pad { return newPad("NewZeroPad", "constant", 0, pads) }

// NewConstantPad returns a layer that puts a number around its input; see NewZeroPad.
func NewConstantPad(value float64, pads ...int) *Pad {
	return newPad("NewConstantPad", "constant", value, pads)
}

// NewReflectionPad returns a layer that puts the mirror image of its input around it, the edge not repeated, for one to three dimensions;
// see NewZeroPad.
func NewReflectionPad(pads ...int) *Pad { return newPad("NewReflectionPad", "reflect", 0, pads) }

// NewReplicationPad returns a layer that repeats the edges of its input; see NewReflectionPad.
func NewReplicationPad(pads ...int) *Pad { return newPad("NewReplicationPad", "replicate", 0, pads) }

// NewCircularPad returns a layer that continues its input as if it began again; see NewReflectionPad.
func NewCircularPad(pads ...int) *Pad { return newPad("NewCircularPad", "circular", 0, pads) }

func newPad(op, mode string, value float64, pads []int) *Pad {
	if len(pads) == 0 || len(pads)%2 != 0 {
		misused(op, "give a number before and one after for each dimension, the last one first", "pads %v", pads)
	}
	return &Pad{Pads: slices.Clone(pads), Mode: mode, Value: value}
}

// Forward returns x padded.
func (p *Pad) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return amp.Pad(s, x, p.Pads, p.Mode, p.Value)
}

// Parameters returns nil.
func (p *Pad) Parameters() []*amp.Tensor { return nil }

// PixelShuffle returns a module that turns [n channels·r·r h w] into [n channels h·r w·r]; see amp.PixelShuffle.
func PixelShuffle(r int) Module {
	return Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.PixelShuffle(s, x, r) })
}

// PixelUnshuffle returns a module that turns [n channels h·r w·r] into [n channels·r·r h w]; see amp.PixelUnshuffle.
func PixelUnshuffle(r int) Module {
	return Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.PixelUnshuffle(s, x, r) })
}

// Unfold returns a module that turns [n channels h w] into the columns of a window's blocks; see amp.Unfold.
func Unfold(b amp.Blocks) Module {
	return Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Unfold(s, x, b) })
}

// Fold returns a module that adds columns up to an image of size [h w]; see amp.Fold.
func Fold(size []int, b amp.Blocks) Module {
	return Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Fold(s, x, size, b) })
}
