package amp

import (
	"cmp"
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TestAttentionTiles compares attention in tile registers with float64, on the same halves: results and gradients, over sizes that fill no
// tile, block or pair, masks that leave a query nothing, dropout, strides, and gradients of scores beyond float16. What products in float32
// of the same halves are off by is the measure.
func TestAttentionTiles(t *testing.T) {
	if !cpu.TileSteps(cpu.BF16) {
		t.Skip("this processor or mode has no tile registers for halves")
	}
	for _, c := range []tiledCase{
		{T: 16, S: 16, d: 1, e: 1},
		{T: 17, S: 19, d: 3, e: 130, causal: true},
		{T: 65, S: 257, d: 33, e: 17},
		{T: 63, S: 31, d: 64, e: 64, causal: true},
		{T: 97, S: 255, d: 80, e: 48, strided: true},
		{T: 129, S: 129, d: 16, e: 8, causal: true, strided: true},
		{T: 530, S: 515, d: 32, e: 40, causal: true},
		{T: 20, S: 530, d: 17, e: 16, causal: true},
		{T: 70, S: 300, d: 16, e: 8, mask: true},
		{T: 33, S: 300, d: 16, e: 8, additive: true},
		{T: 64, S: 270, d: 32, e: 32, dropout: 0.5},
		{T: 66, S: 100, d: 32, e: 32, dropout: 0.1, causal: true},
		{T: 20, S: keptKeys + 47, d: 8, e: 8}, // scores computed again
		{T: 18, S: keptKeys + 300, d: 8, e: 8, dropout: 0.3, mask: true},
		{T: 40, S: 20, d: 64, e: 256, dy: 12e3}, // gradients of scores beyond float16
	} {
		for _, dt := range []DType{Float16, BFloat16} {
			if !cpu.TileSteps(map[DType]cpu.Format{Float16: cpu.F16, BFloat16: cpu.BF16}[dt]) {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", dt, c), func(t *testing.T) { c.compare(t, dt) })
		}
	}
}

// A tiledCase is a shape for TestAttentionTiles.
type tiledCase struct {
	T, S, d, e                      int
	causal, mask, additive, strided bool
	dropout, dy                     float64
}

func (c *tiledCase) compare(t *testing.T, dt DType) {
	root := NewScope(On("cpu"), Seed(31))
	defer root.Close()
	x := func(rows, features int, size float64) *Tensor {
		if c.strided { // features beside heads
			return Transpose(root, Randn(root, dt, 0, size, rows, 3, features), 0, 1)
		}
		return Randn(root, dt, 0, size, 3, rows, features)
	}
	in := []*Tensor{x(c.T, c.d, 1), x(c.S, c.d, 1), x(c.S, c.e, 1), x(c.T, c.e, cmp.Or(c.dy, 1))}
	var mask *Tensor
	switch {
	case c.mask:
		seen := make([]bool, c.T*c.S)
		for i := c.S; i < len(seen); i++ { // the first query sees no key
			seen[i] = i%3 > 0
		}
		mask = From(seen, c.T, c.S).To(root)
	case c.additive:
		mask = Randn(root, dt, 0, 1, 3, c.T, c.S)
	}
	at := root.Random().State()
	run := func(way cpu.Dot, as DType) [][]float64 {
		defer cpu.SetDot(cpu.SetDot(way))
		root.Random().Load(at)
		var leaves []*Tensor
		for _, v := range in[:3] {
			leaves = append(leaves, v.leafAs(root, as))
		}
		m := mask
		if c.additive {
			m = mask.leafAs(root, as)
			leaves = append(leaves, m)
		}
		y := ScaledDotProductAttention(root, leaves[0], leaves[1], leaves[2], m, Attention{Causal: c.causal, Dropout: c.dropout})
		out := [][]float64{y.Float64s()}
		for _, g := range Grad(root, []*Tensor{y}, leaves, GradOutputs(To(root, in[3], as))) {
			out = append(out, g.Float64s())
		}
		return out
	}
	got, single, exact := run(cpu.Tiles, dt), run(cpu.Strict, dt), run(cpu.Strict, Float64)
	for n, name := range []string{"y", "dq", "dk", "dv", "dmask"}[:len(got)] {
		worst, theirs, largest := 0.0, 0.0, 0.0
		for i, w := range exact[n] {
			worst, theirs = max(worst, math.Abs(got[n][i]-w)), max(theirs, math.Abs(single[n][i]-w))
			largest = max(largest, math.Abs(w))
		}
		if !(worst <= 1.1*theirs+0x1p-15*largest) {
			t.Errorf("%s: off by %.3g, in float32 by %.3g, largest number %.3g", name, worst, theirs, largest)
		}
	}
}

// TestAttentionTilesInfinite: infinities and NaN reach what they reach where products are in float32; parts of a number would make NaN of the
// infinities.
func TestAttentionTilesInfinite(t *testing.T) {
	if !cpu.TileSteps(cpu.BF16) {
		t.Skip("this processor or mode has no tile registers for halves")
	}
	for _, dt := range []DType{Float16, BFloat16} {
		for _, special := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
			for at := range 4 {
				root := NewScope(On("cpu"), Seed(uint64(at)))
				in := make([]*Tensor, 4)
				for i := range in {
					in[i] = Randn(root, dt, 0, 1, 2, 70, 20)
					if i == at {
						v := in[i].Float64s()
						v[69*20+3] = special // of the first matrix
						in[i].setFloat64s(v)
					}
				}
				run := func(way cpu.Dot) [][]float64 {
					defer cpu.SetDot(cpu.SetDot(way))
					q, k, v := in[0].leafAs(root, dt), in[1].leafAs(root, dt), in[2].leafAs(root, dt)
					y := ScaledDotProductAttention(root, q, k, v, nil, Attention{})
					out := [][]float64{y.Float64s()}
					for _, g := range Grad(root, []*Tensor{y}, []*Tensor{q, k, v}, GradOutputs(in[3])) {
						out = append(out, g.Float64s())
					}
					return out
				}
				got, want := run(cpu.Tiles), run(cpu.Strict)
				for n := range got {
					for i, w := range want[n] {
						if g := got[n][i]; !(distance(g, w) < 0.1) {
							t.Fatalf("%v: %v in input %d: result %d, element %d: %v, in float32 %v", dt, special, at, n, i, g, w)
						}
					}
				}
				root.Close()
			}
		}
	}
}

// leafAs is a leaf with the numbers of x.
func (x *Tensor) leafAs(s *Scope, dt DType) *Tensor { return Detach(s, To(s, x, dt)).RequireGrad() }
