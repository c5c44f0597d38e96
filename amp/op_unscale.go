package amp

import (
	"math"
	"slices"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

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
	k, pool := T(inv), scratches[T]()
	var mu sync.Mutex
	first := g.Len() // the lowest place found by any worker, so that the report does not depend on their order
	cpu.Parallel(g.Len(), grain, func(lo, hi int) {
		s := pool.Get().(*scratch[T])
		defer pool.Put(s)
		for ; lo < hi; lo += chunk {
			x := fetch(&s.buf[0], g, g.off+lo, 1, min(chunk, hi-lo))
			if !allFinite(x) {
				i := slices.IndexFunc(x, func(v T) bool { return v-v != 0 })
				mu.Lock()
				if lo+i < first {
					first, u.NonFinite, u.Value = lo+i, true, float64(x[i])
				}
				mu.Unlock()
			}
			if k != 1 {
				for i := range x {
					x[i] *= k
				}
				store(g, g.off+lo, x)
			}
		}
	})
}

// allFinite adds up v-v, which is 0 for a finite v and NaN for others; four sums do not wait for each other.
func allFinite[T float32 | float64](x []T) bool {
	var a, b, c, d T
	for ; len(x) >= 4; x = x[4:] {
		a += x[0] - x[0]
		b += x[1] - x[1]
		c += x[2] - x[2]
		d += x[3] - x[3]
	}
	for _, v := range x {
		a += v - v
	}
	return a+b+c+d == 0
}

func finite(v float64) bool { return !math.IsInf(v, 0) && v == v }
