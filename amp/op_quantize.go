package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

var opQuantize *Op

func init() {
	opQuantize = define(Op{
		Name: "quantize", Doc: "x rounded to another format and kept in its dtype; the gradient passes straight through", Args: []string{"x"},
		Why: "asks what a format would do, in the dtype at hand", CUDA: "quantize", Check: checkUnary, CPU: quantizeCPU,
		Backward: func(b *Back) { b.Set(0, b.DY) }, // the straight-through estimator (Bengio et al., 2013)
	})
}

// Quantize returns x rounded to the nearest numbers of format f, in x's dtype: what tf32 or float8 would make of it, on any machine.
// The gradient passes straight through (Bengio et al., 2013), since that of a staircase is zero.
func Quantize(s *Scope, x *Tensor, f Format) *Tensor {
	f.info()
	return s.apply(opQuantize, Attrs{Start: int(f)}, x)
}

// QuantizeStochastic is Quantize with stochastic rounding: each element becomes one of its two neighbors, with a mean of itself. The
// numbers come from the scope's stream.
func QuantizeStochastic(s *Scope, x *Tensor, f Format) *Tensor {
	s.alive("quantize")
	f.info()
	x.live("quantize")
	return s.apply(opQuantize, Attrs{Start: int(f), Reverse: true, Draw: s.draw((x.Len() + 3) / 4)}, x)
}

// uniform returns number i of a draw, in [0,1). It depends on the draw and i alone, not on who asks when.
func (d Draw) uniform(i int) float64 {
	return float64(cpu.PhiloxBlock(d.Seed, d.Block+uint64(i/4))[i%4]) * 0x1p-32
}

func quantizeCPU(c *Call) {
	x, out, f := c.In[0], c.Out, Format(c.Start)
	w := newRowWalk(out, x)
	pool := scratches[float64]()
	w.run(func(off [4]int, n int) {
		s := pool.Get().(*scratch[float64])
		dst := s.buf[1][:n]
		for i, v := range fetch(&s.buf[0], x, off[1], w.step[1], n) {
			if c.Reverse {
				dst[i] = f.RoundStochastic(v, c.Draw.uniform(off[0]-out.off+i))
			} else {
				dst[i] = f.Round(v)
			}
		}
		store(out, off[0], dst)
		pool.Put(s)
	})
}
