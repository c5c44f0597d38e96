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
		Name: "unscale_", Doc: "grad · 1/scale, with a test for infinity and NaN before the product", Args: []string{"grad", "found_inf", "first", "inv_scale"},
		Why: "gradients are unscaled in the dtype of their parameter", InPlace: true, Changes: 3, CUDA: "unscale",
		Check: func(c *Call) []int {
			if g := c.In[0]; !g.contiguous() {
				fail(c.Op.Name, ErrShape, "use a contiguous gradient", "%s", c.shapes())
			}
			return c.In[0].shape
		},
		CPU: unscaleCPU,
	})
}

// What was found where, as one number: the parameter's, the element's, and what it is. The lowest is the first.
const (
	firstNone    = math.MaxInt64 // every element was finite
	firstElement = 2             // bits below the element's number: 0 for +Inf, 1 for -Inf, 2 for NaN
	firstParam   = 42            // bits below the parameter's number
	firstScale   = 1<<20 - 1     // in place of a parameter's number: the inverse scale is not finite
)

// firstCode packs the place of a value that is not finite.
func firstCode(param, element int, v float64) int64 {
	kind := int64(2)
	switch {
	case v > 0:
		kind = 0
	case v < 0:
		kind = 1
	}
	return int64(param)<<firstParam | int64(element)<<firstElement | kind
}

// firstValue is the inverse of firstCode, as far as reports need it.
func firstValue(code int64) (param int, value float64) {
	switch code & 3 {
	case 0:
		value = math.Inf(1)
	case 1:
		value = math.Inf(-1)
	default:
		value = math.NaN()
	}
	return int(code >> firstParam), value
}

// unscaleCPU looks at every element before multiplying it, as the reference does, and remembers the first that is not finite.
func unscaleCPU(c *Call) {
	if len(c.In) > 1 {
		unscaleFlagged(c)
		return
	}
	u := c.Update
	var at int
	if at, u.Value = unscaleBy(c.In[0], c.Scalar); at >= 0 {
		u.NonFinite = true
	}
}

// unscaleFlagged is the op as a device runs it that tells the host nothing: inv_scale is read, found_inf becomes 1 and first the place
// of parameter number Start if an element is not finite, or if the inverse is not. With Keep the gradient stays as it is.
func unscaleFlagged(c *Call) {
	g, found, first, scale := c.In[0], c.In[1], c.In[2], c.In[3]
	inv := scale.at(scale.off)
	code := int64(firstNone)
	if !finite(inv) {
		code = firstScale << firstParam
	}
	k := inv
	if c.Keep {
		k = 1
	}
	if at, v := unscaleBy(g, k); at >= 0 {
		code = firstCode(c.Start, at, v)
	}
	if code != firstNone {
		store(found, found.off, []float64{1})
		place := &elements[int64](first)[first.off]
		*place = min(*place, code)
	}
}

// unscaleBy multiplies the elements of g and returns the number and the value of the first that was not finite, -1 without any.
func unscaleBy(g *Tensor, inv float64) (at int, value float64) {
	if g.dt == Float64 {
		return unscaleOn[float64](g, inv)
	}
	return unscaleOn[float32](g, inv)
}

func unscaleOn[T float32 | float64](g *Tensor, inv float64) (at int, value float64) {
	k, pool := T(inv), scratches[T]()
	var mu sync.Mutex
	first := g.Len() // the lowest place found by any worker, so that the report does not depend on their order
	cpu.Parallel(g.Len(), grain, func(lo, hi int) {
		s := pool.Get().(*scratch[T])
		defer pool.Put(s)
		if x, ok := direct[T](g, g.off+lo, 1, hi-lo); ok {
			if at, v := unscaleFloats(x, k); at >= 0 {
				mu.Lock()
				if lo+at < first {
					first, value = lo+at, float64(v)
				}
				mu.Unlock()
			}
			return
		}
		for ; lo < hi; lo += chunk {
			x := fetch(&s.buf[0], g, g.off+lo, 1, min(chunk, hi-lo))
			if !allFinite(x) {
				i := slices.IndexFunc(x, func(v T) bool { return v-v != 0 })
				mu.Lock()
				if lo+i < first {
					first, value = lo+i, float64(x[i])
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
	if first == g.Len() {
		return -1, 0
	}
	return first, value
}

// unscaleFloats multiplies numbers where they lie and returns the place and the value of the first that was not finite, or -1.
func unscaleFloats[T float32 | float64](x []T, k T) (at int, value T) {
	narrow, ok := any(x).([]float32)
	if ok {
		at = cpu.Unscale(narrow, float32(k))
	} else {
		at = slices.IndexFunc(x, func(v T) bool { return v-v != 0 })
	}
	rest := x
	switch {
	case at >= 0:
		value = x[at]
		if ok {
			rest = x[at:]
		}
	case ok:
		return -1, 0
	}
	if k != 1 {
		for i := range rest {
			rest[i] *= k
		}
	}
	return at, value
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
