package amp

import (
	"math"
	"slices"
)

// A roundingEvent is a RoundingEvent with what it is worked out of.
type roundingEvent struct {
	RoundingEvent
	pc       uintptr
	own      []float32                            // result - unrounded; 0 where one of them is not finite
	operands []*Tensor                            // as the caller gave them
	run      func(s *Scope, in []*Tensor) *Tensor // runs it again; nil for a conversion
	recipes  []shortRecipe                        // whose numbers its first two operands could be, as a product's
}

// fail notes that nothing can be compared.
func (e *roundingEvent) fail(out *Tensor, err error) {
	e.DType, e.Shape, e.N, e.Err = out.dt, slices.Clone(out.shape), out.Len(), err.Error()
}

// compare holds a result against the unrounded and the exact one, both in row-major order.
func (e *roundingEvent) compare(out *Tensor, unrounded, exact []float64) {
	e.DType, e.Shape, e.N = out.dt, slices.Clone(out.shape), out.Len()
	e.own = make([]float32, e.N)
	var size, own, total float64
	n := 0 // finite in all three
	for i, y := range out.wide64() {
		u, x := unrounded[i], exact[i]
		switch {
		case !finite(y) && finite(u):
			e.Bad++
			continue
		case !finite(y) || !finite(u) || !finite(x):
			continue
		}
		e.own[i] = float32(y - u)
		n++
		size += float64(x * x)
		own += float64((y - u) * (y - u))
		total += float64((y - x) * (y - x))
	}
	if n > 0 {
		e.Size, e.Own, e.Total = plain(math.Sqrt(size/float64(n))), plain(math.Sqrt(own/float64(n))), plain(math.Sqrt(total/float64(n)))
	}
}

// weigh adds up what the own errors do to the loss, whose derivatives g are.
func (e *roundingEvent) weigh(g []float64) {
	squares := 0.0
	for i, d := range e.own {
		if p := float64(g[i] * float64(d)); finite(p) {
			e.Share += p
			squares += float64(p * p)
		}
	}
	e.Share, e.Spread = plain(e.Share), plain(math.Sqrt(squares))
}

// plain returns the largest number for a sum that is beyond: JSON has no infinities.
func plain(v float64) float64 { return max(-math.MaxFloat64, min(v, math.MaxFloat64)) }

// what works out what the op would do in another dtype, and a product that reads shorter numbers in it, all else as it is: g are the derivatives of
// the loss by its result, grads by its operands.
func (e *roundingEvent) what(s *Scope, dt DType, g []float64, grads []*Tensor) {
	if slices.ContainsFunc(e.operands, changed) {
		return
	}
	x := RoundingIf{DType: dt}
	var operands, result roundingSum
	w := s.Child().NoGrad()
	defer w.arena.drop()
	exact := exactly(w, e.operands)
	in := slices.Clone(exact)
	for k, t := range in {
		if t == nil || t.dt != Float64 {
			continue
		}
		in[k] = short(w, t, dt)
		operands.by(grads, k, t, in[k])
	}
	if err := attempt("TraceRounding", func() {
		y := e.run(w, in)
		from, to := y.wide64(), short(w, y, dt).wide64()
		for i, v := range from {
			if v != 0 && to[i] == 0 {
				x.Lost++
			}
		}
		result.add(g, from, to)
	}); err != nil {
		return
	}
	x.Over = operands.over + result.over
	x.Spread = plain(math.Sqrt(operands.squares + result.squares))
	e.If = append(e.If, x)
	if len(e.recipes) > 0 && dt == e.lower() {
		e.read(w, dt, exact, result, grads)
	}
}

// A roundingSum adds up what the rounding of numbers does to the loss.
type roundingSum struct {
	squares float64
	over    int // that became infinite
}

// add adds numbers whose derivatives are g.
func (r *roundingSum) add(g, from, to []float64) {
	for i, v := range from {
		switch {
		case !finite(v):
		case !finite(to[i]):
			r.over++
		default:
			if p := float64(g[i] * (to[i] - v)); finite(p) {
				r.squares += float64(p * p)
			}
		}
	}
}

// by adds operand k, where the loss depends on it.
func (r *roundingSum) by(grads []*Tensor, k int, from, to *Tensor) {
	if k < len(grads) && grads[k] != nil {
		r.add(grads[k].wide64(), from.wide64(), to.wide64())
	}
}

// short returns t rounded to dt, in float64.
func short(s *Scope, t *Tensor, dt DType) *Tensor { return To(s, To(s, t, dt), Float64) }

// changed says of a tensor that is held whether the program has changed it in place since.
func changed(t *Tensor) bool { return t != nil && t.st.version.Load() != t.copiedAt }
