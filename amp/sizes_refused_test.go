package amp

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestSizesAreRefusedForWhatTheyAre: too large or not a number, and before memory that no limit counts is taken.
func TestSizesAreRefusedForWhatTheyAre(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, none := Ones(s, Float32, 1, 1, 4), Zeros(s, Float32, 0, 1, 4)
	for _, c := range []struct {
		want string
		kind error
		call func()
	}{
		{"Arange: bad argument: start 0, end 1e+18, step 1: too many elements; fix: use a larger step", ErrArgument, func() { Arange(s, Float32, 0, 1e18, 1) }},
		{"Arange: bad argument: start 0, end 1, step -1; fix: use a step that leads", ErrArgument, func() { Arange(s, Float32, 0, 1, -1) }},
		{"Arange: out of memory", ErrMemory, func() { Arange(s, Float32, 0, 1e13, 1) }},
		{"interpolate: bad argument: Scale [NaN]; fix: use finite factors", ErrArgument, func() { Interpolate(s, x, Interpolation{Scale: []float64{math.NaN()}}) }},
		{"interpolate: bad argument: Scale [+Inf]", ErrArgument, func() { Interpolate(s, x, Interpolation{Scale: []float64{math.Inf(1)}}) }},
		{"replication_pad1d: shape mismatch: x [0 1 4] padded by [4294967296 0]", ErrShape, func() { Pad(s, none, []int{1 << 32, 0}, "replicate", 0) }},
		{"constant_pad_nd: shape mismatch: x [0 1 4] padded by [4294967296 0]", ErrShape, func() { Pad(s, none, []int{1 << 32, 0}, "constant", 0) }},
		{"constant_pad_nd: shape mismatch: x [1 1 4] padded by [4611686018427387904 4611686018427387904] has too many", ErrShape,
			func() { Pad(s, x, []int{1 << 62, 1 << 62}, "constant", 0) }},
	} {
		if err := Maybe(c.call); !errors.Is(err, c.kind) || !strings.HasPrefix(err.Error(), "amp: "+c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if y := Pad(s, none, []int{3, 2}, "replicate", 0); y.Dim(2) != 9 {
		t.Errorf("nothing padded is %v", y.Shape())
	}
}
