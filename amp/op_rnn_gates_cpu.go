package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// gateWork is what one worker needs: the passes, and lines for what has none in float32 in place.
type gateWork struct {
	cpu.Line
	f32 [8][]float32
}

var gateWorks = sync.Pool{New: func() any { return new(gateWork) }}

// read returns row i of t: in place, or widened into buffer k.
func (w *gateWork) read(k int, t *Tensor, i int) []float32 {
	n := t.shape[1]
	if x, ok := direct[float32](t, t.off+i*n, 1, n); ok {
		return x
	}
	x := w.target(k, t, i)
	load(x, t, t.off+i*n, 1)
	return x
}

// target is read for a row that is only written.
func (w *gateWork) target(k int, t *Tensor, i int) []float32 {
	n := t.shape[1]
	if x, ok := direct[float32](t, t.off+i*n, 1, n); ok {
		return x
	}
	w.f32[k] = resize(w.f32[k], n)
	return w.f32[k]
}

// write brings a row that read or target gave to t.
func (w *gateWork) write(t *Tensor, i int, x []float32) {
	if t.dt != Float32 {
		store(t, t.off+i*t.shape[1], x)
	}
}

// run makes a pass over lines.
func (w *gateWork) run(k *cpu.LineKernel, lines ...[]float32) {
	copy(w.F32[:], lines)
	k.Run(len(lines[0]), &w.Line)
}

// eachGateRow shares out the rows of a step: in float32, or in float64, for which f64 gets row i of every input as it is.
func eachGateRow(c *Call, f32 func(w *gateWork, i int), f64 func(in [][]float64)) {
	rows, n := c.In[0].shape[0], c.In[0].shape[1]
	cpu.Parallel(rows, grainOf(4*n), func(lo, hi int) {
		if c.In[0].dt == Float64 {
			in := make([][]float64, len(c.In))
			for i := lo; i < hi; i++ {
				for k, t := range c.In {
					if t != nil {
						in[k], _ = direct[float64](t, t.off+i*t.shape[1], 1, t.shape[1])
					}
				}
				f64(in)
			}
			return
		}
		w := gateWorks.Get().(*gateWork)
		for i := lo; i < hi; i++ {
			f32(w, i)
		}
		clear(w.F32[:])
		gateWorks.Put(w)
	})
}

// gate is part k of a row.
func gate[T any](row []T, k, n int) []T { return row[k*n : (k+1)*n] }

func lstmGatesCPU(c *Call) {
	n := c.In[1].shape[1]
	eachGateRow(c, func(w *gateWork, i int) {
		g, p := w.read(0, c.In[0], i), w.read(1, c.In[3], i)
		h, next, old := w.target(2, c.In[1], i), w.target(3, c.In[2], i), w.read(4, c.In[4], i)
		w.run(&cpu.LineGate, g[:2*n], p[:2*n])
		w.run(&cpu.LineTanhGate, gate(g, 2, n), gate(p, 2, n))
		w.run(&cpu.LineGate, gate(g, 3, n), gate(p, 3, n))
		w.run(&cpu.LineLSTM, gate(g, 0, n), gate(g, 1, n), gate(g, 2, n), gate(g, 3, n), old, next, h)
		w.write(c.In[0], i, g)
		w.write(c.In[1], i, h)
		w.write(c.In[2], i, next)
	}, func(in [][]float64) {
		g, h, next, p, old := in[0], in[1], in[2], in[3], in[4]
		addTo(g, p)
		cpu.Sigmoid.F64(g[:2*n], g[:2*n])
		cpu.Tanh.F64(gate(g, 2, n), gate(g, 2, n))
		cpu.Sigmoid.F64(gate(g, 3, n), gate(g, 3, n))
		for k, v := range old {
			next[k] = float64(g[n+k]*v) + float64(g[k]*g[2*n+k])
		}
		cpu.Tanh.F64(h, next)
		for k := range h {
			h[k] *= g[3*n+k]
		}
	})
}

