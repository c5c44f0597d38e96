package amp

import "math"

var opUnscale *Op

func init() {
	opUnscale = define(Op{
		Name: "unscale_", Doc: "grad · 1/scale, with a test for infinity and NaN before the product", Args: []string{"grad"},
		Why: "gradients are unscaled in the dtype of their parameter", InPlace: true, CUDA: "unscale",
		Check: func(c *Call) []int {
			if g := c.In[0]; !g.contiguous() {
				fail(c.Op.Name, ErrShape, "use a contiguous gradient", "%s", c.shapes())
			}
			return c.In[0].shape
		},
		CPU: unscaleCPU,
	})
}

// unscaleCPU looks at every element before multiplying it, as the reference does, and remembers the first that is not finite.
func unscaleCPU(c *Call) {
	g, u := c.In[0], c.Update
	if g.dt == Float64 {
		unscaleOn[float64](g, c.Scalar, u)
		return
	}
	unscaleOn[float32](g, c.Scalar, u)
}

func unscaleOn[T float32 | float64](g *Tensor, inv float64, u *Update) {
	k := T(inv)
	w := newRowWalk(g)
	pool := scratches[T]()
	w.sequential(func(off [4]int, n int) {
		s := pool.Get().(*scratch[T])
		x := fetch(&s.buf[0], g, off[0], 1, n)
		for i, v := range x {
			if v-v != 0 && !u.NonFinite {
				u.NonFinite, u.Value = true, float64(v)
			}
			if k != 1 {
				x[i] = v * k
			}
		}
		if k != 1 {
			store(g, off[0], x)
		}
		pool.Put(s)
	})
}

func finite(v float64) bool { return !math.IsInf(v, 0) && v == v }
