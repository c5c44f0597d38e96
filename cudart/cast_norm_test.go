package cudart_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// A normGradient is a gradient of a norm of [n n] whose dy is a cast of halves h, and how many launches it takes.
type normGradient struct {
	run      func(g *normGradients) []*amp.Tensor
	launches int64
}

// normGradients is what a test of them starts from.
type normGradients struct {
	s       *amp.Scope
	h       *amp.Tensor   // halves, with rows around those that are wanted
	y       *amp.Tensor   // of the norm
	in      []*amp.Tensor // of it
	settled bool          // casts are waited for, so that the kernels read float32
}

// rows of h from some on.
func (g *normGradients) rows(from int) *amp.Tensor {
	return amp.Narrow(g.s, g.h, 0, from, g.h.Dim(0)-2)
}

// wide is x in float32.
func (g *normGradients) wide(x *amp.Tensor) *amp.Tensor {
	c := amp.To(g.s, x, amp.Float32)
	if g.settled {
		c.Float64s()
	}
	return c
}

func (g *normGradients) of(dy *amp.Tensor) []*amp.Tensor {
	return amp.Grad(g.s, []*amp.Tensor{g.y}, g.in, amp.GradOutputs(dy), amp.RetainGraph())
}

// TestNormGradientsReadHalves: the gradient of a norm whose dy is cast from halves reads those, with the numbers of the cast, and the cast
// is launched for those alone who want it besides.
func TestNormGradientsReadHalves(t *testing.T) {
	device := gpu(t)
	const n = 56
	for name, c := range map[string]normGradient{
		"given back": {func(g *normGradients) []*amp.Tensor {
			c := g.wide(g.rows(0))
			out := g.of(c)
			c.Free()
			return out
		}, 2},
		"kept": {func(g *normGradients) []*amp.Tensor {
			c := g.wide(g.rows(0))
			return append(g.of(c), c)
		}, 3},
		"added to": {func(g *normGradients) []*amp.Tensor { // the sum goes ahead of the cast
			c := g.wide(g.rows(0))
			out := g.of(c)
			out = append(out, amp.Add(g.s, out[0], g.in[0]))
			c.Free()
			return out
		}, 3},
		"with gaps": {func(g *normGradients) []*amp.Tensor {
			c := g.wide(g.rows(0))
			return g.of(amp.Transpose(g.s, c, 0, 1))
		}, 4},
		"at an odd place": {func(g *normGradients) []*amp.Tensor { // where halves are not read in vectors
			flat := amp.Reshape(g.s, g.h, g.h.Len())
			return g.of(g.wide(amp.Reshape(g.s, amp.Narrow(g.s, flat, 0, 1, n*n), n, n)))
		}, 3},
		"twice": {func(g *normGradients) []*amp.Tensor {
			c := g.wide(g.rows(0))
			out := append(g.of(c), g.of(c)...)
			c.Free()
			return out
		}, 4},
		"halves changed after": {func(g *normGradients) []*amp.Tensor {
			c := g.wide(g.rows(0))
			out := g.of(c)
			amp.CopyInPlace(g.s, g.h, amp.MulScalar(g.s, g.h, 0))
			return append(out, c, g.h)
		}, 5},
		"halves freed": {func(g *normGradients) []*amp.Tensor {
			h := amp.MulScalar(g.s, g.rows(0), 2)
			c := g.wide(h)
			h.Free()
			out := g.of(c) // and takes memory
			c.Free()
			return append(out, amp.MulScalar(g.s, out[0], 2))
		}, 4},
		"two casts": {func(g *normGradients) []*amp.Tensor {
			c, d := g.wide(g.rows(0)), g.wide(g.rows(2))
			out := g.of(d)
			d.Free()
			return append(out, c)
		}, 3},
		"gradient of a waiting cast": {func(g *normGradients) []*amp.Tensor {
			c, x := g.wide(g.rows(0)), g.wide(g.rows(1)).RequireGrad()
			y := amp.RMSNorm(g.s, x, nil, 1e-5)
			return amp.Grad(g.s, []*amp.Tensor{y}, []*amp.Tensor{x}, amp.GradOutputs(c))
		}, 3},
	} {
		for _, kind := range []string{"layer", "rms", "layer without weight"} {
			for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
				t.Run(fmt.Sprintf("%v %s %s", dt, kind, name), func(t *testing.T) {
					run := func(settled bool) (out [][]float64, launches int64) {
						s := amp.NewScope(amp.On(device), amp.Seed(4))
						defer s.Close()
						g := normGradients{s: s, settled: settled, h: amp.To(s, amp.Randn(s, amp.Float32, 0, 1, n+2, n), dt)}
						x := amp.Randn(s, amp.Float32, 1, 2, n, n).RequireGrad()
						w, b := amp.Randn(s, amp.Float32, 1, 1, n).RequireGrad(), amp.Randn(s, amp.Float32, 0, 1, n).RequireGrad()
						switch kind {
						case "layer":
							g.y, g.in = amp.LayerNorm(s, x, w, b, 1e-5), []*amp.Tensor{x, w, b}
						case "rms":
							g.y, g.in = amp.RMSNorm(s, x, w, 1e-5), []*amp.Tensor{x, w}
						default:
							g.y, g.in = amp.LayerNorm(s, x, nil, nil, 1e-5), []*amp.Tensor{x}
						}
						g.h.Float64s()
						before := cudart.CountsOf(device).Launches
						list := c.run(&g)
						for _, y := range list {
							out = append(out, y.Float64s())
						}
						return out, cudart.CountsOf(device).Launches - before
					}
					want, _ := run(true)
					got, launches := run(false)
					for i := range want {
						if !slices.Equal(got[i], want[i]) {
							t.Errorf("result %d differs from that of the cast", i)
						}
					}
					need := c.launches
					if kind == "layer without weight" && name != "gradient of a waiting cast" { // no sums over lines
						need--
						if name == "twice" || name == "with gaps" { // which is a norm of two, and one whose columns are a kernel's own
							need--
						}
					}
					if launches != need {
						t.Errorf("%d launches, want %d", launches, need)
					}
				})
			}
		}
	}
}
