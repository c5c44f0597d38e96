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

// UnscaleLater is the Mode of unscale_ whose caller does not expect anybody to read the gradient after the optimizer: a device may leave
// the product out until somebody does.
const UnscaleLater = "later"

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
	if x, ok := direct[T](g, g.off, 1, g.Len()); ok && len(x) <= grain { // a model has many small gradients
		at, v := unscaleFloats(x, T(inv))
		return at, float64(v)
	}
	return unscaleParts[T](g, inv)
}

// unscaleParts is unscaleOn for many elements, or for halves.
func unscaleParts[T float32 | float64](g *Tensor, inv float64) (at int, value float64) {
	k, pool := T(inv), scratches[T]()
	var mu sync.Mutex
	first := g.Len() // the lowest place found by any worker, so that the report does not depend on their order
	size, inPlace := chunk, elementsAre[T](g)
	if inPlace {
		size = grain // nothing to widen
	}
	cpu.Parallel(g.Len(), grain, func(lo, hi int) {
		s := pool.Get().(*scratch[T])
		defer pool.Put(s)
		for ; lo < hi; lo += size {
			x := fetch(&s.buf[0], g, g.off+lo, 1, min(size, hi-lo))
			if at, v := unscaleFloats(x, k); at >= 0 {
				mu.Lock()
				if lo+at < first {
					first, value = lo+at, float64(v)
				}
				mu.Unlock()
			}
			if k != 1 && !inPlace {
				store(g, g.off+lo, x)
			}
		}
	})
	if first == g.Len() {
		return -1, 0
	}
	return first, value
}

// unscaleFloats multiplies all of x and returns the place and the value, before that, of the first that was not finite; -1 without any.
func unscaleFloats[T float32 | float64](x []T, k T) (at int, value T) {
	rest := x // to multiply
	if narrow, ok := any(x).([]float32); ok {
		if at = cpu.Unscale(narrow, float32(k)); at < 0 {
			return -1, 0
		}
		rest = x[at:]
	} else {
		at = slices.IndexFunc(x, func(v T) bool { return v-v != 0 })
	}
	if at >= 0 {
		value = x[at]
	}
	if k != 1 {
		for i := range rest {
			rest[i] *= k
		}
	}
	return at, value
}

func finite(v float64) bool { return !math.IsInf(v, 0) && v == v }
