package amp

// Ordinary type promotion, as in PyTorch: a dimensioned tensor outranks a 0-dimensional one of the same kind, floats outrank
// integers, and the two half types together give float32.

// kindOf orders bool < integer < float.
func kindOf(d DType) int {
	switch {
	case d.IsFloat():
		return 2
	case d == Int64:
		return 1
	}
	return 0
}

// promoteTypes returns the dtype of a sum of one value of each.
func promoteTypes(a, b DType) DType {
	switch {
	case a == b || b == NoDType:
		return a
	case a == NoDType || kindOf(b) > kindOf(a):
		return b
	case kindOf(a) > kindOf(b):
		return a
	case a.IsHalf() && b.IsHalf():
		return Float32
	case a.Size() > b.Size():
		return a
	}
	return b
}

// common returns the dtype that the op's inputs are brought to.
func (o *Op) common(in []*Tensor) DType {
	var dimensioned, scalars DType
	for _, t := range in {
		switch {
		case t == nil:
		case len(t.shape) > 0:
			dimensioned = promoteTypes(dimensioned, t.dt)
		default:
			scalars = promoteTypes(scalars, t.dt)
		}
	}
	if dimensioned == NoDType || kindOf(scalars) > kindOf(dimensioned) {
		return promoteTypes(dimensioned, scalars)
	}
	return dimensioned
}
