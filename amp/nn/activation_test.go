package nn

import (
	"errors"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestActivationModules holds each module to amp's function with the same numbers.
func TestActivationModules(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float64{-4, -1, -0.2, 0, 0.3, 7}, 2, 3)
	glu := amp.From([]float64{1, -2, 3, -4}, 1, 4)
	prelu := NewPReLU(s, 3)
	for name, c := range map[string]struct {
		m    Module
		x    *amp.Tensor
		want *amp.Tensor
	}{
		"selu":        {SELU, x, amp.SELU(s, x)},
		"gelu tanh":   {GELUTanh, x, amp.GELUTanh(s, x)},
		"mish":        {Mish, x, amp.Mish(s, x)},
		"relu6":       {ReLU6, x, amp.ReLU6(s, x)},
		"hardswish":   {Hardswish, x, amp.Hardswish(s, x)},
		"hardsigmoid": {Hardsigmoid, x, amp.Hardsigmoid(s, x)},
		"softsign":    {Softsign, x, amp.Softsign(s, x)},
		"tanhshrink":  {Tanhshrink, x, amp.Tanhshrink(s, x)},
		"logsigmoid":  {LogSigmoid, x, amp.LogSigmoid(s, x)},
		"leaky":       {LeakyReLU(0.3), x, amp.LeakyReLU(s, x, 0.3)},
		"elu":         {ELU(2), x, amp.ELU(s, x, 2)},
		"celu":        {CELU(2), x, amp.CELU(s, x, 2)},
		"hardshrink":  {Hardshrink(1), x, amp.Hardshrink(s, x, 1)},
		"softshrink":  {Softshrink(1), x, amp.Softshrink(s, x, 1)},
		"hardtanh":    {Hardtanh(-2, 1), x, amp.Hardtanh(s, x, -2, 1)},
		"threshold":   {Threshold(0.1, 5), x, amp.Threshold(s, x, 0.1, 5)},
		"rrelu":       {RReLU(0.5, 0.5), x, amp.LeakyReLU(s, x, 0.5)},
		"softmax":     {Softmax(0), x, amp.Softmax(s, x, 0)},
		"log_softmax": {LogSoftmax(1), x, amp.LogSoftmax(s, x, 1)},
		"softmin":     {Softmin(1), x, amp.Softmin(s, x, 1)},
		"glu":         {GLU(-1), glu, amp.GLU(s, glu, -1)},
	} {
		if got := c.m.Forward(s, c.x); !slices.Equal(got.Float64s(), c.want.Float64s()) || len(c.m.Parameters()) != 0 {
			t.Errorf("%s: %v, want %v", name, got.Float64s(), c.want.Float64s())
		}
	}
	net := NewSequential(NewLinear(s, 2, 3), prelu)
	if ps := net.Parameters(); len(ps) != 3 || ps[2].Name() != "1.weight" || ps[2].Float64s()[2] != 0.25 {
		t.Errorf("parameters %v", ps)
	}
	y := prelu.Forward(s, amp.From([]float32{-4, 4, -8}, 1, 3))
	if got := amp.Values[float32](y); !slices.Equal(got, []float32{-1, 4, -2}) {
		t.Errorf("prelu %v", got)
	}
	if err := amp.Maybe(func() { NewPReLU(s, 0) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
}
