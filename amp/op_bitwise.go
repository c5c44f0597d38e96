package amp

import "slices"

// Operators of the bits of integers are one row, by its mode. Of booleans they are those of logic.

var opBitwise *Op

// The modes of bitwise.
const (
	bitwiseAnd   = "and"
	bitwiseOr    = "or"
	bitwiseXor   = "xor"
	bitwiseLeft  = "left_shift"
	bitwiseRight = "right_shift"
)

// bitwiseModes number them for the loops over elements, here and on a device.
var bitwiseModes = []string{bitwiseAnd, bitwiseOr, bitwiseXor, bitwiseLeft, bitwiseRight}

func init() {
	opBitwise = define(Op{
		Name: "bitwise", Doc: "and, or, xor or a shift of the bits of int64, broadcast", Args: []string{"a", "b"}, Why: "integers pass through autocast", Ints: true, Widens: true, CUDA: "bitwise",
		Check: func(c *Call) []int {
			if c.In[0].dt != Int64 || c.In[1].dt != Int64 {
				fail("bitwise_"+c.Mode, ErrDType, "use int64, or bools but for shifts", "%s", c.shapes())
			}
			return broadcast(c)
		},
		CPU: func(c *Call) {
			binaryOn(c.Out, c.In[0], c.In[1], func(dst, x, y []int64) {
				for i, v := range x {
					dst[i] = bitwise(c.Start, v, y[i])
				}
			})
		},
	})
}

// bitwise is one element; Go shifts by 64 and more as PyTorch does, and by less than 0, as a large number without a sign, too.
func bitwise(mode int, a, b int64) int64 {
	switch mode {
	case 0:
		return a & b
	case 1:
		return a | b
	case 2:
		return a ^ b
	case 3:
		return a << uint64(b)
	}
	return a >> uint64(b)
}

// bits runs the row, or of two tensors of bools that of logic.
func (s *Scope) bits(mode string, logic func(s *Scope, a, b *Tensor) *Tensor, a, b *Tensor) *Tensor {
	opBitwise.need(a, b)
	if logic != nil && a.dt == Bool && b.dt == Bool {
		return logic(s, a, b)
	}
	return s.apply(opBitwise, Attrs{Mode: mode, Start: slices.Index(bitwiseModes, mode)}, a, b)
}

// BitwiseAnd returns a & b of int64 or bools, broadcast: int64, or bools of bools. It panics with ErrDType for floats.
func BitwiseAnd(s *Scope, a, b *Tensor) *Tensor { return s.bits(bitwiseAnd, LogicalAnd, a, b) }

// BitwiseOr returns a | b of int64 or bools, broadcast; see BitwiseAnd.
func BitwiseOr(s *Scope, a, b *Tensor) *Tensor { return s.bits(bitwiseOr, LogicalOr, a, b) }

// BitwiseXor returns a ^ b of int64 or bools, broadcast; see BitwiseAnd.
func BitwiseXor(s *Scope, a, b *Tensor) *Tensor { return s.bits(bitwiseXor, LogicalXor, a, b) }

// BitwiseNot returns ^x of int64, -x-1, or not x of bools. It panics with ErrDType for floats.
func BitwiseNot(s *Scope, x *Tensor) *Tensor {
	opBitwise.need(x)
	if x.dt == Bool {
		return LogicalNot(s, x)
	}
	return s.bits(bitwiseXor, nil, x, constant(s, Int64, -1))
}

// BitwiseLeftShift returns a << b of int64, broadcast: 0 for 64 bits and more, or less than 0. It panics with ErrDType for other dtypes.
func BitwiseLeftShift(s *Scope, a, b *Tensor) *Tensor { return s.bits(bitwiseLeft, nil, a, b) }

// BitwiseRightShift returns a >> b of int64, broadcast, with the sign of a moved in: the sign alone, 0 or -1, for 64 bits and more, or less
// than 0. It panics with ErrDType for other dtypes.
func BitwiseRightShift(s *Scope, a, b *Tensor) *Tensor { return s.bits(bitwiseRight, nil, a, b) }