func lstmGatesBackwardCPU(c *Call) {
	n := c.In[1].shape[1]
	zero := make([]float32, n) // for no dh
	eachGateRow(c, func(w *gateWork, i int) {
		d, dc, g := w.target(0, c.In[0], i), w.read(1, c.In[1], i), w.read(2, c.In[2], i)
		old, next, dy, dh := w.read(3, c.In[3], i), w.read(4, c.In[4], i), w.read(5, c.In[5], i), zero
		if c.In[6] != nil {
			dh = w.read(6, c.In[6], i)
		}
		w.run(&cpu.LineLSTMGradOut, gate(g, 3, n), next, dy, dh, dc, gate(d, 3, n))
		w.run(&cpu.LineLSTMGradIn, gate(g, 0, n), gate(g, 2, n), dc, gate(d, 0, n), gate(d, 2, n))
		w.run(&cpu.LineLSTMGradForget, gate(g, 1, n), old, dc, gate(d, 1, n))
		w.write(c.In[0], i, d)
		w.write(c.In[1], i, dc)
	}, func(in [][]float64) {
		d, dc, g, old, next, dy, dh := in[0], in[1], in[2], in[3], in[4], in[5], in[6]
		for k, v := range dy {
			if dh != nil {
				v += dh[k]
			}
			i, f, u, o, t := g[k], g[n+k], g[2*n+k], g[3*n+k], cpu.Tanh.Of(next[k])
			d[3*n+k] = v * t * o * (1 - o)
			dn := dc[k] + float64(v*o*(1-float64(t*t)))
			d[k] = dn * u * i * (1 - i)
			d[n+k] = dn * old[k] * f * (1 - f)
			d[2*n+k] = dn * i * (1 - float64(u*u))
			dc[k] = dn * f
		}
	})
}

func gruGatesCPU(c *Call) {
	n := c.In[1].shape[1]
	eachGateRow(c, func(w *gateWork, i int) {
		g, p := w.read(0, c.In[0], i), w.read(1, c.In[2], i)
		next, old := w.target(2, c.In[1], i), w.read(3, c.In[3], i)
		w.run(&cpu.LineGate, g[:2*n], p[:2*n])
		w.run(&cpu.LineGRU, gate(g, 2, n), gate(g, 0, n), gate(g, 1, n), gate(p, 2, n), old, next)
		w.write(c.In[0], i, g)
		w.write(c.In[1], i, next)
	}, func(in [][]float64) {
		g, next, p, old := in[0], in[1], in[2], in[3]
		addTo(g[:2*n], p[:2*n])
		cpu.Sigmoid.F64(g[:2*n], g[:2*n])
		for k := range n {
			g[2*n+k] += float64(g[k] * p[2*n+k])
		}
		cpu.Tanh.F64(g[2*n:], g[2*n:])
		for k, v := range old {
			next[k] = float64((v-g[2*n+k])*g[n+k]) + g[2*n+k]
		}
	})
}

func gruGatesBackwardCPU(c *Call) {
	n := c.In[2].shape[1]
	eachGateRow(c, func(w *gateWork, i int) {
		d, dp, dh := w.target(0, c.In[0], i), w.target(1, c.In[1], i), w.read(2, c.In[2], i)
		g, p, old := w.read(3, c.In[3], i), w.read(4, c.In[4], i), w.read(5, c.In[5], i)
		w.Arg[0] = 1
		w.run(&cpu.LineScaleAdd, dh, w.read(6, c.In[6], i))
		if c.In[7] != nil {
			w.run(&cpu.LineScaleAdd, dh, w.read(6, c.In[7], i))
		}
		w.run(&cpu.LineGRUGrad, dh, gate(g, 1, n), gate(g, 2, n), old, gate(d, 1, n), gate(d, 2, n))
		w.run(&cpu.LineGRUGradReset, gate(d, 2, n), gate(g, 0, n), gate(p, 2, n), gate(d, 0, n), gate(dp, 2, n))
		copy(dp[:2*n], d[:2*n])
		w.write(c.In[0], i, d)
		w.write(c.In[1], i, dp)
		w.write(c.In[2], i, dh)
	}, func(in [][]float64) {
		d, dp, dh, g, p, old, dy := in[0], in[1], in[2], in[3], in[4], in[5], in[6]
		for k, v := range dy {
			v += dh[k]
			if in[7] != nil {
				v += in[7][k]
			}
			r, z, u := g[k], g[n+k], g[2*n+k]
			d[n+k] = v * (old[k] - u) * z * (1 - z)
			du := v * (1 - z) * (1 - float64(u*u))
			d[2*n+k] = du
			d[k] = du * p[2*n+k] * r * (1 - r)
			dp[2*n+k] = du * r
			dh[k] = v * z
		}
		copy(dp[:2*n], d[:2*n])
	})
}
