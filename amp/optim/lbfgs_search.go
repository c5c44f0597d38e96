package optim

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// A linePoint is a point of a line search: the step's length, the loss and its slope along the direction there, and the gradient.
type linePoint struct {
	t, f, slope float64
	grad        *amp.Tensor
}

// The constants of the Wolfe conditions: how much the loss must fall, and how flat the slope must become.
const wolfeFall, wolfeFlat = 1e-4, 0.9

// A lineSearch looks for a point that meets the strong Wolfe conditions, as torch's _strong_wolfe does, which is Lua Torch's lswolfe.
type lineSearch struct {
	*lbfgsRun
	memory *amp.Scope    // of the gradients
	grads  []*amp.Tensor // made so far: of the ends of a bracket, and of the point that is tried
	from   linePoint
}

// search sets the step's length and the gradient to those of the point that it finds, and returns the loss there.
func (w *lbfgsRun) search(loss, slope float64) float64 {
	o := w.LBFGS
	if o.start == nil {
		o.start = o.vector()
	}
	w.each(o.start, func(s *amp.Scope, p, part *amp.Tensor) { amp.Assign(part, p) })
	l := &lineSearch{lbfgsRun: w, memory: w.s.Child()}
	defer l.memory.Close()
	l.from = linePoint{0, loss, slope, amp.Clone(l.memory, o.grad)}
	found := l.find(o.t, o.set.maxEval-w.calls)
	o.t = found.t
	amp.Assign(o.grad, found.grad)
	return found.f
}

// at evaluates a point and goes back, also from a closure that panics. The gradients of points that are not held any more are written over.
func (l *lineSearch) at(t float64, held ...linePoint) linePoint {
	defer l.each(l.start, func(s *amp.Scope, p, part *amp.Tensor) { amp.Assign(p, part) })
	l.move(t, l.direction)
	p := linePoint{t: t, grad: l.spare(held)}
	p.f = l.evaluate(p.grad)
	p.slope = l.dot(p.grad, l.direction)
	return p
}

// spare returns a vector for a gradient that is none of a point that is held.
func (l *lineSearch) spare(held []linePoint) *amp.Tensor {
	for _, g := range l.grads {
		if !slices.ContainsFunc(held, func(p linePoint) bool { return p.grad == g }) {
			return g
		}
	}
	l.grads = append(l.grads, amp.Zeros(l.memory, l.params[0].DType(), l.size))
	return l.grads[len(l.grads)-1]
}

func (l *lineSearch) high(p linePoint) bool {
	return p.f > l.from.f+float64(wolfeFall*p.t*l.from.slope)
}
func (l *lineSearch) flat(p linePoint) bool { return math.Abs(p.slope) <= -wolfeFlat*l.from.slope }

// find looks for two points with a good one between them, and then for that, with so many evaluations after the first.
func (l *lineSearch) find(t float64, left int) linePoint {
	last, p := l.from, l.at(t)
	for n := 0; n < left; n++ {
		switch {
		case l.high(p) || n > 1 && p.f >= last.f:
			return l.zoom(last, p, left-n)
		case l.flat(p):
			return p
		case p.slope >= 0:
			return l.zoom(last, p, left-n)
		}
		t := cubic(last, p, p.t+float64(0.01*(p.t-last.t)), p.t*10)
		last, p = p, l.at(t, p)
	}
	if l.from.f <= p.f {
		return l.from
	}
	return p
}

// zoom makes the bracket of two points smaller, for so many evaluations more.
func (l *lineSearch) zoom(a, b linePoint, left int) linePoint {
	width := l.largest(l.direction)
	low, high := &a, &b
	if a.f > b.f {
		low, high = &b, &a
	}
	stuck := false
	for ; left > 0 && !(math.Abs(b.t-a.t)*width < l.set.changeTolerance); left-- {
		least, most := min(a.t, b.t), max(a.t, b.t)
		t := cubic(a, b, least, most)
		edge := float64(0.1 * (most - least))
		if min(most-t, t-least) < edge { // near an end twice, or at it: away from it
			if stuck || t >= most || t <= least {
				if math.Abs(t-most) < math.Abs(t-least) {
					t = most - edge
				} else {
					t = least + edge
				}
				stuck = false
			} else {
				stuck = true
			}
		} else {
			stuck = false
		}
		p := l.at(t, a, b)
		if l.high(p) || p.f >= low.f {
			*high = p
			if low, high = &a, &b; a.f > b.f {
				low, high = &b, &a
			}
			continue
		}
		if l.flat(p) {
			return p
		}
		if p.slope*(high.t-low.t) >= 0 {
			*high = *low
		}
		*low = p
	}
	return *low
}

// cubic returns the lowest point, held between lo and hi, of the cubic through two points with their slopes; the middle where it has none
// (Nocedal and Wright, equation 3.59).
func cubic(a, b linePoint, lo, hi float64) float64 {
	d1 := a.slope + b.slope - 3*(a.f-b.f)/(a.t-b.t)
	square := float64(d1*d1) - float64(a.slope*b.slope)
	if !(square >= 0) {
		return (lo + hi) / 2
	}
	d2, at := math.Sqrt(square), 0.0
	if a.t <= b.t {
		at = b.t - float64((b.t-a.t)*((b.slope+d2-d1)/(b.slope-a.slope+2*d2)))
	} else {
		at = a.t - float64((a.t-b.t)*((a.slope+d2-d1)/(a.slope-b.slope+2*d2)))
	}
	return min(max(at, lo), hi)
}
