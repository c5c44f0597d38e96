package amp

import "math"

// Rows with a bool result of one or two inputs: tests of numbers and logic. Anything but 0 counts as true.

var opIsNaN, opIsInf, opIsFinite, opLogicalNot, opLogicalAnd, opLogicalOr, opLogicalXor *Op

func init() {
	opIsNaN = predicate("isnan", "whether x is NaN, as bool", func(x float64) bool { return x != x })
	opIsInf = predicate("isinf", "whether x is infinite, as bool", func(x float64) bool { return math.IsInf(x, 0) })
	opIsFinite = predicate("isfinite", "whether x is neither infinite nor NaN, as bool", finite)
	opLogicalNot = predicate("logical_not", "whether x is 0, as bool", func(x float64) bool { return x == 0 })
	opLogicalAnd = logical("logical_and", "whether a and b are both other than 0", func(a, b bool) bool { return a && b })
	opLogicalOr = logical("logical_or", "whether a, b or both are other than 0", func(a, b bool) bool { return a || b })
	opLogicalXor = logical("logical_xor", "whether one of a and b is 0 and the other is not", func(a, b bool) bool { return a != b })
}

const whyTest = "a question with an answer in any dtype"

// toBool is the result rule of tests.
func toBool(*Call) DType { return Bool }

// predicate defines a test of one number.
func predicate(name, doc string, holds func(x float64) bool) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: whyTest, Ints: true, CUDA: name,
		Check: func(c *Call) []int { return c.In[0].shape }, Result: toBool,
		CPU: func(c *Call) {
			unaryOn(c.Out, c.In[0], func(dst, x []float64) {
				for i, v := range x {
					dst[i] = 0
					if holds(v) {
						dst[i] = 1
					}
				}
			})
		},
	})
}

// logical defines a function of two truths; inputs need not have one dtype.
func logical(name, doc string, holds func(a, b bool) bool) *Op {
	return define(Op{
		Name: name, Doc: doc + ", broadcast, as bool", Args: []string{"a", "b"}, Why: whyTest, Ints: true, CUDA: name,
		Check: broadcast, Result: toBool,
		CPU: func(c *Call) {
			binaryOn(c.Out, c.In[0], c.In[1], func(dst, x, y []float64) {
				for i, v := range x {
					dst[i] = 0
					if holds(v != 0, y[i] != 0) {
						dst[i] = 1
					}
				}
			})
		},
	})
}

// IsNaN returns whether each element is NaN, as bool.
func IsNaN(s *Scope, x *Tensor) *Tensor { return s.apply(opIsNaN, Attrs{}, x) }

// IsInf returns whether each element is infinite, as bool.
func IsInf(s *Scope, x *Tensor) *Tensor { return s.apply(opIsInf, Attrs{}, x) }

// IsFinite returns whether each element is neither infinite nor NaN, as bool.
func IsFinite(s *Scope, x *Tensor) *Tensor { return s.apply(opIsFinite, Attrs{}, x) }

// LogicalNot returns whether each element is 0, as bool.
func LogicalNot(s *Scope, x *Tensor) *Tensor { return s.apply(opLogicalNot, Attrs{}, x) }

// LogicalAnd returns whether a and b are both other than 0, broadcast, as bool. Their dtypes may differ.
func LogicalAnd(s *Scope, a, b *Tensor) *Tensor { return s.apply(opLogicalAnd, Attrs{}, a, b) }

// LogicalOr returns whether a, b or both are other than 0, broadcast, as bool. Their dtypes may differ.
func LogicalOr(s *Scope, a, b *Tensor) *Tensor { return s.apply(opLogicalOr, Attrs{}, a, b) }

// LogicalXor returns whether one of a and b is 0 and the other is not, broadcast, as bool. Their dtypes may differ.
func LogicalXor(s *Scope, a, b *Tensor) *Tensor { return s.apply(opLogicalXor, Attrs{}, a, b) }
