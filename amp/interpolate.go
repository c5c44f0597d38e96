package amp

import "math"

// The weights of interpolation along one dimension. The nearest element is found in the arithmetic that PyTorch uses, float32 but
// for float64 inputs, since a coordinate that falls between two elements in one may fall on one of them in the other. The weights of
// the continuous modes are computed in float64.

// A resizer makes the taps of a dimension of n elements resized to m; scale is the caller's factor, 0 for that of the sizes.
type resizer func(n, m int, scale float64, align, double bool) *taps

// resizeTaps makes the taps of a call from the larger side's shape to the result's.
func resizeTaps(c *Call, f resizer, from, to []int) []*taps {
	along := make([]*taps, len(from))
	lead := len(from) - len(c.Shape)
	for i := range c.Shape {
		n, m := from[lead+i], to[lead+i]
		along[lead+i] = f(n, m, c.Scales[i], c.Mode == alignCorners, c.Out.dt == Float64)
	}
	return along
}

// ratio returns how far the input moves per element of the result.
func ratio(n, m int, scale float64, align bool) float64 {
	switch {
	case align && m > 1:
		return float64(n-1) / float64(m-1)
	case align:
		return 0
	case scale > 0:
		return 1 / scale
	}
	return float64(n) / float64(m)
}

// coordinate returns where element i of the result lies in the input.
func coordinate(step float64, i int, align, cubic bool) float64 {
	if align {
		return step * float64(i)
	}
	at := float64(step*(float64(i)+0.5)) - 0.5
	if at < 0 && !cubic {
		return 0
	}
	return at
}

func nearestTaps(n, m int, scale float64, _, double bool) *taps {
	return nearestOf(n, m, scale, 0, double)
}

func nearestExactTaps(n, m int, scale float64, _, double bool) *taps {
	return nearestOf(n, m, scale, 0.5, double)
}

func nearestOf(n, m int, scale float64, shift float32, double bool) *taps {
	at := make([]int, m)
	step := ratio(n, m, scale, false)
	step32 := float32(step)
	if scale <= 0 {
		step32 = float32(n) / float32(m)
	}
	for i := range at {
		at[i] = int((float32(i) + shift) * step32)
		if double {
			at[i] = int((float64(i) + float64(shift)) * step)
		}
		at[i] = min(at[i], n-1)
	}
	return newTaps(n, at)
}

func weighted(n int) *taps { return &taps{start: []int{0}, size: n} }

func linearTaps(n, m int, scale float64, align, _ bool) *taps {
	step, t := ratio(n, m, scale, align), weighted(n)
	for i := range m {
		if n == m { // a copy, whatever the scale
			t.add(i, 1)
			t.close()
			continue
		}
		at := coordinate(step, i, align, false)
		lo := min(int(at), n-1)
		w := min(max(at-float64(lo), 0), 1)
		if lo == n-1 { // the neighbor would be the element itself: two halves of it, so that 0·∞ makes no NaN of an infinity
			w = 0.5
		}
		t.add(lo, 1-w)
		t.add(min(lo+1, n-1), w)
		t.close()
	}
	return t
}

func cubicTaps(n, m int, scale float64, align, _ bool) *taps {
	step, t := ratio(n, m, scale, align), weighted(n)
	for i := range m {
		at := coordinate(step, i, align, true)
		lo := min(int(math.Floor(at)), n-1)
		for k, w := range cubicWeights(min(max(at-float64(lo), 0), 1)) {
			t.join(min(max(lo-1+k, 0), n-1), w)
		}
		t.close()
	}
	return t
}

// cubicWeights are those of the four neighbors of a point that lies x behind the second.
func cubicWeights(x float64) [4]float64 {
	const a = -0.75
	return [4]float64{cubicFar(x+1, a), cubicNear(x, a), cubicNear(1-x, a), cubicFar(2-x, a)}
}

// cubicNear and cubicFar are Keys' kernel within 1 and from 1 to 2.
func cubicNear(x, a float64) float64 { return float64((float64((a+2)*x)-(a+3))*x*x) + 1 }

func cubicFar(x, a float64) float64 {
	return float64((float64((float64(a*x)-float64(5*a))*x)+float64(8*a))*x) - float64(4*a)
}

func triangleFilter(x float64) float64 { return max(0, 1-math.Abs(x)) }

func cubicFilter(x float64) float64 {
	switch x = math.Abs(x); {
	case x < 1:
		return cubicNear(x, -0.5)
	case x < 2:
		return cubicFar(x, -0.5)
	}
	return 0
}

// antialiased makes a resizer whose filter, of a given width, is as wide as the cells of the result where those are larger.
func antialiased(width float64, filter func(x float64) float64) resizer {
	return func(n, m int, scale float64, align, _ bool) *taps {
		step, t := ratio(n, m, scale, align), weighted(n)
		wide := max(step, 1)
		for i := range m {
			center := float64(step * (float64(i) + 0.5))
			lo := max(int(center-float64(width/2*wide)+0.5), 0)
			hi := min(int(center+float64(width/2*wide)+0.5), n)
			sum, first := 0.0, len(t.weight)
			for j := lo; j < hi; j++ {
				w := filter((float64(j) - center + 0.5) / wide)
				t.add(j, w)
				sum += w
			}
			for k := first; k < len(t.weight); k++ {
				t.weight[k] /= sum
			}
			t.close()
		}
		return t
	}
}
