package amp

// Comparisons of a tensor with a number, whose dtype follows the tensor's as PyTorch's does: a float tensor rounds the number to its own
// dtype, so that a float16 0.1 equals 0.1; with integers and booleans a whole number is int64, another one float32.

// EqScalar returns x = c elementwise, as bool; c is rounded to the dtype of a float x. (PyTorch: x == c.)
func EqScalar(s *Scope, x *Tensor, c float64) *Tensor { return compareNumber(s, "EqScalar", Eq, x, c) }

// NeScalar returns x ≠ c elementwise, as bool; see EqScalar.
func NeScalar(s *Scope, x *Tensor, c float64) *Tensor { return compareNumber(s, "NeScalar", Ne, x, c) }

// LtScalar returns x < c elementwise, as bool; see EqScalar.
func LtScalar(s *Scope, x *Tensor, c float64) *Tensor { return compareNumber(s, "LtScalar", Lt, x, c) }

// LeScalar returns x ≤ c elementwise, as bool; see EqScalar.
func LeScalar(s *Scope, x *Tensor, c float64) *Tensor { return compareNumber(s, "LeScalar", Le, x, c) }

// GtScalar returns x > c elementwise, as bool; see EqScalar.
func GtScalar(s *Scope, x *Tensor, c float64) *Tensor { return compareNumber(s, "GtScalar", Gt, x, c) }

// GeScalar returns x ≥ c elementwise, as bool; see EqScalar.
func GeScalar(s *Scope, x *Tensor, c float64) *Tensor { return compareNumber(s, "GeScalar", Ge, x, c) }

func compareNumber(s *Scope, op string, with func(s *Scope, a, b *Tensor) *Tensor, x *Tensor, c float64) *Tensor {
	s.alive(op)
	x.live(op)
	return with(s, x, s.comparedWith(x, c))
}

// comparedWith is the number as a tensor to compare x with.
func (s *Scope) comparedWith(x *Tensor, c float64) *Tensor {
	switch {
	case !x.isWhole():
		return constant(s, x.dt, c)
	case whole(c):
		return s.integer(c)
	}
	return constant(s, Float32, c)
}
