package amp

import (
	"math"
	"strings"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Where grid_sample reads along one dimension, and with which weights. As y is a sum of products of one weight per dimension, its
// derivatives to the grid are the same sums with derivatives of the weights; taps gives those of any order.

// A gridMode is how grid_sample interpolates and what it finds outside.
type gridMode struct {
	interpolation, padding string
	align                  bool
}

func gridModeOf(a *Attrs) gridMode {
	interpolation, padding, _ := strings.Cut(a.Mode, " ")
	return gridMode{interpolation, padding, a.Keep}
}

// axisTaps are up to four elements of a dimension.
type axisTaps struct {
	n      int
	index  [4]int
	weight [4]float64
}

// put adds element i unless it lies outside.
func (t *axisTaps) put(i, size int, w float64) {
	if i >= 0 && i < size {
		t.index[t.n], t.weight[t.n] = i, w
		t.n++
	}
}

// taps sets t to the elements that coordinate g, -1 and 1 at the ends, reads of a dimension of n, with the derivative of the given
// order of their weights to g.
func (m gridMode) taps(t *axisTaps, g float64, n, order int) {
	t.n = 0
	slope := float64(n) / 2
	at := (float64((g+1)*float64(n)) - 1) / 2
	if m.align {
		slope = float64(n-1) / 2
		at = (g + 1) / 2 * float64(n-1)
	}
	if m.interpolation == "bicubic" {
		m.cubic(t, at, n, order, cpu.Pow(slope, float64(order)))
		return
	}
	at, sign := m.pad(at, n)
	if !(math.Abs(at) < 1<<40) { // NaN, or outside of everything
		return
	}
	lo := math.Floor(at)
	switch {
	case m.interpolation == "nearest":
		if order == 0 {
			t.put(int(math.RoundToEven(at)), n, 1)
		}
	case order == 0:
		t.put(int(lo), n, 1-(at-lo))
		t.put(int(lo)+1, n, at-lo)
	case order == 1:
		t.put(int(lo), n, -slope*sign)
		t.put(int(lo)+1, n, slope*sign)
	}
}

// cubic reads four elements; it is they that are brought inside, not the coordinate.
func (m gridMode) cubic(t *axisTaps, at float64, n, order int, slope float64) {
	if !(math.Abs(at) < 1<<40) {
		return
	}
	lo := math.Floor(at)
	x := at - lo
	const a = -0.75
	back := slope // the last two weights are functions of 1-x and 2-x
	if order%2 == 1 {
		back = -slope
	}
	for k, w := range [4]float64{slope * cubicFarSlope(1+x, a, order), slope * cubicNearSlope(x, a, order), back * cubicNearSlope(1-x, a, order), back * cubicFarSlope(2-x, a, order)} {
		i := int(lo) - 1 + k
		if m.padding != "zeros" {
			inside, _ := m.pad(float64(i), n)
			i = int(inside)
		}
		t.put(i, n, w)
	}
}

// cubicNearSlope and cubicFarSlope are derivatives of cubicNear and cubicFar.
func cubicNearSlope(x, a float64, order int) float64 {
	switch order {
	case 0:
		return cubicNear(x, a)
	case 1:
		return (float64(3*(a+2)*x) - float64(2*(a+3))) * x
	case 2:
		return float64(6*(a+2)*x) - float64(2*(a+3))
	case 3:
		return 6 * (a + 2)
	}
	return 0
}

func cubicFarSlope(x, a float64, order int) float64 {
	switch order {
	case 0:
		return cubicFar(x, a)
	case 1:
		return float64((float64(3*a*x)-float64(10*a))*x) + float64(8*a)
	case 2:
		return float64(6*a*x) - float64(10*a)
	case 3:
		return 6 * a
	}
	return 0
}

// pad brings a coordinate inside, and says how it moves with the one it was given: 1, -1 where it is reflected, 0 where it is held.
func (m gridMode) pad(at float64, n int) (inside, sign float64) {
	sign = 1
	switch m.padding {
	case "zeros":
		return at, 1
	case "reflection":
		low, span := -0.5, float64(n)
		if m.align {
			low, span = 0, float64(n-1)
		}
		at, sign = reflected(at, low, span)
	}
	switch last := float64(n - 1); {
	case !(at > 0): // NaN too
		return 0, 0
	case at >= last:
		return last, 0
	}
	return at, sign
}

// reflected mirrors a coordinate at low and low+span until it lies between them.
func reflected(at, low, span float64) (inside, sign float64) {
	if span == 0 {
		return 0, 0
	}
	at -= low
	sign = 1
	if at < 0 {
		at, sign = -at, -1
	}
	rest, turns := math.Mod(at, span), math.Floor(at/span)
	if math.Mod(turns, 2) == 0 {
		return rest + low, sign
	}
	return span - rest + low, -sign
}
