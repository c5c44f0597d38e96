package nn

import (
	"errors"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

func TestShapeModules(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	for name, c := range map[string]struct {
		m     Module
		shape []int
		want  []float64
	}{
		"upsample":    {NewUpsample(amp.Interpolation{Scale: []float64{2}}), []int{1, 1, 4, 4}, []float64{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}},
		"zeros":       {NewZeroPad(1, 0), []int{1, 1, 2, 3}, []float64{0, 1, 2, 0, 3, 4}},
		"constant":    {NewConstantPad(9, 0, 0, 0, 1), []int{1, 1, 3, 2}, []float64{1, 2, 3, 4, 9, 9}},
		"reflection":  {NewReflectionPad(1, 0, 0, 0), []int{1, 1, 2, 3}, []float64{2, 1, 2, 4, 3, 4}},
		"replication": {NewReplicationPad(0, 1, 0, 0), []int{1, 1, 2, 3}, []float64{1, 2, 2, 3, 4, 4}},
		"circular":    {NewCircularPad(0, 1, 0, 0), []int{1, 1, 2, 3}, []float64{1, 2, 1, 3, 4, 3}},
		"shuffle":     {NewSequential(PixelUnshuffle(2), PixelShuffle(2)), []int{1, 1, 2, 2}, []float64{1, 2, 3, 4}},
		"unfold":      {Unfold(amp.Blocks{Kernel: []int{1, 2}}), []int{1, 2, 2}, []float64{1, 3, 2, 4}},
		"fold":        {NewSequential(Unfold(amp.Blocks{Kernel: []int{1}}), Fold([]int{2, 2}, amp.Blocks{Kernel: []int{1}})), []int{1, 1, 2, 2}, []float64{1, 2, 3, 4}},
	} {
		y := c.m.Forward(s, x)
		if !slices.Equal(y.Shape(), c.shape) || !slices.Equal(y.Float64s(), c.want) || len(c.m.Parameters()) != 0 {
			t.Errorf("%s: %v %v", name, y.Shape(), y.Float64s())
		}
	}
	for _, f := range []func(){
		func() { NewUpsample(amp.Interpolation{}) },
		func() { NewZeroPad() },
		func() { NewReflectionPad(1, 2, 3) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Error(err)
		}
	}
}
