package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// TestRMSNormEps has PyTorch 2.15's eps: that of x's dtype, of float32 for halves, unless one is given.
func TestRMSNormEps(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	for dt, want := range map[amp.DType]float64{amp.Float32: 0x1p-23, amp.Float16: 0x1p-23, amp.BFloat16: 0x1p-23, amp.Float64: 0x1p-52} {
		for name, scope := range map[string]*amp.Scope{"plain": s, "autocast": s.Autocast(amp.BFloat16)} {
			x := amp.Full(s, dt, 1e-4, 1, 2)
			y := nn.NewRMSNormOf(s, []int{2}, nn.NoAffine()).Forward(scope, x).Float64s()[0]
			v := x.Float64s()[0]
			if exact := v / math.Sqrt(v*v+want); math.Abs(y-exact) > 5e-3*exact {
				t.Errorf("%v, %s: %v, want %v", dt, name, y, exact)
			}
		}
	}
	x := amp.Full(s, amp.Float32, 1, 1, 2)
	for eps, want := range map[float64]float64{3: 0.5, 0: 1} {
		if y := nn.NewRMSNormOf(s, []int{2}, nn.Eps(eps)).Forward(s, x).Float64s()[0]; y != want {
			t.Errorf("eps %v: %v, want %v", eps, y, want)
		}
	}
}

// TestNormsWithoutParameters: options leave weight and bias out, the result is that of ones and zeros, and nothing stumbles over nil.
func TestNormsWithoutParameters(t *testing.T) {
	s := amp.NewScope(amp.Seed(3))
	defer s.Close()
	x := amp.Randn(s, amp.Float32, 1, 2, 3, 2, 4)
	for _, c := range []struct {
		name    string
		m, like nn.Module
		want    string
	}{
		{"layer norm without bias", nn.NewLayerNormOf(s, []int{4}, nn.NoBias()), nn.NewLayerNorm(s, 4), "LayerNorm(weight=[4])"},
		{"bare layer norm", nn.NewLayerNormOf(s, []int{4}, nn.NoAffine()), nn.NewLayerNorm(s, 4), "LayerNorm()"},
		{"bare layer norm over two", nn.NewLayerNormOf(s, []int{2, 4}, nn.NoAffine()), nn.NewLayerNorm(s, 2, 4), "LayerNorm()"},
		{"bare RMS norm over two", nn.NewRMSNormOf(s, []int{2, 4}, nn.NoAffine()), nn.NewRMSNorm(s, 2, 4), "RMSNorm()"},
		{"literal", &nn.LayerNorm{Eps: 1e-5}, nn.NewLayerNorm(s, 4), "LayerNorm()"},
		{"eps", nn.NewLayerNormOf(s, []int{4}, nn.Eps(0.5)), func() nn.Module { l := nn.NewLayerNorm(s, 4); l.Eps = 0.5; return l }(), "LayerNorm(weight=[4], bias=[4])"},
		{"bias taken away", func() nn.Module { l := nn.NewLayerNorm(s, 4); l.Bias = nil; return l }(), nn.NewLayerNorm(s, 4), "LayerNorm(weight=[4])"},
	} {
		got, want := c.m.Forward(s, x), c.like.Forward(s, x)
		if !slices.Equal(got.Float64s(), want.Float64s()) || !slices.Equal(got.Shape(), x.Shape()) {
			t.Errorf("%s: %v %v, want %v", c.name, got.Shape(), got.Float64s(), want.Float64s())
		}
		net := nn.NewSequential(c.m)
		if text := fmt.Sprint(c.m); text != c.want || len(nn.StateDict(net)) != len(net.Parameters()) {
			t.Errorf("%s: %s, want %s; state %v", c.name, text, c.want, nn.StateDict(net))
		}
		nn.Summary(s, net, x)
	}
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"option": {amp.ErrArgument, func() { nn.NewLayerNormOf(s, []int{4}, nn.Momentum(0.1)) }},
		"dtype":  {amp.ErrArgument, func() { nn.NewRMSNormOf(s, []int{4}, nn.DType(amp.Float16)) }},
		"nil":    {amp.ErrArgument, func() { nn.NewRMSNormOf(s, []int{4}, nil) }},
		"size":   {amp.ErrArgument, func() { nn.NewLayerNormOf(s, nil) }},
		"shape":  {amp.ErrShape, func() { nn.NewLayerNormOf(s, []int{3}, nn.NoAffine()).Forward(s, x) }},
	} {
		if err := amp.Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPaddingRowFromTheEnd: a negative row counts from the end, as PyTorch's padding_idx.
func TestPaddingRowFromTheEnd(t *testing.T) {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	for row, want := range map[int]int{-1: 4, -5: 0, 2: 2, 0: 0} {
		e := nn.NewEmbedding(s, 5, 1, nn.PaddingRow(row))
		for i, v := range e.Weight.Float64s() {
			if (v == 0) != (i == want) {
				t.Errorf("padding row %d: row %d is %v", row, i, v)
			}
		}
		amp.Sum(s, e.Forward(s, amp.Arange(s, amp.Int64, 0, 5, 1))).Backward()
		if g := e.Weight.Grad().Float64s(); g[want] != 0 || g[(want+1)%5] != 1 {
			t.Errorf("padding row %d: gradient %v", row, g)
		}
	}
	for _, row := range []int{-6, 5} {
		if err := amp.Maybe(func() { nn.NewEmbedding(s, 5, 1, nn.PaddingRow(row)) }); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("row %d: %v", row, err)
		}
	}
}
