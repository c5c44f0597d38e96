package optim

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// An lbfgsRun is one Step of an LBFGS: torch.optim.LBFGS.step, in its order, since where it ends decides what the next step knows.
type lbfgsRun struct {
	*LBFGS
	closure func(s *amp.Scope) *amp.Tensor
	eval    *amp.Scope // as the caller has it, with gradients: what closures run in
	s       *amp.Scope // without autocast and gradients: for the vectors
	calls   int        // of the closure in this step
}

// sign turns a loss that is maximized into one that is minimized, and back.
func (w *lbfgsRun) sign(loss float64) float64 {
	if w.set.maximize {
		return -loss
	}
	return loss
}

// evaluate runs the closure, writes the gradient to into and returns the loss, both as what is minimized has them.
func (w *lbfgsRun) evaluate(into *amp.Tensor) float64 {
	s := w.eval.Child()
	defer s.Close()
	loss := w.closure(s)
	if loss == nil {
		misused("LBFGS.Step", "return the loss, after its Backward", "the closure returned nil")
	}
	value := w.sign(loss.Item())
	w.calls++
	w.evaluations++
	some := false
	w.each(into, func(s *amp.Scope, p, part *amp.Tensor) {
		if g := p.Grad(); g != nil && p.RequiresGrad() {
			some = true
			if w.set.maximize {
				g = amp.Neg(s, g)
			}
			amp.Assign(part, g)
		} else {
			amp.Assign(part, amp.ZerosLike(s, part))
		}
	})
	if !some {
		panic(&amp.Error{Op: "LBFGS.Step", Kind: amp.ErrGrad, Detail: "the closure left no gradient", Fix: "call loss.Backward() in it, after ZeroGrad"})
	}
	return value
}

// each calls f with every parameter and its part of a vector.
func (w *lbfgsRun) each(v *amp.Tensor, f func(s *amp.Scope, p, part *amp.Tensor)) {
	s := w.s.Child()
	defer s.Close()
	at := 0
	for _, p := range w.params {
		f(s, p, amp.Reshape(s, amp.Narrow(s, v, 0, at, p.Len()), p.Shape()...))
		at += p.Len()
	}
}

// move adds t·d to the parameters.
func (w *lbfgsRun) move(t float64, d *amp.Tensor) {
	w.each(d, func(s *amp.Scope, p, part *amp.Tensor) { amp.AddInPlace(s, p, amp.MulScalar(s, part, t)) })
}

// number reads what f makes, in a scope that is freed at once.
func (w *lbfgsRun) number(f func(s *amp.Scope) *amp.Tensor) float64 {
	s := w.s.Child()
	defer s.Close()
	return f(s).Item()
}

func (w *lbfgsRun) dot(a, b *amp.Tensor) float64 {
	return w.number(func(s *amp.Scope) *amp.Tensor { return amp.Dot(s, a, b) })
}

func (w *lbfgsRun) largest(v *amp.Tensor) float64 {
	return w.number(func(s *amp.Scope) *amp.Tensor { return amp.Amax(s, amp.Abs(s, v)) })
}

// scale makes dst k·x.
func (w *lbfgsRun) scale(dst, x *amp.Tensor, k float64) {
	s := w.s.Child()
	defer s.Close()
	amp.Assign(dst, amp.MulScalar(s, x, k))
}

// add adds k·x to dst.
func (w *lbfgsRun) add(dst, x *amp.Tensor, k float64) {
	s := w.s.Child()
	defer s.Close()
	amp.AddInPlace(s, dst, amp.MulScalar(s, x, k))
}

// iterate takes the iterations of one step from the loss and gradient at the present point.
func (w *lbfgsRun) iterate(loss float64) {
	o, set := w.LBFGS, w.LBFGS.set
	for n := 1; ; n++ {
		if o.direction == nil {
			o.direction, o.before, o.diagonal = o.vector(), o.vector(), 1
		}
		if o.iterations++; o.iterations == 1 {
			w.scale(o.direction, o.grad, -1)
		} else {
			w.remember()
			w.direct()
		}
		amp.Assign(o.before, o.grad)
		last := loss
		o.t = set.lr
		if o.iterations == 1 {
			o.t *= min(1, 1/w.number(func(s *amp.Scope) *amp.Tensor { return amp.Sum(s, amp.Abs(s, o.grad)) }))
		}
		slope := w.dot(o.grad, o.direction)
		if slope > -set.changeTolerance {
			return
		}
		flat := false
		if set.wolfe {
			loss = w.search(loss, slope)
			w.move(o.t, o.direction)
			flat = w.largest(o.grad) <= set.gradTolerance
		} else {
			w.move(o.t, o.direction)
			if n == set.maxIter { // nobody needs the loss there
				return
			}
			loss = w.evaluate(o.grad)
			flat = w.largest(o.grad) <= set.gradTolerance
		}
		if n == set.maxIter || w.calls >= set.maxEval || flat ||
			w.largest(o.direction)*math.Abs(o.t) <= set.changeTolerance || math.Abs(loss-last) < set.changeTolerance {
			return
		}
	}
}

// remember adds the last step to the history, if the gradient has changed along it as that of a valley does.
func (w *lbfgsRun) remember() {
	o := w.LBFGS
	s := w.s.Child()
	defer s.Close()
	y, step := amp.Sub(s, o.grad, o.before), amp.MulScalar(s, o.direction, o.t)
	w.rest(y)
	ys := w.dot(y, step)
	if !(ys > 1e-10) {
		return
	}
	var oldY, oldStep *amp.Tensor
	if len(o.dirs) == o.set.history {
		oldY, oldStep = o.dirs[0], o.steps[0]
		o.dirs, o.steps, o.rho = append(o.dirs[:0], o.dirs[1:]...), append(o.steps[:0], o.steps[1:]...), append(o.rho[:0], o.rho[1:]...)
	} else {
		oldY, oldStep = o.vector(), o.vector()
	}
	amp.Assign(oldY, y)
	amp.Assign(oldStep, step)
	o.dirs, o.steps, o.rho = append(o.dirs, oldY), append(o.steps, oldStep), append(o.rho, 1/ys)
	o.diagonal = ys / w.dot(y, y)
}

// direct multiplies the negative gradient by the approximate inverse Hessian: the two loops of Nocedal and Wright.
func (w *lbfgsRun) direct() {
	o := w.LBFGS
	q, shares := o.direction, make([]float64, len(o.dirs))
	w.scale(q, o.grad, -1)
	for i := len(o.dirs) - 1; i >= 0; i-- {
		shares[i] = w.dot(o.steps[i], q) * o.rho[i]
		w.add(q, o.dirs[i], -shares[i])
	}
	w.scale(q, q, o.diagonal)
	for i, y := range o.dirs {
		w.add(q, o.steps[i], shares[i]-float64(w.dot(y, q)*o.rho[i]))
	}
	w.rest(q)
}

// rest zeroes the parts of parameters that are frozen: the history may be of steps in which they trained.
func (w *lbfgsRun) rest(v *amp.Tensor) {
	if !slices.ContainsFunc(w.params, func(p *amp.Tensor) bool { return !p.RequiresGrad() }) {
		return
	}
	w.each(v, func(s *amp.Scope, p, part *amp.Tensor) {
		if !p.RequiresGrad() {
			amp.Assign(part, amp.ZerosLike(s, part))
		}
	})
}
