package amp

import "math"

// UpdateAdafactor takes one Adafactor step on parameter p from its Grad (Shazeer and Stern, 2018). rows [… rows 1] and cols [… 1 cols] are the
// averages of squares of a parameter of two dimensions or more, of which they take the place of squares; those of a vector are squares. What is
// not kept is nil. It is made of other ops, recorded in the scope in which Backward computed the gradient; halves are worked out in float32.
// With g = grad, w = t^Beta2Decay at step t, and RMS(x) = ‖x‖/√n:
//
//	rows = lerp(rows, mean of g² over columns, w); cols the same over rows; v = rows·cols / max(mean of rows, Eps)
//	squares = v = lerp(squares, g², w) for a vector
//	u = g / √max(v, Eps²)
//	p = p·(1 - LR·WeightDecay) - max(Eps2, RMS(p))·min(LR, 1/√t) · u/max(1, RMS(u)/ClipThreshold)
//
// Eps of 0 stands for the machine epsilon of p's dtype. Formulas are those of torch.optim.Adafactor. It panics with ErrGrad without a gradient
// and with ErrArgument for InvScale, which Adafactor does not take.
func UpdateAdafactor(p, rows, cols, squares *Tensor, u Update) {
	const op = "adafactor"
	grad := gradientOf(op, p)
	if u.InvScale != nil {
		fail(op, ErrArgument, "divide the gradients before the step", "InvScale is not for it")
	}
	if p.Len() == 0 {
		return
	}
	s := stepScope(p)
	defer s.Close()
	f := &factored{s: s, u: &u, dt: p.dt, eps: u.Eps}
	if p.dt.IsHalf() {
		f.dt = Float32
	}
	if f.eps == 0 {
		f.eps = machineEpsilon(p.dt)
	}
	if u.FoundInf != nil {
		f.found = To(s, u.FoundInf, Bool)
	}
	x, g := To(s, p, f.dt), To(s, grad, f.dt)
	if u.Maximize {
		g = Neg(s, g)
	}
	d := Mul(s, f.direction(g, rows, cols, squares), f.length(x))
	if u.WeightDecay != 0 {
		d = Add(s, d, Mul(s, x, MulScalar(s, f.rate(), u.WeightDecay)))
	}
	s.apply(opSGD, Attrs{Update: &Update{LR: 1}}, p, To(s, d, p.dt), nil, nil, u.FoundInf, nil, nil)
}

// factored is what one step of Adafactor has at hand: numbers that the device alone may know are 0-dimensional tensors of dt.
type factored struct {
	s     *Scope
	u     *Update
	dt    DType
	eps   float64
	found *Tensor // of bool, nil where nothing can have been found
}

// step is t, from 1.
func (f *factored) step() *Tensor {
	if f.u.Steps == nil {
		return Full(f.s, f.dt, float64(f.u.Step))
	}
	return AddScalar(f.s, To(f.s, f.u.Steps, f.dt), float64(f.u.Step))
}

func (f *factored) rate() *Tensor {
	if f.u.Rate == nil {
		return Full(f.s, f.dt, f.u.LR)
	}
	return To(f.s, f.u.Rate, f.dt)
}

// average moves a state towards a value by weight w, and returns what it was moved to. Where infinities were found it stays.
func (f *factored) average(state, value, w *Tensor) *Tensor {
	old := To(f.s, state, f.dt)
	moved := Lerp(f.s, old, value, w)
	kept := moved
	if f.found != nil {
		kept = Where(f.s, f.found, old, moved)
	}
	CopyInPlace(f.s, state, kept)
	return moved
}

// direction is the gradient by the root of its average square, no longer than ClipThreshold.
func (f *factored) direction(g, rows, cols, squares *Tensor) *Tensor {
	s, w, g2 := f.s, PowScalar(f.s, f.step(), f.u.Beta2Decay), Square(f.s, g)
	var v *Tensor
	if rows == nil {
		v = f.average(squares, g2, w)
	} else {
		r, c := f.average(rows, MeanKeep(s, g2, -1), w), f.average(cols, MeanKeep(s, g2, -2), w)
		v = Div(s, Mul(s, r, c), ClampMin(s, MeanKeep(s, r, -2), f.eps))
	}
	d := Mul(s, g, Rsqrt(s, ClampMin(s, v, f.eps*f.eps)))
	return Div(s, d, ClampMin(s, MulScalar(s, f.rms(d), 1/f.u.ClipThreshold), 1))
}

// length is the length of the step: relative to the parameter's own.
func (f *factored) length(x *Tensor) *Tensor {
	return Mul(f.s, ClampMin(f.s, f.rms(x), f.u.Eps2), Minimum(f.s, f.rate(), Rsqrt(f.s, f.step())))
}

func (f *factored) rms(x *Tensor) *Tensor {
	return MulScalar(f.s, Norm(f.s, x), 1/math.Sqrt(float64(x.Len())))
}

// machineEpsilon is the gap between 1 and the next number of a dtype.
func machineEpsilon(dt DType) float64 {
	if f, ok := FormatOf(dt); ok {
		return f.Epsilon()
	}
	return 0x1p-52 // of float64
}
